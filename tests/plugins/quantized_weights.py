"""Weights that are hard to quantize."""

from collections.abc import Callable

import torch
from hypothesis import strategies as st
from torch import Tensor

_HARD: dict[str, Callable[[Tensor], Tensor]] = {
    "normal": lambda weight: weight,
    "outlier": lambda weight: weight.index_fill(1, torch.tensor([weight.shape[1] // 2]), 300.0),
    "zero rows": lambda weight: weight * (torch.arange(weight.shape[0])[:, None] % 2),
    "zeros": torch.zeros_like,
    "equal": torch.ones_like,
    "tiny": lambda weight: weight * 1e-30,
    "below all normal numbers": lambda weight: weight * 1e-41,
    "large": lambda weight: weight * 1e6,
    "uneven rows": lambda weight: weight * 10.0 ** (torch.arange(weight.shape[0])[:, None] % 7 - 3),
}


def seeded(*shape: int, seed: int = 0) -> Tensor:
    """Return normally distributed values, reproducible by seed."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


@st.composite
def weights(draw: st.DrawFn, rows: int = 40, columns: int = 300, multiple: int = 1) -> Tensor:
    """Draw weights `(n, k)` of all kinds, n up to `rows`, k a multiple of `multiple` up to `columns`."""
    shape = draw(st.integers(1, rows)), multiple * draw(st.integers(1, columns // multiple))
    hard = _HARD[draw(st.sampled_from(sorted(_HARD)))]
    return hard(seeded(*shape, seed=draw(st.integers(0, 2**16))))


def relative(found: Tensor, wanted: Tensor) -> float:
    """Return the relative error in the Frobenius norm."""
    lost = float((found.double() - wanted.double()).norm())
    return lost / float(wanted.double().norm()) if lost else 0.0
