"""What a step changes, kept so that the step can be done again and comes out the same."""

from typing import Any, TypeAlias

import torch

from mezzotint.families.family import Scheduler

Generators: TypeAlias = torch.Generator | list[torch.Generator]  # one for each image that is made


def all_of(generators: Generators) -> list[torch.Generator]:
    """As a list, however many there are."""
    return generators if isinstance(generators, list) else [generators]


class SamplerState:
    """A scheduler and generators as they are now.

    Schedulers put new tensors in the place of old ones and never write into them, so that lists are copied, and
    tensors are not.
    """

    def __init__(self, scheduler: Scheduler, generators: Generators) -> None:
        self._scheduler, self._generators = scheduler, all_of(generators)
        self._values = {name: _copied(value) for name, value in vars(scheduler).items()}
        self._noise = [generator.get_state() for generator in self._generators]

    def restore(self) -> None:
        """Put everything back."""
        self._scheduler.__dict__.clear()
        self._scheduler.__dict__.update({name: _copied(value) for name, value in self._values.items()})
        for generator, noise in zip(self._generators, self._noise, strict=True):
            generator.set_state(noise)


def _copied(value: Any) -> Any:  # noqa: ANN401  whatever a scheduler remembers
    if isinstance(value, list):
        return list(value)
    return dict(value) if type(value) is dict else value
