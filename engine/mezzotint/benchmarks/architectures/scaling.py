"""How kinds of attention scale with the number of tokens: operations, memory, time, and slopes fitted to them."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from mezzotint.attention.blocks.plain import block_attention
from mezzotint.attention.linear.features import Efficient, Elu, FeatureMap, PositiveRandom, RandomFourier, Relu
from mezzotint.attention.linear.linformer import linformer_attention
from mezzotint.attention.linear.operation import linear_attention
from mezzotint.attention.linear.projections import orthogonal_projections
from mezzotint.attention.reference import attention_reference
from mezzotint.attention.sdpa import attention_sdpa
from mezzotint.attention.stopwatch import milliseconds
from mezzotint.benchmarks.architectures.patterns import PATTERNS, Build
from mezzotint.memory.footprints.live_memory import counted

Attend: TypeAlias = Callable[[Tensor, Tensor, Tensor], Tensor]

TOKENS = (64, 256, 1024, 4096, 16384)
_HEADS, _HEAD_DIM, _BLOCK = 4, 32, 16
_RANDOM_FEATURES, _LINFORMER_KEYS = 128, 64
_FITTED = 1024  # slopes are fitted from so many tokens: below, constant work hides them
_SLOWEST = 4096  # most tokens of what materializes scores
# Slopes that the literature claims for operations.
_CLAIMED = {"dense": 2.0, "dense, scores in memory": 2.0, "strided": 2.0, "routing": 1.5}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingRow:
    """One kind of attention at one number of tokens; heads of 32, `heads` of them."""

    kind: str
    tokens: int
    heads: int
    operations: float  # FLOPs
    peak_bytes: int  # beyond the inputs
    milliseconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Slope:
    """Exponents of the number of tokens."""

    kind: str
    claimed: float  # of operations
    operations: float
    memory: float
    time: float


def kinds() -> Mapping[str, Attend]:
    """Return all kinds of attention: dense, by each sparse pattern, and in linear time."""
    sparse = {name: _sparse(build) for name, build in PATTERNS.items()}
    linear = {name: _linear(features) for name, features in _FEATURES.items()}
    return {
        "dense": attention_sdpa,
        "dense, scores in memory": _materialized,
        **sparse,
        **linear,
        "linformer": _linformer,
    }


def measure_scaling(tokens: Sequence[int] = TOKENS, chosen: Sequence[str] = ()) -> Iterator[ScalingRow]:
    """Measure each kind at each number of tokens, with random numbers in float32 on the CPU."""
    for kind, attend in kinds().items():
        if chosen and kind not in chosen:
            continue
        for count in tokens:
            if attend is _materialized and count > _SLOWEST:
                continue
            yield _measured(kind, attend, count)


def slopes(rows: Sequence[ScalingRow]) -> list[Slope]:
    """Fit the slopes of each kind measured at two numbers of tokens or more."""
    found = []
    for kind in dict.fromkeys(row.kind for row in rows):
        mine = [row for row in rows if row.kind == kind and row.tokens >= _FITTED]
        if len(mine) < 2:
            continue
        found.append(
            Slope(
                kind=kind,
                claimed=_CLAIMED.get(kind, 1.0),
                operations=_slope(mine, lambda row: row.operations),
                memory=_slope(mine, lambda row: row.peak_bytes),
                time=_slope(mine, lambda row: row.milliseconds),
            )
        )
    return found


def _measured(kind: str, attend: Attend, count: int) -> ScalingRow:
    generator = torch.Generator().manual_seed(count)
    q, k, v = (torch.randn(1, _HEADS, count, _HEAD_DIM, generator=generator) for _ in range(3))
    with counted() as memory:
        attend(q, k, v)
    with torch.no_grad():
        took = milliseconds([lambda: attend(q, k, v)], q.device)
    return ScalingRow(
        kind=kind,
        tokens=count,
        heads=_HEADS,
        operations=memory.operations,
        peak_bytes=memory.peak,
        milliseconds=took,
    )


def _slope(rows: Sequence[ScalingRow], value: Callable[[ScalingRow], float]) -> float:
    """Least squares of log value by log tokens."""
    points = [(math.log(row.tokens), math.log(max(value(row), 1e-9))) for row in rows]
    middle_x, middle_y = (math.fsum(each) / len(points) for each in zip(*points, strict=True))
    spread = math.fsum((x - middle_x) ** 2 for x, _ in points)
    return math.fsum((x - middle_x) * (y - middle_y) for x, y in points) / spread


def _sparse(build: Build) -> Attend:
    return lambda q, k, v: block_attention(q, k, v, build(q, k, _BLOCK))


def _linear(features: FeatureMap) -> Attend:
    return lambda q, k, v: linear_attention(q, k, v, features)


def _linformer(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    projection = torch.ones(1, _LINFORMER_KEYS, k.shape[2]) / k.shape[2]
    return linformer_attention(q, k, v, projection, projection)


_PROJECTION = orthogonal_projections(1, _RANDOM_FEATURES, _HEAD_DIM, 0)
_FEATURES: Mapping[str, FeatureMap] = {
    "efficient": Efficient(),
    "linear transformer": Elu(),
    "performer": PositiveRandom(_PROJECTION, _HEAD_DIM**-0.5),
    "random features": RandomFourier(_PROJECTION, torch.ones(1, 1, _HEAD_DIM)),
    "sana": Relu(),
}


def _materialized(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return attention_reference(q, k, v)[0]
