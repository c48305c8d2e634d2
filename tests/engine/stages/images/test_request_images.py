"""Which images a request may have, and what they do to sizes and strength."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.errors import UsageError
from mezzotint.protocol import GenerateRequest, ImageInput, Inpaint
from mezzotint.stages.images.request_images import crop_notice, request_images

INIT, MASK = ImageInput(path="a.png"), ImageInput(path="m.png", role="mask")


def settled(*images, **fields):
    return request_images(GenerateRequest(prompt="", images=images, **fields))


@pytest.mark.parametrize(
    ("images", "fields", "message"),
    [
        ([MASK], {}, "the mask m.png is given without an init image"),
        ([INIT, MASK, MASK], {}, "2 masks are given; only one"),
        ([INIT, INIT], {}, "2 init images are given; only one"),
        ([INIT, ImageInput(path="m", role="mask", weight=0.5)], {}, "weight 0.5 .* of a mask is not supported"),
        ([ImageInput(path="m", interval=(0.0, 0.5))], {}, "interval .* of an init image is not supported"),
        ([], {"strength": 0.5}, "strength 0.5 is given without an init image"),
        ([], {"inpaint": Inpaint(left=8)}, r"outpainting by \(8, 0, 0, 0\) pixels was requested without an init image"),
        ([INIT], {"inpaint": Inpaint(area="masked")}, "without a mask; add one, or outpainting margins"),
        ([], {"inpaint": Inpaint(feather=3)}, "without a mask"),
        ([INIT], {"inpaint": Inpaint(right=-8)}, "right of inpainting is -8; it must be from 0"),
        ([INIT, MASK], {"inpaint": Inpaint(padding=-1)}, "padding of inpainting is -1"),
        ([INIT, MASK], {"inpaint": Inpaint(feather=257)}, "feather of inpainting is 257; it must be from 0 to 256"),
    ],
)
def test_what_cannot_be_honoured_is_refused_by_name(images, fields, message):
    with pytest.raises(UsageError, match=message):
        settled(*images, **fields)


def test_images_are_found_in_any_order():
    images = settled(MASK, INIT)
    assert (images.init, images.mask, images.inpaint) == (Path("a.png"), Path("m.png"), Inpaint())


def test_inpainting_that_asks_for_nothing_is_none():
    assert settled(inpaint=Inpaint()).inpaint is None
    assert settled(INIT, inpaint=Inpaint()).inpaint is None


@pytest.mark.parametrize(
    ("images", "inpaint", "strength"),
    [
        ([], None, None),
        ([INIT], None, 0.6),
        ([INIT, MASK], None, 0.6),
        ([INIT, MASK], Inpaint(fill="blur"), 1.0),
        ([INIT, MASK], Inpaint(fill="noise"), 1.0),
        ([INIT], Inpaint(top=8), 1.0),
    ],
)
def test_what_begins_from_a_fill_has_nothing_to_keep(images, inpaint, strength):
    assert settled(*images, inpaint=inpaint).strength == strength
    if images:
        assert settled(*images, inpaint=inpaint, strength=0.3).strength == 0.3


@given(st.integers(1, 3000), st.integers(1, 3000), *[st.integers(0, 500)] * 4, st.sampled_from([2, 8, 16, 64]))
def test_a_grown_image_is_worked_on_at_the_next_size_that_fits(width, height, left, top, right, bottom, multiple):
    inpaint = Inpaint(left=left, top=top, right=right, bottom=bottom)
    images = settled(INIT, inpaint=inpaint)
    natural = images.natural_size((width, height), (1024, 1024), multiple)
    if not images.grows:
        assert natural == settled(INIT).natural_size((width, height), (1024, 1024), multiple)
        return
    grown = (width + left + right, height + top + bottom)
    for side, of in zip(natural, grown, strict=True):
        assert side % multiple == 0 and max(64, of) <= side < max(64, of) + multiple
    images.check_size(natural, natural)
    with pytest.raises(UsageError, match="leave the size out"):
        images.check_size(natural, (natural[0] + multiple, natural[1]))


def test_the_masked_area_is_painted_at_the_models_own_size_or_any():
    images = settled(INIT, MASK, inpaint=Inpaint(area="masked", right=100))
    assert images.natural_size((300, 200), (1024, 768), 8) == (1024, 768)
    images.check_size((1024, 768), (512, 512))


def test_an_image_that_would_be_too_large_is_refused_by_arithmetic():
    images = settled(INIT, inpaint=Inpaint(right=99_999_999))
    with pytest.raises(UsageError, match="100000999x1000, 100001 million pixels; at most 100 million"):
        images.check_growth((1000, 1000))
    settled(INIT, inpaint=Inpaint(right=1000)).check_growth((1000, 1000))


@pytest.mark.parametrize(
    ("image", "made", "told"),
    [
        ((1, 1000), (64, 16384), "1x1000 pixels, and 64x16384"),
        ((900, 400), (512, 512), "0.44 of it"),
        ((640, 480), (640, 480), None),
        ((1000, 1000), (512, 568), None),
    ],
)
def test_an_init_image_that_is_cropped_is_told(image, made, told):
    notice = crop_notice(image, made)
    assert notice is None if told is None else told in (notice or "")
