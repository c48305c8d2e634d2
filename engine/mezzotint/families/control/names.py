"""Original names of a ControlNet's tensors, as lllyasviel released them for Stable Diffusion 1.5."""

import re
from functools import cache

from mezzotint.families.loading.original_names import UNET, Form, Layout, layout_of, place

ORIGINAL_PREFIX = "control_model."

_HINT_LAST = 14  # the convolutions of the hint block have even numbers, with activations between them


def original_place(names: tuple[str, ...], name: str) -> tuple[tuple[str, Form], ...]:
    """The parameter that a tensor of a file with these names fills, and its form; none if it is not used."""
    if match := re.fullmatch(r"zero_convs\.(\d+)\.0\.(weight|bias)", name):
        return ((f"controlnet_down_blocks.{match[1]}.{match[2]}", "whole"),)
    if match := re.fullmatch(r"middle_block_out\.0\.(weight|bias)", name):
        return ((f"controlnet_mid_block.{match[1]}", "whole"),)
    if match := re.fullmatch(r"input_hint_block\.(\d+)\.(weight|bias)", name):
        return ((f"controlnet_cond_embedding.{_hint(int(match[1]), _last_hint(names))}.{match[2]}", "whole"),)
    return tuple((part.name, part.form) for part in place(UNET + name, _layout(names)))


def _hint(number: int, last: int) -> str:
    if number in (0, last):
        return "conv_out" if number else "conv_in"
    return f"blocks.{number // 2 - 1}"


@cache
def _last_hint(names: tuple[str, ...]) -> int:
    found = [int(match[1]) for match in map(re.compile(r"input_hint_block\.(\d+)\.").match, names) if match]
    return max(found, default=_HINT_LAST)


@cache
def _layout(names: tuple[str, ...]) -> Layout:
    return layout_of([UNET + name for name in names])
