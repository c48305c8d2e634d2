"""The options of inpainting and outpainting."""

import argparse
import re
from argparse import ArgumentTypeError
from typing import get_args

from mezzotint.batch.job.inpainting import SIDES as SIDES
from mezzotint.batch.job.inpainting import Margins as Margins
from mezzotint.checkpoints.plain_text import plain
from mezzotint.cli.argument_types import integer
from mezzotint.protocol import InpaintArea, InpaintFill

_PIXELS = re.compile(r"[0-9]{1,6}")


def add_inpaint_options(group: argparse._ArgumentGroup) -> None:
    """What is made anew of an init image, and how."""
    group.add_argument(
        "--mask",
        metavar="FILE",
        help="an image of the same shape as the init image: white is generated, black or transparent is kept",
    )
    group.add_argument(
        "--inpaint-area",
        choices=get_args(InpaintArea),
        help="whole: inpaint at the size of the whole image; masked: inpaint only the masked area with its padding, at "
        "full resolution, and paste it back (default: whole)",
    )
    group.add_argument(
        "--inpaint-padding",
        metavar="PIXELS",
        type=integer(0, 4096, 32),
        help="context around the mask with --inpaint-area masked (default: 32)",
    )
    group.add_argument(
        "--inpaint-feather",
        metavar="PIXELS",
        type=integer(0, 256, 8),
        help="width of the soft edge inside the mask, or into the image when outpainting; more blends large areas "
        "better (default: 8)",
    )
    group.add_argument(
        "--inpaint-fill",
        choices=get_args(InpaintFill),
        help="what the masked area starts from: the image itself, the colours around it, or noise (default: image)",
    )
    group.add_argument(
        "--outpaint",
        metavar="L,T,R,B",
        type=margins,
        help="extend the init image by so many pixels on its left, top, right and bottom, such as 0,0,128,64 or "
        "right=128,bottom=64",
    )


def margins(words: str) -> Margins:
    """LEFT,TOP,RIGHT,BOTTOM in pixels, or some of them by name."""
    parts = [part.strip() for part in words.split(",")]
    if len(parts) == len(SIDES) and all(_PIXELS.fullmatch(part) for part in parts):
        left, top, right, bottom = map(int, parts)
        found = (left, top, right, bottom)
    else:
        found = _by_name(words, parts)
    if not any(found):
        raise ArgumentTypeError(f"'{plain(words)}' does not extend the image; give at least one side some pixels")
    return found


def _by_name(words: str, parts: list[str]) -> Margins:
    named: dict[str, int] = {}
    for part in parts:
        side, _, pixels = (piece.strip() for piece in part.partition("="))
        if side not in SIDES or side in named or not _PIXELS.fullmatch(pixels):
            raise ArgumentTypeError(
                f"'{plain(words)}' is invalid; expected LEFT,TOP,RIGHT,BOTTOM in pixels, such as 0,0,128,64, or sides "
                "by name, each once, such as right=128,bottom=64"
            )
        named[side] = int(pixels)
    return named.get("left", 0), named.get("top", 0), named.get("right", 0), named.get("bottom", 0)
