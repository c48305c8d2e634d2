"""Snapshot of the state that a step changes, so that a repeated step gives the same result."""

from collections.abc import Sequence
from typing import Any

import torch

from mezzotint.families.family import Scheduler


class SamplerState:
    """A snapshot of a scheduler and the generators of the images.

    Schedulers replace tensors and never write into them, so lists are copied and tensors are not.
    """

    def __init__(self, scheduler: Scheduler, generators: Sequence[torch.Generator]) -> None:
        self._scheduler, self._generators = scheduler, list(generators)
        self._values = {name: _copied(value) for name, value in vars(scheduler).items()}
        self._noise = [generator.get_state() for generator in self._generators]

    def restore(self) -> None:
        """Restore the saved state."""
        self._scheduler.__dict__.clear()
        self._scheduler.__dict__.update({name: _copied(value) for name, value in self._values.items()})
        for generator, noise in zip(self._generators, self._noise, strict=True):
            generator.set_state(noise)


def _copied(value: Any) -> Any:  # noqa: ANN401  any attribute of a scheduler
    if isinstance(value, list):
        return list(value)
    return dict(value) if type(value) is dict else value
