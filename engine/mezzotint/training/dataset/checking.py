"""What training on a dataset would see: its buckets, what is cropped away, and every problem, without training."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mezzotint.training.dataset.buckets import Crop, Size, bucket_for, crop_for
from mezzotint.training.dataset.records import Dataset, Problem, TrainingImage
from mezzotint.trouble import shown

MUCH_CUT = 0.25  # share of an image from which on cropping is a problem

CountTokens = Callable[[str], tuple[int, int]]  # of a caption: its tokens, and how many of them the model reads


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketCount:
    """A bucket, and how many images are in it."""

    width: int
    height: int
    images: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageCrop:
    """An image, and what is used of it."""

    path: Path
    crop: Crop


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetReport:
    """The result of a check."""

    images: int  # to learn from
    regularization: int  # further images, which keep the model from forgetting
    captioned: int  # of both
    per_epoch: int  # both, counting repeats
    buckets: tuple[BucketCount, ...]  # largest first
    crops: tuple[ImageCrop, ...]  # in the dataset's order
    problems: tuple[Problem, ...]  # errors first

    @property
    def is_trainable(self) -> bool:
        """Whether there is anything to learn from."""
        return self.images > 0


def check(
    dataset: Dataset, *, resolution: int, multiple: int, count_tokens: CountTokens | None = None
) -> DatasetReport:
    """Check a dataset for a model of that resolution, whose image sides are multiples of `multiple`."""
    sizes = [bucket_for(one.width, one.height, area=resolution**2, multiple=multiple) for one in dataset.images]
    crops = [crop_for(one.width, one.height, size) for one, size in zip(dataset.images, sizes, strict=True)]
    problems = [*dataset.problems]
    for image, crop in zip(dataset.images, crops, strict=True):
        problems.extend(_size_problems(dataset, image, crop, resolution, multiple))
        problems.extend(_token_problems(dataset, image, count_tokens))
    regularization = sum(image.regularization for image in dataset.images)
    return DatasetReport(
        images=len(dataset.images) - regularization,
        regularization=regularization,
        captioned=sum(bool(image.captions) for image in dataset.images),
        per_epoch=sum(image.repeats for image in dataset.images),
        buckets=_counted(sizes),
        crops=tuple(ImageCrop(path=one.path, crop=crop) for one, crop in zip(dataset.images, crops, strict=True)),
        problems=tuple(sorted(problems, key=lambda problem: problem.severity != "error")),
    )


def _counted(sizes: list[Size]) -> tuple[BucketCount, ...]:
    counts = sorted(Counter(sizes).items(), key=lambda item: (-item[1], item[0]))
    return tuple(BucketCount(width=width, height=height, images=count) for (width, height), count in counts)


def _size_problems(
    dataset: Dataset, image: TrainingImage, crop: Crop, resolution: int, multiple: int
) -> Iterator[Problem]:
    """Warn of an image that is smaller than the bucket of its shape, or of which much is cut away."""
    name, size = _name(dataset, image), f"{image.width}x{image.height}"
    area = resolution**2
    full = bucket_for(image.width * area, image.height * area, area=area, multiple=multiple)
    if crop.scale > 1:
        yield _warning(
            image,
            f"{name} is only {size}: it is enlarged to {crop.width}x{crop.height}; use a larger one, or remove it",
        )
    elif crop.width * crop.height < full[0] * full[1]:
        yield _warning(
            image,
            f"{name} is {size}, smaller than its bucket of {full[0]}x{full[1]}: it is trained at {crop.width}x"
            f"{crop.height} and not enlarged, and need not be; a larger original shows more detail",
        )
    if crop.cut > MUCH_CUT:
        yield _warning(
            image,
            f"{name}: {crop.cut:.0%} of it is cut away, since it is trained at {crop.width}x{crop.height}; crop it "
            "yourself around what matters",
        )


def _token_problems(dataset: Dataset, image: TrainingImage, count_tokens: CountTokens | None) -> Iterator[Problem]:
    """Warn of captions that are longer than the model reads."""
    if count_tokens is None:
        return
    for caption in image.captions:
        tokens, read = count_tokens(caption)
        if tokens > read:
            name = _name(dataset, image)
            yield _warning(image, f"the caption of {name} has {tokens} tokens, but the model reads {read}: shorten it")


def _name(dataset: Dataset, image: TrainingImage) -> str:
    return shown(image.path.relative_to(dataset.folder))


def _warning(image: TrainingImage, message: str) -> Problem:
    return Problem(path=image.path, severity="warning", message=message)
