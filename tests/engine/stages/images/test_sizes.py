"""Sizes: refused with the nearest that works."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.errors import UsageError
from mezzotint.stages.images.sizes import check_size, nearest_multiple, size_for_image

MULTIPLES = st.sampled_from([8, 16, 32])


@pytest.mark.parametrize(
    ("size", "nearest"),
    [
        ((0, 128), "64x128"),
        ((-8, 128), "64x128"),
        ((130, 128), "128x128"),
        ((127, 121), "128x120"),
        ((63, 63), "64x64"),
    ],
)
def test_refused_with_the_nearest(size, nearest):
    with pytest.raises(UsageError, match=nearest):
        check_size(size[0], size[1], 8)


def test_too_large_is_refused_before_memory_is_taken():
    with pytest.raises(UsageError, match="megapixels"):
        check_size(1 << 20, 1 << 20, 8)


@given(st.integers(-100, 9000), st.integers(-100, 9000), MULTIPLES)
def test_the_size_that_is_named_works(width, height, multiple):
    try:
        check_size(width, height, multiple)
    except UsageError as error:
        named = re.search(r"(\d+)x(\d+)$", str(error))
        if named:
            check_size(int(named[1]), int(named[2]), multiple)


@given(st.floats(1, 10_000), MULTIPLES)
def test_nearest_is_nearest(pixels, multiple):
    found = nearest_multiple(pixels, multiple)
    assert found % multiple == 0 and found >= multiple
    assert abs(found - pixels) <= multiple / 2 or found == multiple


@given(st.tuples(st.integers(1, 20_000), st.integers(1, 20_000)), MULTIPLES)
def test_an_image_keeps_its_shape_at_an_area_the_model_can_make(image, multiple):
    width, height = size_for_image(image, (1024, 1024), multiple)
    check_size(width, height, multiple)
    if max(image) / min(image) > 50:
        assert width * height <= 1024 * 1024 * 1.1
        return
    assert abs(width / height - image[0] / image[1]) <= 0.6 * image[0] / image[1]  # as multiples allow
    if min(width, height) > 4 * 64:
        assert width * height <= 1024 * 1024 * 1.3


@pytest.mark.parametrize(
    ("image", "native", "size"),
    [
        ((1, 1000), 1024, (64, 16384)),
        ((30000, 2), 512, (4096, 64)),
        ((3, 1), 128, (192, 64)),
        ((9000, 1), 128, (256, 64)),
    ],
)
def test_a_thin_image_is_no_larger_than_others(image, native, size):
    assert size_for_image(image, (native, native), 8) == size


def test_a_small_image_stays_as_it_is():
    assert size_for_image((640, 480), (1024, 1024), 8) == (640, 480)
