"""Images as CLIP takes them: as its own image processor makes them."""

import numpy as np
import pytest
from PIL import Image

from mezzotint.stages.images.image_prompts import clip_pixels


@pytest.mark.parametrize("size", [(75, 50), (31, 64), (28, 28), (20, 20)])
def test_as_the_library_makes_them(size):
    from transformers import CLIPImageProcessor

    image = Image.fromarray(np.random.default_rng(1).integers(0, 256, (*size[::-1], 3), dtype=np.uint8))
    expected = CLIPImageProcessor(size=28, crop_size=28)(image, return_tensors="pt").pixel_values
    assert clip_pixels(image, 28).equal(expected)


def test_a_sliver_takes_little_memory():
    sliver = clip_pixels(Image.new("RGB", (100_000, 1), "white"), 28)
    assert sliver.shape == (1, 3, 28, 28)
    assert (sliver > 1).all()
