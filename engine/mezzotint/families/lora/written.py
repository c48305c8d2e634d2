"""Kinds of layers that are written besides plain LoRAs: DoRAs (arXiv 2402.09353) and LoKrs (arXiv 2309.14859)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar

import torch
from torch import Tensor

from mezzotint.families.loading.original_names import Rows, swapped
from mezzotint.families.lora.factors import LoraFactors, joined

if TYPE_CHECKING:
    from mezzotint.families.lora.dialects import Dialect

_Same = TypeVar("_Same", bound="WrittenLayer")


class WrittenLayer(Protocol):
    """What an adapter does to one layer, as it is written; also LoraFactors."""

    algorithm: ClassVar[str]  # LyCORIS's name of the kind; nothing: a plain LoRA

    @property
    def rank(self) -> int:
        """What alpha is divided by."""

    @property
    def alpha(self) -> float:
        """The scale of the update times the rank."""

    def with_alpha(self: _Same, alpha: float) -> _Same:
        """The same with another alpha than 0."""

    def swapped(self: _Same) -> _Same:
        """The same for a weight with swapped halves."""

    @classmethod
    def fused(cls: type[_Same], parts: Iterable[tuple[Rows, _Same]]) -> _Same:
        """The one layer of a fused weight, of which these are the rows."""

    def tensors(self, name: str, dialect: "Dialect") -> dict[str, Tensor]:
        """Tensors by name, given the layer's name in the dialect."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DoraFactors:
    """A LoRA, and the norms `(n)` of the weight's rows with it."""

    factors: LoraFactors
    magnitude: Tensor
    algorithm: ClassVar[str] = "dora"

    @property
    def rank(self) -> int:
        """Rank of the factors."""
        return self.factors.rank

    @property
    def alpha(self) -> float:
        """Alpha of the factors."""
        return self.factors.alpha

    def with_alpha(self, alpha: float) -> "DoraFactors":
        """The same with another alpha."""
        return DoraFactors(factors=self.factors.with_alpha(alpha), magnitude=self.magnitude)

    def swapped(self) -> "DoraFactors":
        """The same for a weight with swapped halves."""
        return DoraFactors(factors=self.factors.swapped(), magnitude=swapped(self.magnitude))

    @classmethod
    def fused(cls, parts: Iterable[tuple[Rows, "DoraFactors"]]) -> "DoraFactors":
        """The one layer of a fused weight; raises ValueError if rows are missing, as their norms would be."""
        known = list(parts)
        if sum(rows.count for rows, _ in known) != known[0][0].of:
            raise ValueError("a DoRA of a fused layer needs all of its parts")
        rows, first = known[0]
        magnitude = first.magnitude.new_empty(rows.whole(len(first.magnitude)))
        for place, each in known:
            place.take(magnitude)[:] = each.magnitude
        return cls(factors=joined((place, each.factors) for place, each in known), magnitude=magnitude)

    def tensors(self, name: str, dialect: "Dialect") -> dict[str, Tensor]:
        """Tensors by name; LyCORIS and ComfyUI have `dora_scale` for them, peft has `lora_magnitude_vector`."""
        window = (1,) * (self.factors.down.ndim - 2)
        if dialect.is_peft:
            shape = (1, -1, *window) if window else (-1,)
            return self.factors.tensors(name, dialect) | {
                f"{name}.lora_magnitude_vector": self.magnitude.reshape(shape)
            }
        named = {f"{name}.dora_scale": self.magnitude.reshape(-1, 1, *window)}
        return self.factors.tensors(name, dialect) | named


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LokrFactors:
    """A Kronecker product: its factors by LyCORIS's names, such as `lokr_w1`, `lokr_w2_a` and `lokr_w2_b`."""

    parts: Mapping[str, Tensor]
    rank: int
    alpha: float
    algorithm: ClassVar[str] = "lokr"

    def with_alpha(self, alpha: float) -> "LokrFactors":  # noqa: ARG002
        """The same: every program reads a LoKr's alpha beside its layer."""
        return self

    def swapped(self) -> "LokrFactors":
        """Raises ValueError: swapped rows are those of no Kronecker product."""
        raise ValueError("a LoKr cannot be written for swapped rows")

    @classmethod
    def fused(cls, parts: Iterable[tuple[Rows, "LokrFactors"]]) -> "LokrFactors":
        """Raises ValueError: several are no Kronecker product together."""
        raise ValueError(f"a LoKr cannot be written for a fused layer, of which there are {len(list(parts))} parts")

    def tensors(self, name: str, dialect: "Dialect") -> dict[str, Tensor]:  # noqa: ARG002
        """Tensors by name; the names are the same in every dialect."""
        alpha = torch.tensor(self.alpha, dtype=torch.float32)
        return {**{f"{name}.{part}": tensor for part, tensor in self.parts.items()}, f"{name}.alpha": alpha}
