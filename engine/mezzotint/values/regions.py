"""Regional prompts: boxes of an image with prompts of their own. Standard library only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mezzotint.values.basic import Number, Text, Value, plain_number, shown, to_float
from mezzotint.values.keyed import split_keyed

MAX_REGIONS = 8
MAX_REGION_PROMPT = 65_536  # characters, as of any prompt

Box = tuple[float, float, float, float]  # left, top, width and height, as parts of the image, 0 to 1

_EXAMPLE = "0,0,0.5,1,prompt=a red house"
_ORDER = ("prompt", "weight")


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionRef:
    """A box of the image and its prompt, which replaces the image's there as far as its weight says."""

    box: Box
    prompt: str
    weight: float = 1.0  # 0 to 1: of its prompt; the image's own has the rest


@dataclass(frozen=True, slots=True)
class Region(Value):
    """X,Y,W,H,prompt=TEXT[,weight=W]; in job files also a table. A comma before a word and = is written twice."""

    metavar: str = "X,Y,W,H,prompt=TEXT[,weight=W]"

    def read(self, value: object) -> RegionRef:
        """Box, prompt and weight."""
        if isinstance(value, Mapping):
            return _ref({str(name): one for name, one in value.items()})
        if not isinstance(value, str):
            raise ValueError(f"{shown(value)} is not text or a table; expected {_EXAMPLE}")
        return self.parse(value)

    def parse(self, word: str) -> RegionRef:
        """Box, prompt and weight."""
        return _ref(split_keyed(word, "box"))

    def to_setting(self, value: RegionRef) -> str:
        """X,Y,W,H,prompt=TEXT, and the weight if it is not 1."""
        box = ",".join(map(plain_number, value.box))
        prompt = value.prompt.replace(",", ",,")
        return f"{box},prompt={prompt}" + (f",weight={plain_number(value.weight)}" if value.weight != 1 else "")

    def to_arguments(self, value: RegionRef) -> list[str]:
        """X,Y,W,H,prompt=TEXT, and the weight if it is not 1."""
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
    Number(0, 1, 0.8).read(region.weight)
    if not region.prompt.strip():
        raise ValueError(f"a region has no prompt; expected {_EXAMPLE}")
    Text(MAX_REGION_PROMPT).read(region.prompt)


def _ref(said: Mapping[str, object]) -> RegionRef:
    unknown = next((name for name in said if name not in ("box", *_ORDER)), None)
    if unknown is not None:
        raise ValueError(
            f"{shown(unknown)} is not a key; expected {', '.join(_ORDER)} (a comma before a word and = in a prompt is "
            "written twice)"
        )
    region = RegionRef(
        box=_box(said.get("box")), prompt=_prompt(said.get("prompt", "")), weight=_number(said.get("weight", 1.0))
    )
    check_region(region)
    return region


def _box(value: object) -> Box:
    numbers = value.split(",") if isinstance(value, str) else value
    if not isinstance(numbers, Sequence) or len(numbers) != 4:
        raise ValueError(f"{shown(value)} is not a box of four numbers; expected {_EXAMPLE}")
    left, top, width, height = map(_number, numbers)
    return left, top, width, height


def _prompt(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{shown(value)} is not a prompt; expected {_EXAMPLE}")
    return value


def _number(value: object) -> float:
    number = to_float(value) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, int | float) or not abs(number) <= 1e6:
        raise ValueError(f"{shown(value)} is not a number; expected {_EXAMPLE}")
    return float(number)
