"""Masks: what counts as masked, and how the new passes into the old."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from mezzotint.errors import ImageRefused, UsageError
from mezzotint.images import masks
from mezzotint.images.masks import covering, feathered
from mezzotint.images.masks import read_mask as parse_mask

SIZE = (48, 32)


@pytest.fixture
def saved(tmp_path):
    def save(image, name="mask.png", **how):
        image.save(tmp_path / name, **how)
        return tmp_path / name

    return save


def read_mask(path, size, notify=lambda _: None):
    """The mask, with what is not used of it told."""
    return parse_mask(path, size).take(notify)


def square(mode="L", size=SIZE, box=(8, 8, 24, 20), colour="white", ground="black"):
    image = Image.new(mode, size, ground)
    image.paste(colour, box)
    return image


@st.composite
def bits(draw, longest=24):
    height, width = draw(st.integers(1, longest)), draw(st.integers(1, longest))
    kept = draw(st.sets(st.tuples(st.integers(0, height - 1), st.integers(0, width - 1)), max_size=12))
    inside = np.ones((height, width), bool)
    for row, column in kept:
        inside[row, column] = False
    return inside


# ---- reading


@pytest.mark.parametrize("mode", ["1", "L", "RGB", "P", "RGBA", "LA"])
def test_white_is_made_anew_in_any_kind_of_image(saved, mode):
    path = saved(square().convert(mode))
    assert np.array_equal(np.asarray(read_mask(path, SIZE)), np.asarray(square()))


def test_what_is_transparent_stays(saved):
    mask = square("RGBA", ground=(255, 255, 255, 0))
    assert read_mask(saved(mask), SIZE).getbbox() == (8, 8, 24, 20)


@pytest.mark.parametrize(("light", "anew"), [(127, False), (128, True), (255, True)])
def test_half_light_is_the_border(saved, light, anew):
    path = saved(square(colour=light))
    if anew:
        assert read_mask(path, SIZE).getextrema() == (0, 255)
    else:
        with pytest.raises(UsageError, match=f"lightest pixel .* is {light} of 255"):
            read_mask(path, SIZE)


@pytest.mark.parametrize("soft", [square(colour=200), Image.linear_gradient("L").resize(SIZE), square(ground=40)])
def test_greys_that_are_cut_are_named(saved, soft):
    said = []
    read_mask(saved(soft), SIZE, said.append)
    assert len(said) == 1 and "mask.png: not used: its greys (from 128 of 255 on they count as white" in said[0]


def test_black_and_white_need_no_words_nor_does_noise(saved):
    said = []
    for name in ("mask.png", "mask.jpg"):
        read_mask(saved(square(box=(8, 8, 24, 24)), name), SIZE, said.append)
    assert said == []


def test_deep_greys_are_scaled(saved):
    deep = Image.fromarray((np.asarray(square()).astype(np.uint16)) * 257)
    assert read_mask(saved(deep), SIZE).getbbox() == (8, 8, 24, 20)


def test_it_is_turned_upright(saved):
    exif = Image.Exif()
    exif[0x0112] = 6
    path = saved(square(size=(32, 48)).convert("RGB"), "mask.jpg", exif=exif.tobytes(), quality=100)
    assert read_mask(path, SIZE).size == SIZE


def test_another_size_of_the_same_shape_is_resized(saved):
    mask = read_mask(saved(square()), (480, 320))
    assert mask.size == (480, 320)
    assert mask.getextrema() == (0, 255)
    assert np.allclose(mask.getbbox(), (80, 80, 240, 200), atol=6)


@given(st.integers(50, 4000), st.integers(50, 4000), st.floats(0.1, 0.98), st.sampled_from([round, math.floor]))
def test_a_copy_that_was_resized_fits_whatever_was_rounded(width, height, scale, rounded):
    copy = (rounded(width * scale), rounded(height * scale))
    masks.check_shape(Path("smaller.png"), copy, (width, height))
    masks.check_shape(Path("larger.png"), (width, height), copy)


@pytest.mark.parametrize("size", [(32, 48), (48, 48), (48, 40), (480, 300), (24, 20)])
def test_another_shape_is_refused(saved, size):
    path = saved(square(size=size))
    with pytest.raises(
        UsageError, match=f"is {size[0]}x{size[1]}, the image 48x32: they must have the same aspect ratio"
    ):
        read_mask(path, SIZE)


@pytest.mark.parametrize("content", [b"", b"<svg/>", b"\x89PNG\r\n\x1a\n" + bytes(40)])
def test_what_cannot_be_read_is_refused(tmp_path, content):
    (tmp_path / "mask.png").write_bytes(content)
    with pytest.raises(ImageRefused, match=r"mask\.png"):
        read_mask(tmp_path / "mask.png", SIZE)


# ---- edges


@given(bits(), st.integers(1, 9))
def test_a_feather_is_the_distance_to_what_stays(inside, feather):
    """Against the slow way: every pixel against every other."""
    alpha = np.asarray(feathered(Image.fromarray(np.where(inside, 255, 0).astype(np.uint8)), feather)) / 255
    kept = np.argwhere(~inside)
    rows, columns = np.indices(inside.shape)
    depth = np.full(inside.shape, float(feather + 1))
    for row, column in kept:
        depth = np.minimum(depth, np.hypot(rows - row, columns - column))
    reach = np.array(
        [
            [
                depth[max(0, row - feather) : row + feather + 1, max(0, column - feather) : column + feather + 1].max()
                for column in range(inside.shape[1])
            ]
            for row in range(inside.shape[0])
        ]
    )
    wanted = np.where(inside, depth / np.maximum(1e-9, np.minimum(reach, feather + 1)), 0)
    assert np.allclose(alpha, np.clip(wanted, 0, 1), atol=1 / 255)


@given(bits(), st.integers(0, 40))
def test_nothing_shows_outside_and_every_part_shows_somewhere(inside, feather):
    alpha = np.asarray(feathered(Image.fromarray(np.where(inside, 255, 0).astype(np.uint8)), feather))
    assert not alpha[~inside].any()
    assert (alpha[inside] > 0).all()
    if inside.any():
        assert alpha.max() == 255


def test_a_thin_line_shows_wholly_in_its_middle():
    line = square(size=(200, 100), box=(20, 40, 180, 47))
    alpha = np.asarray(feathered(line, 32))
    assert (alpha[43, 40:160] == 255).all()
    assert (alpha[40, 40:160] < 128).all()


def test_bands_of_rows_meet_without_a_trace(monkeypatch):
    generator = np.random.default_rng(0)
    mask = Image.fromarray(np.where(generator.random((90, 70)) < 0.98, 255, 0).astype(np.uint8))
    whole = np.asarray(feathered(mask, 7))
    monkeypatch.setattr(masks, "_BAND", 11)
    assert np.array_equal(np.asarray(feathered(mask, 7)), whole)


def test_the_border_of_an_image_is_no_edge():
    alpha = np.asarray(feathered(square(box=(0, 0, 24, 32)), 8))
    assert (alpha[:, :15] == 255).all()


# ---- sizes


@given(bits(), st.integers(1, 60), st.integers(1, 60))
def test_a_resized_mask_covers_all_that_it_did(inside, width, height):
    mask = Image.fromarray(np.where(inside, 255, 0).astype(np.uint8))
    covered = np.asarray(covering(mask, (width, height))) > 0
    rows, columns = np.nonzero(inside)
    rows, columns = (rows + 0.5) * height / inside.shape[0], (columns + 0.5) * width / inside.shape[1]
    for row, column in zip(rows.astype(int), columns.astype(int), strict=True):
        around = covered[max(0, row - 1) : row + 2, max(0, column - 1) : column + 2]
        assert around.any()
    assert covered.any() == inside.any()
