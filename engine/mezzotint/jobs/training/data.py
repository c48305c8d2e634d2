"""The images of a training: which are in each batch, and with which text."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mezzotint.training.dataset.buckets import Size, batches, bucket_for
from mezzotint.training.dataset.captions import CaptionOptions, caption_for
from mezzotint.training.dataset.draws import generator
from mezzotint.training.dataset.records import TrainingImage


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """What image sizes depend on."""

    resolution: int
    multiple: int
    factor: int  # pixels per latent, along a side

    @property
    def side(self) -> int:
        """The side of a square image."""
        return self.resolution // self.multiple * self.multiple

    def bucket(self, image: TrainingImage) -> Size:
        """The size that an image is cropped to."""
        return bucket_for(image.width, image.height, area=self.resolution**2, multiple=self.multiple)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """An image of a batch, and how it is seen there."""

    image: TrainingImage
    caption: str
    flipped: bool


class Feed:
    """The images of each batch, a pure function of its number; half of them are regularization images if any are."""

    def __init__(
        self,
        images: Sequence[TrainingImage],
        geometry: Geometry,
        *,
        batch: int,
        captions: CaptionOptions,
        flip: bool,
        seed: int,
    ) -> None:
        self._captions, self._flip, self._seed = captions, flip, seed
        held = [each for each in images if each.regularization]
        own = batch if not held else math.ceil(batch / 2)
        self._own = _Stream([each for each in images if not each.regularization], geometry, own, seed)
        self._held = _Stream(held, geometry, max(1, batch - own), seed) if held else None
        self._alternates = batch == 1

    def chosen(self, number: int) -> list[Chosen]:
        """The batch of a number, from 0."""
        if self._held is None:
            images = self._own.batch(number)
        elif self._alternates:
            images = (self._held if number % 2 else self._own).batch(number // 2)
        else:
            images = [*self._own.batch(number), *self._held.batch(number)]
        return [self._seen(image, number, place) for place, image in enumerate(images)]

    def _seen(self, image: TrainingImage, number: int, place: int) -> Chosen:
        step = number * 1000 + place  # an image may be in a batch twice
        flipped = self._flip and generator("flip", self._seed, step).random() < 0.5
        return Chosen(
            image=image, caption=caption_for(image, self._captions, seed=self._seed, step=step), flipped=flipped
        )


class _Stream:
    """Batches of some of the images, epoch after epoch."""

    def __init__(self, images: Sequence[TrainingImage], geometry: Geometry, batch: int, seed: int) -> None:
        self._images, self._batch, self._seed = images, batch, seed
        self._buckets = [geometry.bucket(each) for each in images]
        self._epochs: dict[int, list[list[int]]] = {}
        self._length = len(self._of_epoch(0))

    def batch(self, number: int) -> list[TrainingImage]:
        epoch, place = divmod(number, self._length)
        return [self._images[index] for index in self._of_epoch(epoch)[place]]

    def _of_epoch(self, epoch: int) -> list[list[int]]:
        if epoch not in self._epochs:
            self._epochs = {epoch: batches(self._images, self._buckets, self._batch, seed=self._seed, epoch=epoch)}
        return self._epochs[epoch]


def untouched(image: TrainingImage) -> Chosen:
    """An image as it is, with its first caption."""
    return Chosen(image=image, caption=image.captions[0] if image.captions else "", flipped=False)
