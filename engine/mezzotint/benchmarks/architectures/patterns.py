"""The sparse patterns of attention: built for any number of tokens, and drawn as which query sees which key."""

import io
from collections.abc import Callable, Mapping
from math import isqrt
from pathlib import Path
from typing import TypeAlias

import torch
from PIL import Image, ImageDraw, ImageFont
from torch import Tensor

from mezzotint.atomic import atomic_write
from mezzotint.attention.blocks.chosen import Centroids, hashed_table, routed_table, top_table
from mezzotint.attention.blocks.grids import Grid, shifted_table, window_table
from mezzotint.attention.blocks.patterns import (
    bigbird_table,
    dilated_table,
    global_local_table,
    local_table,
    longformer_table,
    neighbour_table,
    strided_table,
)
from mezzotint.attention.blocks.table import BlockTable

Build: TypeAlias = Callable[[Tensor, Tensor, int], BlockTable]  # of q and k `(b, h, n, d)` and the side of a block

_CELL, _MARGIN, _TITLE, _ACROSS = 4, 16, 20, 4  # pixels, and pictures side by side
_SEEN, _HIDDEN, _INK = (46, 95, 140), (232, 229, 223), "#26221d"
_TOKENS, _BLOCK, _HEAD_DIM = 64, 4, 16  # of the drawn ones


def _fixed(build: Callable[[int, int], BlockTable]) -> Build:
    return lambda q, _, block: build(q.shape[2], block)


def _square(q: Tensor) -> Grid:
    height = next(side for side in range(isqrt(q.shape[2]), 0, -1) if q.shape[2] % side == 0)
    return Grid(height=height, width=q.shape[2] // height)


PATTERNS: Mapping[str, Build] = {
    "local": _fixed(lambda n, block: local_table(n, 2 * block, block=block)),
    "dilated": _fixed(lambda n, block: dilated_table(n, block, 4, block=block)),
    "window": lambda q, _, block: window_table(_square(q), 3, block=block),
    "shifted": lambda q, _, block: shifted_table(_square(q), 2 * isqrt(block), isqrt(block), block=block),
    "strided": _fixed(lambda n, block: strided_table(n, 8, block=block)),
    "block-sparse": _fixed(lambda n, block: neighbour_table(n, 1, block=block)),
    "top-k": lambda q, k, block: top_table(q, k, 4, block=block),
    "longformer": _fixed(lambda n, block: longformer_table(n, 2 * block, block, block=block)),
    "global-local": _fixed(lambda n, block: global_local_table(n, block, max(2, n // block), block=block)),
    "bigbird": _fixed(lambda n, block: bigbird_table(n, 1, random_blocks=2, block=block)),
    "lsh": lambda q, _, block: hashed_table(q, 2 * max(1, q.shape[2] // (4 * block)), chunk=block, block=block),
    "routing": lambda q, k, block: routed_table(
        q, k, Centroids.seeded(q.shape[1], isqrt(q.shape[2]), q.shape[3], 0), block=block
    ),
}


def draw_patterns(path: Path) -> None:
    """Write a picture of all patterns as PNG, overwriting the file; raises StorageError if that fails.

    A row of pixels is a query, a column a key; queries and keys of the chosen ones are random.
    """
    generator = torch.Generator().manual_seed(0)
    q = torch.randn(1, 1, _TOKENS, _HEAD_DIM, generator=generator)
    side, rows = _TOKENS * _CELL, -(-len(PATTERNS) // _ACROSS)
    width = _ACROSS * (side + _MARGIN) + _MARGIN
    image = Image.new("RGB", (width, rows * (side + _MARGIN + _TITLE) + _MARGIN), "white")
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(13)
    for number, (name, build) in enumerate(PATTERNS.items()):
        left = _MARGIN + number % _ACROSS * (side + _MARGIN)
        top = _MARGIN + number // _ACROSS * (side + _MARGIN + _TITLE)
        seen = build(q, q, _BLOCK).seen()[0, 0]
        pen.text((left, top), f"{name}: {100 * seen.float().mean():.0f} %", fill=_INK, font=font)
        image.paste(_picture(seen), (left, top + _TITLE))
    file = io.BytesIO()
    image.save(file, "PNG")
    atomic_write(path, file.getvalue(), overwrite=True)


def _picture(seen: Tensor) -> Image.Image:
    colors = torch.tensor([_HIDDEN, _SEEN], dtype=torch.uint8)[seen.long()]
    cells = Image.fromarray(colors.numpy())
    return cells.resize((cells.width * _CELL, cells.height * _CELL), Image.Resampling.NEAREST)
