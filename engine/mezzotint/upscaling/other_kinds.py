"""Upscalers of the kinds that spandrel knows, about forty: ESRGAN, SwinIR, DAT, HAT, ..."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch

from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import ModelRefused
from mezzotint.memory.shortage import is_shortage
from mezzotint.upscaling.upscaler import Upscaler

if TYPE_CHECKING:
    from torch import Tensor

_PURPOSES = ("SR", "Restoration")


def other_kind(path: Path, tensors: "Mapping[str, Tensor]") -> Upscaler:
    """The upscaler with these weights; raises ModelRefused if its kind is unknown, or spandrel is not installed."""
    spandrel = _spandrel(path)
    try:
        found = spandrel.ModelLoader("cpu").load_from_state_dict(dict(tensors))
    except spandrel.UnsupportedModelError:
        first = plain(next(iter(tensors), ""), 80)
        raise ModelRefused(
            f"{plain(path, 300)}: not an upscaler of a known kind (its first tensor is '{first}')"
        ) from None
    except Exception as error:  # whatever a damaged file, or one of a kind that it only resembles, leads to
        if is_shortage(error):
            raise
        why = plain(error, 200) or type(error).__name__
        raise ModelRefused(f"{plain(path, 300)}: the upscaler is damaged, or of an unknown kind: {why}") from None
    return _upscaler(path, found)


def _upscaler(path: Path, found: Any) -> Upscaler:  # noqa: ANN401  one of spandrel's descriptors
    if getattr(found, "purpose", "") not in _PURPOSES or (found.input_channels, found.output_channels) != (3, 3):
        raise ModelRefused(
            f"{plain(path, 300)}: {found.architecture.name} for {plain(found.purpose)}, which is no upscaler of colour "
            "images"
        )
    needs = found.size_requirements
    halves = ((found.supports_bfloat16, torch.bfloat16), (found.supports_half, torch.float16))
    return Upscaler(
        network=found.model,
        scale=found.scale,
        architecture=found.architecture.name,
        multiple=max(1, needs.multiple_of),
        smallest=max(1, needs.minimum),
        dtypes=(torch.float32, *(dtype for can, dtype in halves if can)),
    )


def _spandrel(path: Path) -> Any:  # noqa: ANN401  a module without types
    try:
        with _without_torchvision():
            import spandrel  # type: ignore[import-untyped]
    except ImportError as error:
        raise ModelRefused(
            f"{plain(path, 300)}: upscalers of this kind need the package spandrel ({plain(error, 100)}): "
            'pip install "mezzotint[upscale]"'
        ) from None
    return spandrel


@contextmanager
def _without_torchvision() -> Iterator[None]:
    """Context manager: two of spandrel's kinds import torchvision; where it is missing, names stand in for it."""
    try:
        import torchvision  # type: ignore[import-not-found]  # noqa: F401
    except (ImportError, RuntimeError):  # not there, or built for another torch
        names = ("torchvision", "torchvision.transforms", "torchvision.transforms.functional")
        stands = {name: ModuleType(name) for name in names if name not in sys.modules}
        for function in ("InterpolationMode", "rotate", "normalize"):
            setattr(stands[names[-1]], function, None)
        sys.modules.update(stands)
        try:
            yield
        finally:
            for name in stands:
                del sys.modules[name]
    else:
        yield
