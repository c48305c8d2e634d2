"""Merging of LoRAs into weights after they arrived on the device; the host's copies are not modified."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from mezzotint.memory.weights import Weight
from mezzotint.quantization.branched import merge, merged_branches, same_branches
from mezzotint.quantization.transform import Delta

Targets = Sequence[tuple[Weight, Tensor]]  # weights and their tensors on the device


class Merging:
    """The branches of a network's weights while it is on a device."""

    def __init__(self) -> None:
        self._wanted: Mapping[str, tuple[Delta, ...]] = {}
        self._merged: dict[str, tuple[Delta, ...] | None] = {}  # into resident weights; None: merging was interrupted

    def update_branches(self, network: nn.Module) -> bool:
        """Update the branches to merge; whether they changed."""
        before, self._wanted = self._wanted, merged_branches(network)
        names = {*before, *self._wanted}
        return not all(same_branches(before.get(name, ()), self._wanted.get(name, ())) for name in names)

    def into_streamed(self, targets: Targets) -> None:
        """Merge into weights that just arrived, unmodified, from the host."""
        for weight, target in targets:
            if branches := self._branches(weight):
                _merge(target, branches)

    def into_resident(self, targets: Targets) -> None:
        """Merge into resident weights; those with other branches than before are fetched again first."""
        for weight, target in targets:
            branches, held = self._branches(weight), self._merged.get(weight.name, ())
            if held is not None and same_branches(held, branches):
                continue
            self._merged[weight.name] = None
            if held != ():
                with torch.no_grad():
                    weight.source.read_into(target)
            if branches:
                _merge(target, branches)
            self._merged[weight.name] = branches

    def _branches(self, weight: Weight) -> tuple[Delta, ...]:
        branches = self._wanted.get(weight.name, ())
        if branches and len(weight.places) > 1:
            raise ValueError(f"{weight.name} is shared by {len(weight.places)} layers, of which one has branches")
        return branches


def _merge(target: Tensor, branches: Sequence[Delta]) -> None:
    with torch.no_grad():
        merge(target, target, branches)
