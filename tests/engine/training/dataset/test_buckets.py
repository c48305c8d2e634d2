"""Buckets: sizes within bounds, centred crops, and epochs that contain every image as often as they should."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mezzotint.errors import UsageError
from mezzotint.training.dataset import buckets
from mezzotint.training.dataset.buckets import batches, bucket_for, crop_for
from mezzotint.training.dataset.records import TrainingImage

sides = st.integers(1, 4000)
multiples = st.sampled_from([8, 16, 32, 64])
resolutions = st.integers(64, 1536)


def kept(size, width, height):
    return min(size[0] * height, size[1] * width) / max(size[0] * height, size[1] * width)


def every_largest(width, height, area, multiple):
    """All sizes of the image or smaller that cannot grow on either side."""
    most = max(multiple, width), max(multiple, height)
    fits = {
        (w, h)
        for w in range(multiple, min(most[0], area // multiple) + 1, multiple)
        for h in [min(most[1], area // w) // multiple * multiple]
        if h
    }
    return {(w, h) for w, h in fits if w + multiple > most[0] or (w + multiple) * h > area}


@given(sides, sides, resolutions, multiples)
def test_a_bucket_is_the_largest_that_cuts_least(width, height, resolution, multiple):
    area = resolution**2
    size = bucket_for(width, height, area=area, multiple=multiple)
    candidates = every_largest(width, height, area, multiple)
    assert size in candidates
    assert kept(size, width, height) == max(kept(each, width, height) for each in candidates)


@given(sides, sides, resolutions, multiples)
def test_sides_are_multiples_within_the_area_and_the_image(width, height, resolution, multiple):
    size = bucket_for(width, height, area=resolution**2, multiple=multiple)
    assert size[0] % multiple == size[1] % multiple == 0
    assert multiple**2 <= size[0] * size[1] <= resolution**2
    assert size[0] <= max(multiple, width) and size[1] <= max(multiple, height)


@given(st.integers(2000, 4000), st.integers(2000, 4000), st.integers(256, 1536), multiples)
def test_large_images_fill_the_area_to_within_one_multiple(width, height, resolution, multiple):
    columns, rows = bucket_for(width, height, area=resolution**2, multiple=multiple)
    assert resolution**2 - columns * rows < multiple * min(columns, rows)


@given(sides, sides, resolutions, multiples)
@example(256, 128, 128, 16)  # two buckets cut as much
def test_a_turned_image_gets_the_turned_bucket(width, height, resolution, multiple):
    if width != height:
        how = {"area": resolution**2, "multiple": multiple}
        assert bucket_for(height, width, **how) == bucket_for(width, height, **how)[::-1]


@pytest.mark.parametrize(
    ("size", "bucket"),
    [
        ((4000, 4000), (1024, 1024)),
        ((1920, 1080), (1344, 768)),  # of SDXL's own training sizes
        ((1080, 1920), (768, 1344)),
        ((2400, 1600), (1216, 832)),
        ((700, 500), (640, 448)),  # not enlarged
        ((1000, 300), (960, 256)),
        ((30, 500), (64, 448)),  # at least one multiple
        ((1, 1), (64, 64)),
    ],
)
def test_buckets_of_common_images(size, bucket):
    assert bucket_for(*size, area=1024**2, multiple=64) == bucket


def test_a_resolution_below_one_multiple_is_refused():
    with pytest.raises(UsageError, match="an area of 3600 pixels is too small for sides of 64: raise the resolution"):
        bucket_for(100, 100, area=60**2, multiple=64)


# ---- crops


@given(sides, sides, resolutions, multiples)
def test_a_crop_is_centred_inside_the_image_and_as_large_as_it_can_be(width, height, resolution, multiple):
    bucket = bucket_for(width, height, area=resolution**2, multiple=multiple)
    crop = crop_for(width, height, bucket)
    left, top, right, bottom = crop.box
    assert (crop.width, crop.height) == bucket
    assert (left, top) == pytest.approx((width - right, height - bottom), abs=1e-9)
    assert left == pytest.approx(0, abs=1e-9) or top == pytest.approx(0, abs=1e-9)
    assert (right - left) / (bottom - top) == pytest.approx(bucket[0] / bucket[1])
    assert crop.cut == pytest.approx(1 - (right - left) * (bottom - top) / (width * height), abs=1e-9)
    assert (right - left) * crop.scale == pytest.approx(bucket[0])
    assert crop.scale <= 1 or min(width, height) < multiple


def test_a_crop_says_what_it_cuts():
    crop = crop_for(400, 200, (64, 64))
    assert crop.box == (100, 0, 300, 200)
    assert crop.cut == 0.5
    assert crop.scale == 0.32
    assert crop.left_top == (32, 0)


# ---- epochs

SIZES = [(64, 64), (128, 64), (64, 128)]


@st.composite
def datasets(draw):
    chosen = draw(st.lists(st.tuples(st.integers(1, 5), st.sampled_from(SIZES)), max_size=20))
    images = [
        TrainingImage(
            path=Path(f"{number}.png"),
            width=128,
            height=128,
            captions=(),
            caption_file=None,
            mask=None,
            repeats=repeats,
            content=str(number),
        )
        for number, (repeats, _) in enumerate(chosen)
    ]
    return images, [size for _, size in chosen]


@given(datasets(), st.integers(1, 6), st.integers(0, 2**63), st.integers(0, 100))
def test_an_epoch_contains_every_image_as_often_as_its_repeats(dataset, batch_size, seed, epoch):
    images, sizes = dataset
    made = batches(images, sizes, batch_size, seed=seed, epoch=epoch)
    counts = Counter(index for batch in made for index in batch)
    assert counts == {index: image.repeats for index, image in enumerate(images)}
    assert all(len({sizes[index] for index in batch}) == 1 for batch in made)
    assert all(1 <= len(batch) <= batch_size for batch in made)
    smaller = Counter(sizes[batch[0]] for batch in made if len(batch) < batch_size)
    assert all(count == 1 for count in smaller.values())
    assert made == batches(images, sizes, batch_size, seed=seed, epoch=epoch)


@given(datasets(), st.randoms(use_true_random=False))
def test_renamed_images_are_trained_in_the_same_order(dataset, random):
    images, sizes = dataset
    order = list(range(len(images)))
    random.shuffle(order)
    moved = batches([images[index] for index in order], [sizes[index] for index in order], 3, seed=1, epoch=2)
    assert [[order[index] for index in batch] for batch in moved] == batches(images, sizes, 3, seed=1, epoch=2)


def test_other_seeds_and_epochs_have_another_order(image_of):
    images = [image_of(number) for number in range(12)]
    made = {str(batches(images, [(64, 64)] * 12, 2, seed=seed, epoch=epoch)) for seed in (1, 2) for epoch in (0, 1, 2)}
    assert len(made) == 6


def test_the_order_is_the_same_in_every_version(image_of):
    images = [image_of(number, repeats=1 + number % 2) for number in range(4)]
    assert batches(images, [(64, 64)] * 4, 2, seed=7, epoch=3) == [[2, 3], [1, 3], [1, 0]]


def test_endless_epochs_are_refused(image_of, monkeypatch):
    monkeypatch.setattr(buckets, "MAX_EPOCH", 9)
    with pytest.raises(UsageError, match="an epoch has 10 images, counting repeats; at most 9 are allowed"):
        batches([image_of(repeats=10)], [(64, 64)], 1, seed=0, epoch=0)
