"""Images become sRGB, by the profile they have; one that cannot be applied is named."""

import numpy as np
import pytest
from colour_profiles import LINEAR_GREY, SWAPPED
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageCms

from mezzotint.images import colours
from mezzotint.images.colours import in_srgb, interpolable
from mezzotint.images.reading import read_image, read_input
from mezzotint.library.decoding import decode_image

ORANGE = (230, 120, 20)


def test_srgb_itself_changes_nothing():
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    image, why = in_srgb(Image.new("RGB", (2, 2), ORANGE), srgb)
    assert why is None
    assert all(abs(a - b) <= 1 for a, b in zip(image.getpixel((0, 0)), ORANGE, strict=True))


@given(st.binary(min_size=1, max_size=300) | st.just(LINEAR_GREY) | st.just(SWAPPED[:-30]))
def test_a_broken_profile_or_one_for_other_colours_is_passed_over_and_named(profile):
    image, why = in_srgb(Image.new("RGB", (2, 2), ORANGE), profile)
    assert image.getpixel((0, 0)) == ORANGE and why


def test_no_profile_needs_no_words():
    for profile in (None, b"", 7, "x"):
        assert in_srgb(Image.new("RGB", (2, 2), ORANGE), profile)[1] is None


def test_a_profile_of_another_space_or_beyond_the_limit_says_so(monkeypatch):
    assert in_srgb(Image.new("RGB", (2, 2)), LINEAR_GREY)[1] == "for GRAY, not RGB"
    monkeypatch.setattr(colours, "MAX_PROFILE", 100)
    assert "of more than" in str(in_srgb(Image.new("RGB", (2, 2)), SWAPPED)[1])


@pytest.mark.parametrize(("mode", "suffix"), [("RGB", "png"), ("RGBA", "webp"), ("RGB", "jpg"), ("RGB", "tiff")])
def test_models_see_the_colours_that_are_displayed(tmp_path, mode, suffix):
    path = tmp_path / f"image.{suffix}"
    Image.new(mode, (32, 32), (255, 0, 0)).save(path, icc_profile=SWAPPED)
    assert np.array_equal(np.asarray(read_image(path)), np.asarray(decode_image(path, None)[0].convert("RGB")))
    assert np.asarray(read_image(path))[5, 5].tolist()[:2] == pytest.approx([30, 228], abs=30)  # red, green


def test_a_deep_grey_has_its_profile_applied(tmp_path):
    Image.new("I;16", (8, 8), 55 * 257).save(tmp_path / "deep.png", icc_profile=LINEAR_GREY)
    assert abs(read_image(tmp_path / "deep.png").getpixel((0, 0))[0] - 128) <= 3  # 55 of linear light


def test_a_model_is_told_of_a_profile_that_is_not_applied(tmp_path):
    Image.new("RGB", (8, 8), ORANGE).save(tmp_path / "a.png", icc_profile=LINEAR_GREY)
    said = []
    assert read_input(tmp_path / "a.png").take(said.append).getpixel((0, 0)) == ORANGE
    assert len(said) == 1 and "a.png: not used: its colour profile (for GRAY, not RGB)" in said[0]


def test_a_palette_becomes_colours():
    assert interpolable(Image.new("P", (2, 2))).mode == "RGB"
