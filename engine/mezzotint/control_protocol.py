"""Protocol types for control images, which guide an image through a ControlNet or IP-Adapter. Standard library only."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from mezzotint.values.basic import Number, Path, Value, YesNo, one_of, plain_number, shown
from mezzotint.values.keyed import split_keyed, written_keyed

# What a control image shows; a union ControlNet must be told, of others it is a note.
ControlType = Literal[
    "openpose",
    "depth",
    "hed",
    "pidi",
    "scribble",
    "ted",
    "canny",
    "lineart",
    "anime_lineart",
    "mlsd",
    "normal",
    "segment",
    "tile",
    "inpaint",
    "repaint",
    "blur",
    "gray",
    "low_quality",
]
Preprocess = Literal["none", "canny", "lines", "scribble", "depth", "pose", "gray", "tile"]
CONTROL_TYPES: tuple[str, ...] = get_args(ControlType)
CONTROLLED_FAMILIES = ("sd15", "sdxl", "flux", "qwen-image", "z-image")  # unless they take reference images
SELF_CONTROLLED = (("flux", "canny"), ("flux", "depth"))  # family and variant: they take an image themselves
MAX_CONTROLS = 8
MAX_CONTROL_WEIGHT = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlRef:
    """A control image or image prompt, and the ControlNet or IP-Adapter that it is given to."""

    image: str
    model: str = ""  # file, folder or name; empty: none, as the image is for the model itself
    weight: float = 1.0
    start: float = 0.0  # part of the stage's steps, 0 to 1, from which on it is used
    end: float = 1.0
    type: ControlType | None = None  # None: as its network has only one, or as preprocessed
    preprocess: Preprocess = "none"
    keep: bool = False  # whether what is made of the image is saved beside the result
    sha256: str | None = None  # of the ControlNet's file; if given, a changed file is refused
    image_sha256: str | None = None  # of the image; if given, a changed file is refused
    encoder: str | None = None  # the image encoder of an IP-Adapter; None: one near it
    encoder_sha256: str | None = None  # of the encoder's first file; if given, a changed one is refused
    mask: str | None = None  # an image, white where an image prompt applies; None: everywhere
    mask_sha256: str | None = None  # of the mask; if given, a changed file is refused

    def with_paths(self, place: Callable[[str], str], place_model: Callable[[str], str]) -> "ControlRef":
        """The same with other paths; `place_model` is also given names."""
        return replace(
            self,
            image=place(self.image),
            model=place_model(self.model) if self.model else "",
            encoder=None if self.encoder is None else place(self.encoder),
            mask=None if self.mask is None else place(self.mask),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlImageRequest:
    """Make a control image of an image file."""

    path: str
    preprocess: Preprocess
    output: str | None = None  # a folder or PNG file; None: next to the image, or in the cache for the window
    overwrite: bool = False
    device: str = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlImageMade:
    """A control image on disk."""

    path: str
    width: int
    height: int
    sha256: str  # of the pixels, row by row, RGB
    preprocess: Preprocess
    networks: tuple[str, ...]  # folders of those that made it


_VALUES: Mapping[str, Value] = {
    "image": Path(),
    "model": Path(),
    "weight": Number(0, MAX_CONTROL_WEIGHT, 0.8),
    "start": Number(0, 1, 0.2),
    "end": Number(0, 1, 0.6),
    "type": one_of(ControlType),
    "preprocess": one_of(Preprocess),
    "keep": YesNo(),
    "encoder": Path(),
    "mask": Path(),
}
_KEYS = tuple(name for name in _VALUES if name != "image")


@dataclass(frozen=True, slots=True)
class ControlImage(Value):
    """IMAGE,model=MODEL with further keys; in job files also a table. A comma before a word and = is written twice."""

    metavar: str = "IMAGE[,model=MODEL][,KEY=VALUE...]"

    def read(self, value: object) -> ControlRef:
        """Image, ControlNet and settings."""
        if isinstance(value, Mapping):
            return _ref({str(name): one for name, one in value.items()})
        if not isinstance(value, str):
            raise ValueError(f"{shown(value)} is not text or a table; expected IMAGE,model=MODEL")
        return _ref(split_keyed(Path().read(value), "image"))

    def parse(self, word: str) -> ControlRef:
        """Image, ControlNet and settings; file names may be undecodable."""
        return _ref(split_keyed(word, "image"))

    def to_setting(self, value: ControlRef) -> str:
        """The image, and what differs from the defaults."""
        default = ControlRef(image="")
        pairs = [(name, getattr(value, name)) for name in _KEYS]
        others = (f",{name}={written_keyed(one)}" for name, one in pairs if one != getattr(default, name))
        return "".join((written_keyed(value.image), *others))

    def to_arguments(self, value: ControlRef) -> list[str]:
        """The image, and what differs from the defaults."""
        return [self.to_setting(value)]


def check_control(control: ControlRef) -> None:
    """Raise ValueError for values out of range."""
    for name in ("weight", "start", "end", "type", "preprocess"):
        value = getattr(control, name)
        if value is not None:
            _read(name, value)
    if not control.start < control.end:
        raise ValueError(
            f"start={plain_number(control.start)} is not below end={plain_number(control.end)}; expected two numbers "
            "from 0 to 1, such as start=0,end=0.6"
        )


def _ref(said: Mapping[str, object]) -> ControlRef:
    unknown = next((name for name in said if name not in _VALUES), None)
    if unknown is not None:
        raise ValueError(
            f"{shown(unknown)} is not a key; expected {', '.join(_KEYS)} (a comma in a file name is written twice)"
        )
    values = {name: _read(name, one) for name, one in said.items()}
    if not values.get("image"):
        raise ValueError("no image is given; expected IMAGE,model=MODEL, such as image=edges.png")
    control = ControlRef(**values)
    check_control(control)
    return control


def _read(name: str, value: object) -> Any:  # noqa: ANN401  each key has its own type
    kind = _VALUES[name]
    if isinstance(kind, Path):
        return kind.parse(value) if isinstance(value, str) else kind.read(value)
    try:
        return kind.read(kind.from_text(value) if isinstance(value, str) else value)
    except ValueError as error:
        raise ValueError(f"{name}={error}") from None
