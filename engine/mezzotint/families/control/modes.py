"""What union ControlNets tell apart, by number: xinsir's Union and Union ProMax, and InstantX's Union (model cards)."""

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
FLUX_MODES: Mapping[str, int] = MappingProxyType(
    {"canny": 0, "tile": 1, "depth": 2, "blur": 3, "openpose": 4, "gray": 5, "low_quality": 6}
)


_SHOWN = {"lines": "hed", "pose": "openpose"}  # by how an image is prepared


def mode_of(control: ControlRef, known: int, modes: Mapping[str, int] = UNION_MODES) -> int:
    """Number of what the image shows, for a network that knows so many; raises UsageError if it is not said."""
    prepared = _SHOWN.get(control.preprocess, control.preprocess)
    shows = control.type or (prepared if prepared in modes else None)
    names = ", ".join(name for name, mode in modes.items() if mode < known)
    if shows is None:
        raise UsageError(
            f"{control.model} is a union ControlNet, which must be told what {control.image} shows: add type=... with "
            f"one of {names}"
        )
    mode = modes.get(shows, known)
    if mode >= known:
        raise UsageError(f"{control.model} does not know type={shows}; it knows {names}")
    return mode
