"""The average of the factors over the training, which is what is written and tested."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from mezzotint.training.distributed import local


class MovingAverage:
    """An exponential moving average of parameters."""

    def __init__(self, parameters: Sequence[Tensor], decay: float) -> None:
        self._parameters, self._decay = [each.detach() for each in parameters], decay
        self.values = [each.clone() for each in self._parameters]

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Take in the parameters after a step, from 1; the first ones count for less."""
        keep = min(self._decay, step / (step + 10))
        values, parameters = [[local(each) for each in held] for held in (self.values, self._parameters)]
        torch._foreach_lerp_(values, parameters, 1 - keep)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Context manager: the parameters have the averages as values."""
        self._exchange()
        try:
            yield
        finally:
            self._exchange()

    @torch.no_grad()
    def _exchange(self) -> None:
        for parameter, average in zip(self._parameters, self.values, strict=True):
            kept = parameter.clone()
            parameter.copy_(average)
            average.copy_(kept)


@contextmanager
@torch.no_grad()
def evaluated(optimizer: Any, parameters: Sequence[Tensor]) -> Iterator[None]:  # noqa: ANN401  # an optional package
    """Context manager: the parameters are what a schedule-free optimizer (arXiv 2405.15682) has averaged.

    It would compute them back afterwards, with rounding errors; they are put back as they were instead.
    """
    kept = [each.detach().clone() for each in parameters]
    optimizer.eval()
    try:
        yield
    finally:
        optimizer.train()
        for parameter, before in zip(parameters, kept, strict=True):
            parameter.copy_(before)
