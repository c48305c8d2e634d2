"""Regional prompts and detail passes of the Create page: usual parts of an image, boxes as typed, what is in use."""

from collections.abc import Iterable, Mapping

from mezzotint.values.basic import plain_number
from mezzotint.values.details import DetailRef
from mezzotint.values.regions import Box, Region, RegionRef

PARTS: Mapping[str, Box] = {
    "left": (0.0, 0.0, 0.5, 1.0),
    "right": (0.5, 0.0, 0.5, 1.0),
    "top": (0.0, 0.0, 1.0, 0.5),
    "bottom": (0.0, 0.5, 1.0, 0.5),
    "left-third": (0.0, 0.0, 0.334, 1.0),
    "middle-third": (0.333, 0.0, 0.334, 1.0),
    "right-third": (0.666, 0.0, 0.334, 1.0),
    "centre": (0.25, 0.25, 0.5, 0.5),
}
MASK = "mask"  # from a file, a mask layer of the canvas, or an image's settings
MASK_FILE = "file"  # still to be chosen
FAMILIES = ("sd15", "sdxl", "pixart", "sana", "flux", "sd3")  # that follow regional prompts


def regions_in_use(regions: Iterable[RegionRef]) -> tuple[RegionRef, ...]:
    """Return those with a prompt."""
    return tuple(region for region in regions if region.prompt.strip())


def details_in_use(details: Iterable[DetailRef]) -> tuple[DetailRef, ...]:
    """Return those with a label."""
    return tuple(detail for detail in details if detail.label.strip())


def next_region(regions: Iterable[RegionRef]) -> RegionRef:
    """Return a new region in the first usual part that has none."""
    taken = {region.box for region in regions}
    return RegionRef(box=next((box for box in PARTS.values() if box not in taken), PARTS["left"]), prompt="")


def part_of(region: RegionRef) -> str:
    """Return the name of a usual part, or MASK; "" for any other box."""
    if region.mask is not None:
        return MASK
    return next((name for name, known in PARTS.items() if known == region.box), "")


def box_text(box: Box) -> str:
    """Return a box as it is typed."""
    return ", ".join(map(plain_number, box))


def box_of(text: str) -> Box:
    """Return the box that was typed. Raises ValueError if it is none."""
    return Region().read({"box": text, "prompt": "-"}).box
