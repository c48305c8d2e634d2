"""Latents and images from one size to another."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from mezzotint.images.canvas import fit
from mezzotint.stages.transition import resize_latents


@pytest.mark.parametrize("upscaler", ["nearest", "bilinear", "bicubic"])
def test_flat_latents_stay_flat(upscaler):
    out = resize_latents(torch.full((1, 4, 8, 6), 0.7), (16, 9), upscaler)
    torch.testing.assert_close(out, torch.full((1, 4, 16, 9), 0.7))


def test_the_same_size_is_untouched():
    latents = torch.randn(1, 4, 8, 8)
    assert resize_latents(latents, (8, 8), "bicubic") is latents
    image = Image.new("RGB", (64, 48))
    assert fit(image, 64, 48, Image.Resampling.LANCZOS) is image


@given(st.integers(8, 200), st.integers(8, 200), st.integers(8, 100), st.integers(8, 100))
def test_the_middle_of_an_image_is_kept_in_its_shape(width, height, to_width, to_height):
    image = Image.new("RGB", (width, height), "white")
    out = fit(image, to_width, to_height, Image.Resampling.BICUBIC)
    assert out.size == (to_width, to_height)
    assert out.getextrema() == ((255, 255),) * 3  # nothing from outside the image is drawn in


def test_the_sides_that_do_not_fit_are_cut_evenly():
    image = Image.new("RGB", (300, 100), "red")
    image.paste("white", (100, 0, 200, 100))
    assert fit(image, 50, 50, Image.Resampling.NEAREST).getextrema() == ((255, 255),) * 3
