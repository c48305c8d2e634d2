"""Time sparse attention's plain path against dense attention on one core of a processor, in processor time.

python bench/sparse_attention.py [SIDE ...]
"""

import sys
import time
from collections.abc import Callable
from functools import partial

import torch

from mezzotint.attention.reduction import Grid
from mezzotint.attention.session import AttentionSession
from mezzotint.attention.sparse import attend_sparsely
from mezzotint.values.speed import SparseAttention

SIDES = (32, 64, 128)  # rows and columns of tokens
HEADS, HEAD_DIM = 4, 64
HOW: tuple[SparseAttention, ...] = (
    ("pooled", 0.25),
    ("pooled", 0.5),
    ("window", 0.25),
    ("window", 0.5),
    ("topk", 0.25),
    ("topk", 0.5),
    ("tiles", 0.25),
    ("tiles", 0.0625),
)


def main(sides: tuple[int, ...]) -> None:
    """Print a row for each number of tokens: milliseconds of dense attention, and how much faster each kind is."""
    torch.set_num_threads(1)
    print("tokens", "dense", *(f"{kind}:{density:g}" for kind, density in HOW), sep=" | ")
    for side in sides:
        dense, *sparse = measure(side)
        print(side * side, f"{1000 * dense:.0f} ms", *(f"{dense / each:.1f}" for each in sparse), sep=" | ", flush=True)


@torch.inference_mode()
def measure(side: int) -> list[float]:
    """Seconds of dense attention over an image of `side` x `side` tokens, and of each kind of sparse attention."""
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(1, HEADS, side * side, HEAD_DIM, generator=generator) for _ in range(3))

    def seconds(how: SparseAttention | None) -> float:
        session = AttentionSession(asked="sdpa", chosen="sdpa", kernels=None, tell=lambda *_: None)
        if how is not None:
            session.reduction = partial(attend_sparsely, grid=Grid(start=0, height=side, width=side), how=how)
        return _seconds(lambda: session.attend(q, k, v), max(2, 300 // side))

    return [seconds(how) for how in (None, *HOW)]


def _seconds(run: Callable[[], object], count: int) -> float:
    """The shortest of so many runs."""
    run()
    times = []
    for _ in range(count):
        begin = time.process_time()
        run()
        times.append(time.process_time() - begin)
    return min(times)


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or SIDES)
