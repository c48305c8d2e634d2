"""The class of each kind of trunk: all blocks of a network, from the embedding to the output layers."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from torch import Tensor

from mezzotint.families.architectures.blocks import ModulatedBlock
from mezzotint.families.architectures.reversible import ReversibleTrunk
from mezzotint.families.architectures.table import Trunk


class TrunkKind(Protocol):
    """How the blocks of a network follow one another."""

    @property
    def block(self) -> type[ModulatedBlock]:
        """Class of the blocks, which takes the arguments of diffusers' BasicTransformerBlock."""

    @property
    def is_reversible(self) -> bool:
        """Whether training keeps no activations of the blocks."""

    def run(self, units: Sequence[Any], hidden: Tensor, conditions: Mapping[str, Any]) -> Tensor:
        """Return the tokens `(b, n, d)` after all blocks."""


class SequentialTrunk:
    """One block after another, as in PixArt."""

    block = ModulatedBlock
    is_reversible = False

    def run(self, units: Sequence[Any], hidden: Tensor, conditions: Mapping[str, Any]) -> Tensor:
        """Return the tokens `(b, n, d)` after all blocks."""
        for unit in units:
            hidden = unit(hidden, **conditions)
        return hidden


TRUNKS: Mapping[Trunk, TrunkKind] = {"sequential": SequentialTrunk(), "reversible": ReversibleTrunk()}
