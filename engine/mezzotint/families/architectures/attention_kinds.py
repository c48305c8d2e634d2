"""The self-attention of each kind: a processor of diffusers, with what it stores.

The projections of queries, keys, values and outputs are those of dense attention, so its weights fit every kind. The
processors are none that a job's attention session replaces.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

from mezzotint.attention.linear.features import Efficient, Elu, Relu
from mezzotint.families.architectures.kind_processor import Grid, KindProcessor
from mezzotint.families.architectures.linear_kinds import (
    LinformerProcessor,
    MappedProcessor,
    PerformerProcessor,
    RfaProcessor,
)
from mezzotint.families.architectures.sparse_kinds import (
    BlockSparseProcessor,
    LshProcessor,
    PatternProcessor,
    RoutingProcessor,
)
from mezzotint.families.architectures.sparse_patterns import PATTERNS
from mezzotint.families.architectures.table import AttentionKind

Layer: TypeAlias = Any  # diffusers.models.attention_processor.Attention, which has no type annotations
# From the numbers of heads and of channels of each, the grid of tokens that the network is made for, and the layer.
Kind: TypeAlias = Callable[[int, int, Grid, int], KindProcessor]

KINDS: Mapping[AttentionKind, Kind] = {
    **{kind: partial(PatternProcessor, pattern) for kind, pattern in PATTERNS.items()},
    "block_sparse": BlockSparseProcessor,
    "lsh": LshProcessor,
    "routing": RoutingProcessor,
    "efficient": partial(MappedProcessor, Efficient()),
    "linear": partial(MappedProcessor, Elu()),
    "performer": PerformerProcessor,
    "rfa": RfaProcessor,
    "relu": partial(MappedProcessor, Relu()),
    "linformer": LinformerProcessor,
}


def set_attention(layer: Layer, kind: AttentionKind, grid: Grid, number: int) -> None:
    """Let the layer attend by a kind, in the block of that number; dense attention stays diffusers' own."""
    if kind != "dense":
        layer.set_processor(KINDS[kind](layer.heads, layer.inner_dim // layer.heads, grid, number))


def place(layer: Layer, grid: Grid | None) -> None:
    """Tell a layer's processor how its tokens lie: None if they are not all of an image's."""
    if isinstance(layer.processor, KindProcessor):
        layer.processor.grid = grid
