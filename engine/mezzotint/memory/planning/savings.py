"""What the options that trade fidelity for speed save, as far as it can be known before."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from mezzotint.memory.footprints.footprint import ScalingLaw
from mezzotint.values.speed import MIN_TOKENS, DeepShrink, SparseAttention, TokenReduction, density_at, tile_counts

# Part of the activations that a step cache keeps, at most: two hidden states; an MLP alone has four times their width.
_KEPT = 0.4
_TILE = 64  # tokens
# Of U-Nets, whose layers attend at several sizes: halvings of the sides before each, and their shares of the operations
# of attention. Transformers have half as many tokens as latents along each side.
_SIZES = {"sd15": ((0, 0.88), (1, 0.11), (2, 0.01)), "sdxl": ((1, 0.57), (2, 0.43))}
_OF_TRANSFORMERS = ((1, 1.0),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Savings:
    """The options of a stage."""

    family: str = ""
    tokens: TokenReduction | None = None
    sparse_attention: SparseAttention | None = None
    deep_shrink: DeepShrink | None = None
    step_cache: float | None = None

    def attention(self, positions: float) -> float:
        """The part of the operations of attention that is left, of an image of so many latents."""
        if self.sparse_attention is not None:
            sizes = _SIZES.get(self.family, _OF_TRANSFORMERS)
            changed = sizes[:1] if self.sparse_attention[0] == "tiles" else sizes
            left = sum(share * _sparse(self.sparse_attention, positions / 4**times) for times, share in changed)
            return left + sum(share for _, share in sizes[len(changed) :])
        if self.tokens is None:
            return 1.0
        method, ratio = self.tokens
        return 1 - ratio if method == "todo" else (1 - ratio) ** 2

    def operations(self, work: ScalingLaw, positions: float, batch: int) -> float:
        """Operations of a forward pass, on average over the schedule."""
        left = self.attention(positions)
        reduced = replace(
            work,
            per_position_squared=work.per_position_squared * left,
            once_per_position_squared=work.once_per_position_squared * left,
        )
        whole = reduced.at(positions, batch)
        if self.deep_shrink is None:
            return whole
        factor, until = self.deep_shrink
        return (1 - until) * whole + until * work.at(positions / factor**2, batch)  # levels below the first do most

    def kept_bytes(self, live_bytes: int) -> int:
        """Bytes kept from step to step, by the bytes of activations of both guidance halves."""
        return int(_KEPT * live_bytes) if self.step_cache else 0

    def reasons(self, work: ScalingLaw, positions: float) -> Iterator[str]:
        """Sentences about what is saved."""
        options = {
            "tokens": self.tokens,
            "sparse-attention": self.sparse_attention if self.attention(positions) < 1 else None,
            "deep-shrink": self.deep_shrink,
        }
        names = [name for name, used in options.items() if used]
        whole = work.at(positions)
        if names and whole:
            share = 1 - self.operations(work, positions, 1) / whole
            yield f"--{' and --'.join(names)}: a step takes about {share:.0%} less computing".replace("%", " %")
        if self.sparse_attention is not None and "sparse-attention" not in names:
            yield f"--sparse-attention: nothing is saved below {MIN_TOKENS} image tokens, unless a density is given"
        if self.step_cache:
            yield "--step-cache: the times are those without it, since how many steps it skips depends on the image"


def _sparse(how: SparseAttention, tokens: float) -> float:
    """The part of a layer's operations that is left: blocks, the means of all others, and the scores that choose."""
    density = density_at(how, tokens)
    if how[0] == "tiles":
        return _in_tiles(*tile_counts(density, math.sqrt(tokens), math.sqrt(tokens)))
    more = {"pooled": 1 / _TILE + 1 / _TILE**2, "topk": 1 / _TILE**2, "window": 0.0}[how[0]]
    return 1.0 if density >= 1 else min(1.0, density + more)


def _in_tiles(rows: int, columns: int) -> float:
    """The mean of layers with tiles and of those shifted, whose first and last tiles are half as long."""
    shifted = math.prod((count - 0.5) / count**2 if count > 1 else 1.0 for count in (rows, columns))
    return (1 / (rows * columns) + shifted) / 2


NO_SAVINGS = Savings()
