"""Choose the blocks that a model needs least: one after another, each time the one that changes the output least."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from mezzotint.errors import Cancelled, UsageError
from mezzotint.families.family import Family, LoadedModel
from mezzotint.families.text.conditionings import moved
from mezzotint.jobs.training.pairs import TeacherPairs
from mezzotint.protocol import IsCancelled
from mezzotint.training.objective import Objective
from mezzotint.training.skipping import SkippableBlocks
from mezzotint.training.trainer import TrainedImage

_COMPARED = 8  # pairs, at as many noise levels each


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedBlock:
    """A block, and how far the output without it and those removed before is from the whole model's.

    That is the squared distance as a share of the squared output.
    """

    name: str
    distance: float


class Comparison:
    """What the whole model predicts for some pairs at some noise levels, to compare with."""

    def __init__(
        self, family: Family, model: LoadedModel, objective: Objective, pairs: TeacherPairs, batch: int
    ) -> None:
        """`batch`: predictions in each pass."""
        self._family, self._model, self._objective = family, model, objective
        levels = objective.spread(_COMPARED)
        images = [pairs.pair(number) for number in range(_COMPARED)]
        self._unguided = pairs.pair(0, guided=False)
        self._inputs = []
        for place, image in enumerate(images):
            noise = torch.randn(_COMPARED, *image.latents.shape, generator=torch.Generator().manual_seed(place))
            for first in range(0, _COMPARED, batch):
                some = levels[first : first + batch]
                self._inputs.append(([image] * len(some), noise[first : first + batch], some))
        with torch.no_grad():
            self._wanted = [self._predict(*each).float().cpu() for each in self._inputs]

    def once(self) -> torch.Tensor:
        """A single forward pass."""
        _, noise, levels = self._inputs[0]
        return self._predict([self._unguided], noise[:1], levels[:1])

    def distance(self) -> float:
        """Squared distance of what the network predicts now, as a share of the squared prediction of the whole."""
        with torch.no_grad():
            apart = sum(
                float((self._predict(*each).float().cpu() - wanted).square().sum())
                for each, wanted in zip(self._inputs, self._wanted, strict=True)
            )
        return apart / sum(float(wanted.square().sum()) for wanted in self._wanted)

    def _predict(self, images: Sequence[TrainedImage], noise: torch.Tensor, levels: torch.Tensor) -> torch.Tensor:
        device, clean = self._model.device, torch.stack([image.latents for image in images])
        sample, timesteps = self._objective.mixed(clean, noise, levels), self._objective.timesteps(levels)
        conditioning = moved(self._family.join([image.conditioning for image in images]), device)
        return self._family.predict(self._model, sample.to(device), timesteps.to(device), conditioning)


def choose_blocks(
    blocks: SkippableBlocks,
    count: int,
    distance: Callable[[], float],
    on_done: Callable[[int, int], None],
    cancelled: IsCancelled,
) -> tuple[RemovedBlock, ...]:
    """The blocks to remove, in that order. Raises UsageError for as many as there are, or Cancelled."""
    names = blocks.names
    check_count(count, len(names))
    removed: list[RemovedBlock] = []
    done, total = 0, sum(len(names) - place for place in range(count))
    for _ in range(count):
        gone, found = [each.name for each in removed], []
        for name in names:
            if name in gone:
                continue
            if cancelled():
                raise Cancelled("stopped before blocks were chosen; the images are kept and used next time")
            with blocks.skipping([*gone, name]):
                found.append(RemovedBlock(name=name, distance=distance()))
            done += 1
            on_done(done, total)
        removed.append(min(found, key=lambda each: each.distance))
    return tuple(removed)


def check_count(count: int, blocks: int) -> None:
    """Raise UsageError for a number of blocks that cannot be removed of as many."""
    if not 1 <= count < blocks:
        raise UsageError(f"--blocks is {count}; of this model's {blocks} blocks 1 to {blocks - 1} can be removed")
