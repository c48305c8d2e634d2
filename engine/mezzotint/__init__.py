"""Mezzotint: generate images from text on your own machine. The names in `__all__` are the Python API."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mezzotint.engine import Engine
    from mezzotint.errors import MezzotintError
    from mezzotint.protocol import (
        Cascade,
        ControlRef,
        GenerateManyRequest,
        GenerateRequest,
        GenerateResult,
        ImageInput,
        LoraRef,
        ModelRef,
        Output,
        Sampling,
        Stage,
        Transition,
    )

__version__ = "0.1.0"
__all__ = [
    "Cascade",
    "ControlRef",
    "Engine",
    "GenerateManyRequest",
    "GenerateRequest",
    "GenerateResult",
    "ImageInput",
    "LoraRef",
    "MezzotintError",
    "ModelRef",
    "Output",
    "Sampling",
    "Stage",
    "Transition",
]
_ELSEWHERE = {"Engine": "mezzotint.engine", "MezzotintError": "mezzotint.errors"}


def __getattr__(name: str) -> Any:  # noqa: ANN401  a class of the API
    """Import on first access, so that commands start fast."""
    if name not in __all__:
        raise AttributeError(f"module 'mezzotint' has no attribute {name!r}")
    return getattr(import_module(_ELSEWHERE.get(name, "mezzotint.protocol")), name)
