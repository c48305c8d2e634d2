"""A1111's fields of the second pass (hires fix)."""

from collections.abc import Collection
from itertools import islice

from mezzotint.api_server.fields import Fields
from mezzotint.api_server.refusal import invalid
from mezzotint.images.dialect import HIRES_UPSCALERS
from mezzotint.request_protocol import HIRES_SCALE, HIRES_STRENGTH, MOST_HIRES
from mezzotint.values.basic import shown

LARGEST_SIDE = 65_536
_MOST_STEPS = 1000
_SHOWN = 20  # names of upscalers in a refusal

# Those that are listed, by A1111's names; more are known.
LATENT_UPSCALERS = ("Latent", "Latent (bicubic)", "Latent (nearest)", "Latent (nearest-exact)")
RESAMPLERS = ("None", "Lanczos", "Nearest")


def second_pass(fields: Fields, size: tuple[int, int] | None, names: Collection[str] = ()) -> dict[str, object]:
    """The values of our options; `size` is the first pass's, `names` are those of upscalers. Raises Refusal."""
    name = fields.text("hr_upscaler", "Latent")
    upscaler = _upscaler(name, names)
    if upscaler is None:
        known = ", ".join((*LATENT_UPSCALERS, *RESAMPLERS, *islice(names, _SHOWN)))
        raise invalid("hr_upscaler", f"{shown(name)} is not known; known are {known}")
    return {
        "hires": _scale(fields, size),
        "hires_strength": fields.number("denoising_strength", HIRES_STRENGTH, 0, 1),
        "hires_space": upscaler[0],
        "hires_upscaler": upscaler[1],
    }


def _upscaler(name: str, names: Collection[str]) -> tuple[str, str] | None:
    """The space, and the upscaler in it; a network by its very name comes first."""
    known = name if name in names else None
    if known is None and name.strip().lower() in HIRES_UPSCALERS:
        return HIRES_UPSCALERS[name.strip().lower()]
    known = known or next((each for each in names if each.casefold() == name.strip().casefold()), None)
    return None if known is None else ("pixel", known)


def _scale(fields: Fields, size: tuple[int, int] | None) -> object:
    scale = fields.option("hr_scale", "hires", HIRES_SCALE)
    sides = [fields.whole(name, 0, 0, LARGEST_SIDE) for name in ("hr_resize_x", "hr_resize_y")]
    if not any(sides):
        return scale
    if size is None:
        raise invalid("hr_resize_x", "a size of the second pass needs width and height")
    scales = [side / first for side, first in zip(sides, size, strict=True) if side]
    if not 1 <= scales[0] <= MOST_HIRES or max(scales) - min(scales) > 0.01:
        raise invalid(
            "hr_resize_x", f"{sides[0]} x {sides[1]} must be 1 to {MOST_HIRES:g} times the size {size[0]} x {size[1]}"
        )
    return scales[0]


def second_pass_steps(fields: Fields) -> int:
    """The number of steps that the second pass takes; 0: a share of the first one's, as its strength says."""
    return fields.whole("hr_second_pass_steps", 0, 0, _MOST_STEPS)
