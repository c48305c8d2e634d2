"""The `architecture` table of a network's configuration: one field for each thing that varies."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Literal, TypeAlias, get_args

from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import ModelRefused

Trunk: TypeAlias = Literal["sequential", "reversible"]
FeedForwardKind: TypeAlias = Literal[
    "mlp", "gated", "mixffn", "resnet", "depthwise", "group_shuffle", "spatial", "bottleneck", "mbconv"
]
Norm: TypeAlias = Literal["layer", "rms"]
Modulation: TypeAlias = Literal["shared", "zero"]
Skips: TypeAlias = Literal["none", "long"]
Pyramid: TypeAlias = Literal["none", "merge"]
Tokens: TypeAlias = Literal["all", "pooled", "selected"]
Depth: TypeAlias = Literal["unique", "shared", "looped", "early_exit"]
Condition: TypeAlias = Literal["none", "concat", "cross"]

LOW_RESOLUTION = ("low_resolution", "low_resolution_noise")  # what a condition is given: latents, and their noise level
CONVOLUTIONS: tuple[FeedForwardKind, ...] = get_args(FeedForwardKind)[2:]  # which work on the grid of tokens
AttentionKind: TypeAlias = Literal[
    "dense", "local", "dilated", "strided", "block_sparse", "longformer", "bigbird", "lsh", "routing",
    "efficient", "linear", "performer", "rfa", "relu", "linformer",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """How a network differs from PixArt's; the defaults are PixArt's own."""

    trunk: Trunk = "sequential"  # how blocks follow one another
    attention: AttentionKind = "dense"  # of image tokens to one another
    feed_forward: FeedForwardKind = "mlp"
    norm: Norm = "layer"
    modulation: Modulation = "shared"  # by the timestep: one for all blocks, or each block's own
    skips: Skips = "none"  # from the first blocks to the last
    pyramid: Pyramid = "none"  # whether the middle blocks work on merged tokens
    tokens: Tokens = "all"  # which tokens the middle blocks work on
    depth: Depth = "unique"  # which weights each block has, and whether all blocks run
    condition: Condition = "none"  # how the latents of a smaller image are an input


_KINDS: Mapping[str, tuple[str, ...]] = {
    "trunk": get_args(Trunk),
    "attention": get_args(AttentionKind),
    "feed_forward": get_args(FeedForwardKind),
    "norm": get_args(Norm),
    "modulation": get_args(Modulation),
    "skips": get_args(Skips),
    "pyramid": get_args(Pyramid),
    "tokens": get_args(Tokens),
    "depth": get_args(Depth),
    "condition": get_args(Condition),
}
# Kinds that cannot be combined, and why.
_CONFLICTS: Sequence[tuple[str, tuple[str, ...], str, tuple[str, ...], str]] = (
    ("trunk", ("reversible",), "skips", ("long",), "a kept activation is what a reversible trunk avoids"),
    ("trunk", ("reversible",), "pyramid", ("merge",), "merging tokens cannot be reversed"),
    ("trunk", ("reversible",), "tokens", ("pooled", "selected"), "leaving tokens out cannot be reversed"),
    ("trunk", ("reversible",), "depth", ("early_exit",), "the result would depend on which blocks ran"),
    ("pyramid", ("merge",), "tokens", ("pooled", "selected"), "both say what the middle blocks work on"),
    ("tokens", ("selected",), "feed_forward", CONVOLUTIONS, "selected tokens have no grid for a convolution"),
    ("depth", ("early_exit",), "skips", ("long",), "the blocks that are left out are those with skips"),
)


def read_architecture(value: object) -> Architecture:
    """Validate the table; raises ModelRefused for fields, kinds and combinations that this version does not know."""
    if not isinstance(value, Mapping):
        raise ModelRefused(f"the architecture is {plain(value, 40)}, not a table")
    names = [field.name for field in fields(Architecture)]
    for name, kind in value.items():
        if name not in names:
            raise ModelRefused(f"architecture.{plain(name, 40)} is not known; known are {', '.join(names)}")
        if kind not in _KINDS[name]:
            *others, last = _KINDS[name]
            raise ModelRefused(
                f"architecture.{name} is {plain(kind, 40)}; it can be {', '.join(others)} or {last}, or a newer "
                "version of Mezzotint is needed"
            )
    return _combined(Architecture(**value))


def stated(architecture: Architecture) -> dict[str, str]:
    """The table of an architecture: what differs from PixArt, so that versions without other fields can read it."""
    return {name: kind for name, kind in asdict(architecture).items() if kind != getattr(Architecture(), name)}


def _combined(architecture: Architecture) -> Architecture:
    for one, kinds, other, others, reason in _CONFLICTS:
        first, second = getattr(architecture, one), getattr(architecture, other)
        if first in kinds and second in others:
            raise ModelRefused(
                f"architecture.{one} {first} and architecture.{other} {second} exclude each other: {reason}"
            )
    return architecture
