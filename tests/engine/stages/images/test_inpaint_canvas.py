"""What a model sees of an image, and how what it paints goes back."""

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from PIL import Image

from mezzotint.errors import UsageError
from mezzotint.protocol import Inpaint
from mezzotint.stages.images.inpaint_canvas import InpaintCanvas, box_around


def noise(size, seed=0):
    return Image.fromarray(np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8))


def masked(size, *boxes):
    mask = Image.new("L", size)
    for box in boxes:
        mask.paste(255, box)
    return mask


sides = st.integers(1, 90)


@st.composite
def boxes(draw, width, height):
    left, top = draw(st.integers(0, width - 1)), draw(st.integers(0, height - 1))
    return left, top, draw(st.integers(left + 1, width)), draw(st.integers(top + 1, height))


# ---- what stays


@given(st.data(), sides, sides, st.integers(0, 12), st.sampled_from(["original", "blur", "noise"]))
def test_pixels_outside_of_the_mask_are_the_images_own(data, width, height, feather, fill):
    size = (width, height)
    found = [data.draw(boxes(width, height)) for _ in range(data.draw(st.integers(1, 3)))]
    image, mask = noise(size), masked(size, *found)
    inpaint = Inpaint(area="whole", feather=feather, fill=fill)
    result = InpaintCanvas(image, mask, inpaint, size, size).composite(noise(size, seed=1))
    outside = np.asarray(mask) == 0
    assert np.array_equal(np.asarray(result)[outside], np.asarray(image)[outside])
    if feather == 0:
        assert np.array_equal(np.asarray(result)[~outside], np.asarray(noise(size, seed=1))[~outside])


@given(st.data(), sides, sides, st.integers(0, 40), st.integers(0, 9), st.integers(1, 12), st.integers(1, 12))
def test_a_masked_area_goes_back_into_its_image(data, width, height, padding, feather, across, down):
    size, first = (width, height), (across * 8, down * 8)
    mask = masked(size, data.draw(boxes(width, height)))
    inpaint = Inpaint(area="masked", padding=padding, feather=feather)
    canvas = InpaintCanvas(noise(size), mask, inpaint, first, first)
    result = canvas.composite(noise(first, seed=1))
    assert result.size == canvas.size == size
    outside = np.asarray(mask) == 0
    assert np.array_equal(np.asarray(result)[outside], np.asarray(noise(size))[outside])
    assert canvas.crop_at(first).image.size == canvas.crop_at(first).mask.size == first
    assert canvas.crop_at(first).mask.getbbox() is not None


@given(sides, sides, *[st.integers(0, 40)] * 4, st.integers(0, 20), st.sampled_from(["whole", "masked"]))
@example(width=1, height=3, left=0, top=0, right=0, bottom=1, feather=4, area="whole")  # the edge is all there is
def test_a_grown_image_keeps_the_old_one(width, height, left, top, right, bottom, feather, area):
    assume(left + top + right + bottom)
    inpaint = Inpaint(left=left, top=top, right=right, bottom=bottom, feather=feather, area=area)
    grown = (width + left + right, height + top + bottom)
    first = (grown[0] + -grown[0] % 8, grown[1] + -grown[1] % 8)
    canvas = InpaintCanvas(noise((width, height)), None, inpaint, first, first)
    result = np.asarray(canvas.composite(noise(first, seed=1)))
    assert (result.shape[1], result.shape[0]) == canvas.size == grown
    old = result[top : top + height, left : left + width]
    rows = slice(feather * (top > 0), max(0, height - feather * (bottom > 0)))
    columns = slice(feather * (left > 0), max(0, width - feather * (right > 0)))
    assert np.array_equal(old[rows, columns], np.asarray(noise((width, height)))[rows, columns])


def test_new_parts_are_all_new_and_reach_into_the_old_by_the_feather():
    inpaint = Inpaint(right=32, feather=8)
    canvas = InpaintCanvas(Image.new("RGB", (64, 64), "black"), None, inpaint, (96, 64), (96, 64))
    result = np.asarray(canvas.composite(Image.new("RGB", (96, 64), "white")))[..., 0]
    assert (result[:, :56] == 0).all()
    assert (result[:, 64:] == 255).all()
    assert (np.diff(result[0, 55:65].astype(int)) >= 0).all() and 0 < result[0, 57] < 255


def test_a_mask_and_margins_go_together():
    mask = masked((64, 64), (0, 0, 16, 16))
    canvas = InpaintCanvas(noise((64, 64)), mask, Inpaint(left=32, feather=0), (96, 64), (96, 64))
    mask = np.asarray(canvas.crop_at((96, 64)).mask) > 0
    assert mask[:, :32].all() and mask[:16, 32:48].all()
    assert mask.sum() == 32 * 64 + 16 * 16


# ---- what is seen


def test_an_image_of_the_right_size_is_seen_as_it_is():
    size = (64, 48)
    canvas = InpaintCanvas(noise(size), masked(size, (8, 8, 32, 32)), Inpaint(), size, size)
    assert np.array_equal(np.asarray(canvas.crop_at(size).image), np.asarray(noise(size)))
    assert canvas.remarks == {}
    assert canvas.used.box == (0, 0, 64, 48)


def test_a_fill_hides_what_is_made_anew_but_for_its_edges():
    size = (64, 64)
    image = Image.new("RGB", size, "blue")
    image.paste("red", (8, 8, 40, 40))
    mask = masked(size, (8, 8, 40, 40))
    for fill in ("blur", "noise"):
        seen = InpaintCanvas(image, mask, Inpaint(fill=fill, feather=0), size, size).crop_at(size).image
        assert seen.getcolors() == [(64 * 64, (0, 0, 255))]
    kept = InpaintCanvas(image, mask, Inpaint(fill="original"), size, size).crop_at(size).image
    assert kept.getpixel((20, 20)) == (255, 0, 0)
    edge = InpaintCanvas(image, mask, Inpaint(fill="blur", feather=8), size, size).crop_at(size).image
    assert edge.getpixel((9, 20)) == (255, 0, 0) and edge.getpixel((24, 24)) != (255, 0, 0)


def test_what_is_kept_but_resized_is_told():
    canvas = InpaintCanvas(noise((100, 50)), masked((100, 50), (40, 0, 60, 20)), Inpaint(), (64, 64), (64, 64))
    assert "from 100x50 to 64x64" in canvas.remarks["kept_parts_resized"]
    assert canvas.used.box == (25, 0, 75, 50)


def test_a_mask_in_a_part_that_is_cut_off_is_refused():
    with pytest.raises(UsageError, match=r"outside the part of the image that is used: 200x50 is cropped .* 64x64"):
        InpaintCanvas(noise((200, 50)), masked((200, 50), (0, 0, 20, 50)), Inpaint(), (64, 64), (64, 64))


def test_an_area_larger_than_it_is_painted_is_told():
    size = (300, 300)
    canvas = InpaintCanvas(noise(size), masked(size, (50, 50, 250, 250)), Inpaint(area="masked"), (64, 64), (64, 64))
    assert "264x264, but is generated at 64x64" in canvas.remarks["painted_smaller"]


def test_later_stages_see_the_same_part_larger():
    size = (64, 64)
    canvas = InpaintCanvas(noise(size), masked(size, (16, 16, 32, 32)), Inpaint(), size, (128, 128))
    small, large = canvas.crop_at(size), canvas.crop_at((128, 128))
    assert large.image.size == canvas.size == (128, 128)
    assert small.mask.getbbox() == (16, 16, 32, 32) and large.mask.getbbox() == (32, 32, 64, 64)
    grown = InpaintCanvas(noise(size), None, Inpaint(right=30), (96, 64), (192, 128))
    assert grown.size == (188, 128)


# ---- boxes


@given(st.data(), sides, sides, st.integers(0, 60), st.integers(1, 20), st.integers(1, 20))
def test_a_box_holds_its_mask_and_has_the_shape_asked_for(data, width, height, padding, across, down):
    found = data.draw(boxes(width, height))
    left, top, right, bottom = box_around(found, padding, (width, height), (across, down))
    assert left <= found[0] and top <= found[1] and right >= found[2] and bottom >= found[3]
    wide, high = right - left, bottom - top
    assert abs(wide - high * across / down) < 1 + across / down  # a side is rounded up
    for low, end, room in ((left, right, width), (top, bottom, height)):
        assert (low >= 0 and end <= room) or end - low > room
        if end - low > room:
            assert abs(-low - (end - room)) <= 1  # as far beyond on one side as on the other


def test_padding_is_seen_where_there_is_any():
    assert box_around((40, 40, 60, 60), 10, (200, 200), (1, 1)) == (30, 30, 70, 70)
    assert box_around((0, 40, 20, 60), 10, (200, 200), (1, 1)) == (0, 30, 40, 70)
    assert box_around((180, 40, 200, 60), 10, (200, 200), (2, 1)) == (120, 30, 200, 70)
