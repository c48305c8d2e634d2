"""Images that grow, and parts of them that are filled."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from mezzotint.images.canvas import filled, fit, middle, stretched


def noise(width, height, seed=0):
    return Image.fromarray(np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8))


@given(st.integers(1, 40), st.integers(1, 40), *[st.integers(0, 30)] * 4)
def test_an_image_grows_by_its_edges(width, height, left, top, right, bottom):
    image = noise(width, height)
    grown = stretched(image, (-left, -top, width + right, height + bottom))
    padding = ((top, bottom), (left, right), (0, 0))
    assert np.array_equal(np.asarray(grown), np.pad(np.asarray(image), padding, mode="edge"))


@given(st.integers(1, 40), st.integers(1, 40), st.data())
def test_a_box_inside_is_a_crop(width, height, data):
    left, top = data.draw(st.integers(0, width - 1)), data.draw(st.integers(0, height - 1))
    box = (left, top, data.draw(st.integers(left + 1, width)), data.draw(st.integers(top + 1, height)))
    assert np.array_equal(np.asarray(stretched(noise(width, height), box)), np.asarray(noise(width, height).crop(box)))


@given(st.integers(1, 70), st.integers(1, 70), st.integers(0, 999))
def test_what_is_known_stays_and_what_is_not_is_made_of_it(width, height, seed):
    generator = np.random.default_rng(seed)
    hidden = generator.random((height, width)) < generator.random()
    image = noise(width, height, seed)
    result = np.asarray(filled(image, Image.fromarray(np.where(hidden, 255, 0).astype(np.uint8))))
    before = np.asarray(image)
    assert np.array_equal(result[~hidden], before[~hidden])
    other = before.copy()
    other[hidden] = 0  # what lies under the mask plays no part
    if not hidden.all():
        again = filled(Image.fromarray(other), Image.fromarray(np.where(hidden, 255, 0).astype(np.uint8)))
        assert np.array_equal(result, np.asarray(again))


@given(st.integers(1, 90), st.integers(1, 90), st.tuples(*[st.integers(0, 255)] * 3), st.integers(0, 99))
def test_a_flat_image_is_filled_flat(width, height, colour, seed):
    hidden = np.random.default_rng(seed).random((height, width)) < 0.9
    hidden[0, 0] = False
    result = filled(Image.new("RGB", (width, height), colour), Image.fromarray((hidden * 255).astype(np.uint8)))
    assert np.abs(np.asarray(result).astype(int) - colour).max() <= 1


def test_a_fill_goes_smoothly_on_from_the_edge():
    ramp = np.repeat(np.linspace(40, 200, 64).astype(np.uint8)[None, :, None], 64, axis=0).repeat(3, axis=2)
    where = Image.new("L", (64, 64))
    where.paste(255, (40, 0, 64, 64))
    result = np.asarray(filled(Image.fromarray(ramp), where)).astype(int)
    assert np.abs(np.diff(result[:, 36:64, 0], axis=1)).max() < 24
    assert np.abs(result[:, 40, 0] - ramp[:, 39, 0].astype(int)).max() < 24


def test_an_image_that_is_all_hidden_becomes_its_mean():
    image = noise(32, 32)
    result = filled(image, Image.new("L", (32, 32), 255))
    assert result.getcolors() is not None and len(result.getcolors()) == 1
    assert np.allclose(np.asarray(result)[0, 0], np.asarray(image).mean(axis=(0, 1)), atol=1)


@given(st.integers(8, 200), st.integers(8, 200), st.integers(8, 100), st.integers(8, 100))
def test_the_middle_has_the_shape_and_is_as_large_as_can_be(width, height, to_width, to_height):
    left, top, right, bottom = middle((width, height), to_width, to_height)
    assert 0 <= left < right <= width and 0 <= top < bottom <= height
    assert abs((right - left) * to_height - (bottom - top) * to_width) < 1e-6 * width * height * 100
    assert min(left, top) < 1e-6
    assert fit(noise(width, height), to_width, to_height, Image.Resampling.BICUBIC).size == (to_width, to_height)
