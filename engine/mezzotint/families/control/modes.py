"""What union ControlNets tell apart (xinsir's Union and Union ProMax, Hugging Face model cards), by number."""

from collections.abc import Mapping
from types import MappingProxyType

from mezzotint.errors import UsageError
from mezzotint.protocol import ControlRef

UNION_MODES: Mapping[str, int] = MappingProxyType(
    {
        "openpose": 0,
        "depth": 1,
        "hed": 2,
        "pidi": 2,
        "scribble": 2,
        "ted": 2,
        "canny": 3,
        "lineart": 3,
        "anime_lineart": 3,
        "mlsd": 3,
        "normal": 4,
        "segment": 5,
        "tile": 6,
        "inpaint": 7,
        "repaint": 7,
    }
)


def mode_of(control: ControlRef, known: int) -> int:
    """Number of what the image shows, for a network that knows so many; raises UsageError if it is not said."""
    shows = control.type or (control.preprocess if control.preprocess in UNION_MODES else None)
    names = ", ".join(name for name, mode in UNION_MODES.items() if mode < known)
    if shows is None:
        raise UsageError(
            f"{control.model} is a union ControlNet, which must be told what {control.image} shows: add type=... with "
            f"one of {names}"
        )
    mode = UNION_MODES[shows]
    if mode >= known:
        raise UsageError(f"{control.model} does not know type={shows}; it knows {names}")
    return mode
