"""Aspect-ratio buckets: sizes that images are cropped to, so that those of one batch have the same."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from mezzotint.errors import UsageError
from mezzotint.images.canvas import middle
from mezzotint.training.dataset.draws import generator, shuffled
from mezzotint.training.dataset.records import TrainingImage

Size = tuple[int, int]  # width, height

MAX_EPOCH = 10_000_000  # images with their repeats


@dataclass(frozen=True, slots=True, kw_only=True)
class Crop:
    """How an image becomes one of its bucket's size: the box is cut out and scaled."""

    width: int
    height: int
    box: tuple[float, float, float, float]  # left, top, right, bottom, in the image's pixels
    cut: float  # share of the image that is outside the box
    scale: float  # of the bucket's pixels to the image's; above 1 it is enlarged

    @property
    def left_top(self) -> tuple[int, int]:
        """Pixels cut away left and above, at the bucket's scale: what SDXL is told as its crop."""
        return round(self.box[0] * self.scale), round(self.box[1] * self.scale)


def bucket_for(width: int, height: int, *, area: int, multiple: int) -> Size:
    """The bucket of an image: sides in multiples, at most `area` pixels, never larger than the image.

    Of the buckets that cannot grow in either direction it is the one that cuts the least away. An image that is
    narrower than one multiple gets a side of one multiple, and is enlarged to it. Raises UsageError for an area below
    one multiple squared.
    """
    cells = area // multiple**2
    if cells < 1:
        raise UsageError(f"an area of {area} pixels is too small for sides of {multiple}: raise the resolution")
    most = (min(max(1, width // multiple), cells), min(max(1, height // multiple), cells))
    sizes = [(columns * multiple, rows * multiple) for columns, rows in _nearest(width / height, most, cells)]
    return max(sizes, key=lambda size: _preference(size, width, height))


def _nearest(ratio: float, most: Size, cells: int) -> list[Size]:
    """Of the largest grids within `most` and `cells`, the two whose ratios are next to this one."""
    columns, rows = most
    # The highest grid of each width: the wider, the higher the ratio.
    wide = 1 + bisect_left(range(1, columns), ratio, key=lambda width: width / min(rows, cells // width))
    low = min(rows, cells // wide)
    found = [(min(columns, cells // low), low)]
    if low < rows:
        narrow = min(columns, cells // (low + 1))
        found.append((narrow, min(rows, cells // narrow)))
    return found


def _preference(size: Size, width: int, height: int) -> tuple[float, int, int]:
    """What is kept of the image, then the bucket's area, then how close it is to a square."""
    return _kept(size, width, height), size[0] * size[1], -max(size)


def _kept(size: Size, width: int, height: int) -> float:
    sides = size[0] * height, size[1] * width
    return min(sides) / max(sides)


def crop_for(width: int, height: int, bucket: Size) -> Crop:
    """The centred crop of an image for its bucket."""
    return Crop(
        width=bucket[0],
        height=bucket[1],
        box=middle((width, height), *bucket),
        cut=1 - _kept(bucket, width, height),
        scale=max(bucket[0] / width, bucket[1] / height),
    )


def batches(
    images: Sequence[TrainingImage], buckets: Sequence[Size], batch_size: int, *, seed: int, epoch: int
) -> list[list[int]]:
    """An epoch as batches of image indices: every image as often as its repeats, each batch from one bucket.

    `buckets` are those of the images. The last batch of a bucket may be smaller. The order depends on seed, epoch and
    what the images are, not on their names. Raises UsageError for more than MAX_EPOCH images.
    """
    total = sum(image.repeats for image in images)
    if total > MAX_EPOCH:
        raise UsageError(f"an epoch has {total} images, counting repeats; at most {MAX_EPOCH} are allowed: lower them")
    draws = generator("batches", seed, epoch)
    canonical = sorted(range(len(images)), key=lambda index: images[index].identity)
    repeated = [index for index in canonical for _ in range(images[index].repeats)]
    grouped: dict[Size, list[int]] = {}
    for index in shuffled(repeated, draws):
        grouped.setdefault(buckets[index], []).append(index)
    starts = [(group, start) for group in grouped.values() for start in range(0, len(group), batch_size)]
    return shuffled([group[start : start + batch_size] for group, start in starts], draws)
