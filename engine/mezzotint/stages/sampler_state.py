"""What a step changes, kept so that the step can be done again and comes out the same."""

from typing import Any

import torch

from mezzotint.families.family import Scheduler


class SamplerState:
    """A scheduler and a generator as they are now.

    Schedulers put new tensors in the place of old ones and never write into them, so that lists are copied, and
    tensors are not.
    """

    def __init__(self, scheduler: Scheduler, generator: torch.Generator) -> None:
        self._scheduler, self._generator = scheduler, generator
        self._values = {name: _copied(value) for name, value in vars(scheduler).items()}
        self._noise = generator.get_state()

    def restore(self) -> None:
        """Put everything back."""
        self._scheduler.__dict__.clear()
        self._scheduler.__dict__.update({name: _copied(value) for name, value in self._values.items()})
        self._generator.set_state(self._noise)


def _copied(value: Any) -> Any:  # noqa: ANN401  whatever a scheduler remembers
    if isinstance(value, list):
        return list(value)
    return dict(value) if type(value) is dict else value
