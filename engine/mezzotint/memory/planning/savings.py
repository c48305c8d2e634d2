"""What the options that trade fidelity for speed save, as far as it can be known before."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from mezzotint.memory.footprints.footprint import ScalingLaw
from mezzotint.option_values import DeepShrink, TokenReduction

# Part of the activations that a step cache keeps, at most: two hidden states; an MLP alone has four times their width.
_KEPT = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Savings:
    """The options of a stage."""

    tokens: TokenReduction | None = None
    deep_shrink: DeepShrink | None = None
    step_cache: float | None = None

    @property
    def attention(self) -> float:
        """The part of the operations of attention that is left."""
        if self.tokens is None:
            return 1.0
        method, ratio = self.tokens
        return 1 - ratio if method == "todo" else (1 - ratio) ** 2

    def operations(self, work: ScalingLaw, positions: float, batch: int) -> float:
        """Operations of a forward pass, on average over the schedule."""
        reduced = replace(
            work,
            per_position_squared=work.per_position_squared * self.attention,
            once_per_position_squared=work.once_per_position_squared * self.attention,
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
        names = [name for name, used in (("tokens", self.tokens), ("deep-shrink", self.deep_shrink)) if used]
        whole = work.at(positions)
        if names and whole:
            share = 1 - self.operations(work, positions, 1) / whole
            yield f"--{' and --'.join(names)}: a step takes about {share:.0%} less computing".replace("%", " %")
        if self.step_cache:
            yield "--step-cache: the times are those without it, since how many steps it skips depends on the image"


NO_SAVINGS = Savings()
