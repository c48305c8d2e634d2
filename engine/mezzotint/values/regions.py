"""Regional prompts: boxes or masks of an image with prompts of their own. Standard library only."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from mezzotint.values.basic import Number, Path, Text, Value, plain_number, shown, to_float
from mezzotint.values.keyed import split_keyed

MAX_REGIONS = 8
MAX_REGION_PROMPT = 65_536  # characters, as of any prompt

Box = tuple[float, float, float, float]  # left, top, width and height, as parts of the image, 0 to 1

WHOLE: Box = (0.0, 0.0, 1.0, 1.0)
MASK_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".bmp", ".gif", ".avif")

_EXAMPLE = "0,0,0.5,1,prompt=a red house"
_ORDER = ("prompt", "weight")


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionRef:
    """A box or mask of the image and its prompt, which replaces the image's there as far as its weight says."""

    box: Box = WHOLE
    prompt: str
    weight: float = 1.0  # 0 to 1: of its prompt; the image's own has the rest
    mask: str | None = None  # an image, white where the prompt applies; the box is then the whole image
    mask_sha256: str | None = None  # of that file; if given, a changed file is refused

    def with_mask(self, change: Callable[[str], str]) -> "RegionRef":
        """Same with the path of the mask, if there is one, changed."""
        return self if self.mask is None else replace(self, mask=change(self.mask))


@dataclass(frozen=True, slots=True)
class Region(Value):
    """X,Y,W,H or MASK,prompt=TEXT[,weight=W]; in job files also a table. A comma before a word and = is doubled."""

    metavar: str = "X,Y,W,H|MASK,prompt=TEXT[,weight=W]"

    def read(self, value: object) -> RegionRef:
        """Box, prompt and weight."""
        if isinstance(value, Mapping):
            return _ref({str(name): one for name, one in value.items()})
        if not isinstance(value, str):
            raise ValueError(f"{shown(value)} is not text or a table; expected {_EXAMPLE}")
        return self.parse(value)

    def parse(self, word: str) -> RegionRef:
        """Box, prompt and weight."""
        said = split_keyed(word, "box")
        if PurePath(str(said["box"])).suffix.lower() in MASK_SUFFIXES:
            said["mask"] = said.pop("box")
        return _ref(said)

    def to_setting(self, value: RegionRef) -> str:
        """The box or mask, the prompt, and the weight if it is not 1."""
        mask = value.mask
        box = ",".join(map(plain_number, value.box)) if mask is None else mask.replace(",", ",,")
        prompt = value.prompt.replace(",", ",,")
        return f"{box},prompt={prompt}" + (f",weight={plain_number(value.weight)}" if value.weight != 1 else "")

    def to_arguments(self, value: RegionRef) -> list[str]:
        """The same."""
        return [self.to_setting(value)]


def check_region(region: RegionRef) -> None:
    """Raise ValueError for values out of range."""
    left, top, width, height = region.box
    is_inside = min(left, top) >= 0 and left + width <= 1.001 and top + height <= 1.001  # thirds are rounded
    if not (is_inside and min(width, height) > 0):
        raise ValueError(
            f"{','.join(map(plain_number, region.box))} is not a box inside the image; expected left, top, width and "
            "height as parts of its sides, such as 0,0,0.5,1 for the left half"
        )
    if region.mask is not None and region.box != WHOLE:
        raise ValueError(f"{shown(region.mask)} is given with a box; expected one of them")
    Number(0, 1, 0.8).read(region.weight)
    if not region.prompt.strip():
        raise ValueError(f"a region has no prompt; expected {_EXAMPLE}")
    Text(MAX_REGION_PROMPT).read(region.prompt)


def _ref(said: Mapping[str, object]) -> RegionRef:
    unknown = next((name for name in said if name not in ("box", "mask", *_ORDER)), None)
    if unknown is not None:
        raise ValueError(
            f"{shown(unknown)} is not a key; expected {', '.join(_ORDER)} (a comma before a word and = in a prompt is "
            "written twice)"
        )
    mask = said.get("mask")
    region = RegionRef(
        box=_box(said.get("box", None if mask is None else WHOLE)),
        prompt=_prompt(said.get("prompt", "")),
        weight=_number(said.get("weight", 1.0)),
        mask=None if mask is None else _mask(mask),
    )
    check_region(region)
    return region


def _box(value: object) -> Box:
    numbers = value.split(",") if isinstance(value, str) else value
    if not isinstance(numbers, Sequence) or len(numbers) != 4:
        raise ValueError(f"{shown(value)} is not a box of four numbers; expected {_EXAMPLE}")
    left, top, width, height = map(_number, numbers)
    return left, top, width, height


def _mask(value: object) -> str:
    if not isinstance(value, str) or PurePath(value).suffix.lower() not in MASK_SUFFIXES:
        raise ValueError(f"{shown(value)} is not the name of an image; expected one such as mask.png")
    return Path().parse(value)


def _prompt(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{shown(value)} is not a prompt; expected {_EXAMPLE}")
    return value


def _number(value: object) -> float:
    number = to_float(value) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, int | float) or not abs(number) <= 1e6:
        raise ValueError(f"{shown(value)} is not a number; expected {_EXAMPLE}")
    return float(number)
