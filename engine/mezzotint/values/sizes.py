"""Values that are sizes: of an image, of memory, of the margins that extend an image. Standard library only."""

import re
from dataclasses import dataclass

from mezzotint.values.basic import Kind, Value, shown

_SIZE = re.compile(r"([0-9]{1,6})[xX\u00d7]([0-9]{1,6})")
_MEMORY = re.compile(r"([0-9]{1,10}(?:\.[0-9]{1,6})?) ?([gm])i?b", re.IGNORECASE)
_PIXELS = re.compile(r"[0-9]{1,6}")

SIDES = ("left", "top", "right", "bottom")
Margins = tuple[int, int, int, int]  # pixels, in the order of SIDES

AUTO_TILE = -1  # as planned
SMALLEST_TILE, LARGEST_TILE = 128, 4096  # pixels
_TILE_WORDS = {"auto": AUTO_TILE, "off": 0}


@dataclass(frozen=True, slots=True)
class PixelSize(Value):
    """Width and height in pixels."""

    metavar: str = "WxH"
    kind: Kind = "text"

    def read(self, value: object) -> tuple[int, int]:
        """`WIDTHxHEIGHT`."""
        match = _SIZE.fullmatch(value) if isinstance(value, str) else None
        if match is None or not int(match[1]) or not int(match[2]):
            raise ValueError(f"{shown(value)} is not a size; expected width x height in pixels, such as 1024x1024")
        return int(match[1]), int(match[2])

    def to_setting(self, value: tuple[int, int]) -> str:
        """`WIDTHxHEIGHT`."""
        return f"{value[0]}x{value[1]}"

    def to_arguments(self, value: tuple[int, int]) -> list[str]:
        """`WIDTHxHEIGHT`."""
        return [self.to_setting(value)]


@dataclass(frozen=True, slots=True)
class MemorySize(Value):
    """Bytes; a GB is 2^30 of them."""

    metavar: str = "SIZE"
    kind: Kind = "text"

    def read(self, value: object) -> int:
        """A number with a unit; a bare integer is bytes, as programs write it."""
        match = _MEMORY.fullmatch(value.strip()) if isinstance(value, str) else None
        size = round(float(match[1]) * (2**30 if match[2] in "gG" else 2**20)) if match else value
        if isinstance(size, bool) or not isinstance(size, int) or not 2**20 <= size <= 2**50:
            raise ValueError(f"{shown(value)} is not an amount of memory; expected a number and GB or MB, such as 6GB")
        return size

    def to_arguments(self, value: int) -> list[str]:
        """In GB if that is a whole number, else in MB."""
        if value % 2**30 == 0:
            return [f"{value >> 30}GB"]
        return [f"{value / 2**20:.6f}".rstrip("0").rstrip(".") + "MB"]


@dataclass(frozen=True, slots=True)
class MarginSizes(Value):
    """Pixels on the four sides."""

    metavar: str = "L,T,R,B"
    kind: Kind = "text"

    def read(self, value: object) -> Margins:
        """LEFT,TOP,RIGHT,BOTTOM, or sides by name."""
        parts = [part.strip() for part in value.split(",")] if isinstance(value, str) else []
        in_order = len(parts) == len(SIDES) and not any("=" in part for part in parts)
        named = dict(zip(SIDES, parts, strict=True)) if in_order else _by_name(parts)
        pixels = [int(named.get(side, "0")) if _PIXELS.fullmatch(named.get(side, "0")) else -1 for side in SIDES]
        if min(pixels) < 0 or not named.keys() <= set(SIDES):
            raise ValueError(
                f"{shown(value)} is invalid; expected LEFT,TOP,RIGHT,BOTTOM in pixels, such as 0,0,128,64, or sides by "
                "name, each once, such as right=128,bottom=64"
            )
        if not any(pixels):
            raise ValueError(f"{shown(value)} does not extend the image; give at least one side some pixels")
        return pixels[0], pixels[1], pixels[2], pixels[3]

    def to_setting(self, value: Margins) -> str:
        """LEFT,TOP,RIGHT,BOTTOM in pixels."""
        return ",".join(map(str, value))

    def to_arguments(self, value: Margins) -> list[str]:
        """LEFT,TOP,RIGHT,BOTTOM in pixels."""
        return [self.to_setting(value)]


def _by_name(parts: list[str]) -> dict[str, str]:
    pairs = [part.partition("=") for part in parts]
    found = {side.strip(): pixels.strip() for side, _, pixels in pairs}
    return found if parts and len(found) == len(pairs) else {"": ""}


@dataclass(frozen=True, slots=True)
class TileSide(Value):
    """The side of denoising tiles in pixels; AUTO_TILE for auto, 0 for off."""

    metavar: str = "auto|off|PIXELS"
    kind: Kind = "text"

    def read(self, value: object) -> int:
        """A number of pixels, or a word."""
        side = _TILE_WORDS.get(value, value) if isinstance(value, str) else value
        side = int(side) if isinstance(side, str) and _PIXELS.fullmatch(side) else side
        known = side in _TILE_WORDS.values() or (isinstance(side, int) and SMALLEST_TILE <= side <= LARGEST_TILE)
        if isinstance(side, bool) or not isinstance(side, int) or not known:
            raise ValueError(
                f"{shown(value)} is invalid; expected auto, off, or a whole number of pixels from {SMALLEST_TILE} to "
                f"{LARGEST_TILE}, such as 1024"
            )
        return side

    def to_setting(self, value: int) -> object:
        """The word, or the number."""
        return next((word for word, side in _TILE_WORDS.items() if side == value), value)

    def to_arguments(self, value: int) -> list[str]:
        """The word, or the number."""
        return [str(self.to_setting(value))]
