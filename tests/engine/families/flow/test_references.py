"""Images that a network is shown are fitted as the pipelines of diffusers fit them, and never reach an unlike batch."""

import numpy as np
import pytest
import torch
from PIL import Image

from mezzotint.families.family import Conditioning
from mezzotint.families.flow.references import references_of, with_references
from mezzotint.families.flux1.family import _KONTEXT_SIZES, Flux1
from mezzotint.families.flux2.family import Flux2Klein
from mezzotint.families.text.conditionings import half_of, joined, part_of, shape_of

SIZES = [(64, 64), (500, 301), (1024, 1024), (1920, 1080), (1000, 3000)]


AREA = 1024 * 1024


def noise(width, height):
    return Image.fromarray(np.random.default_rng(0).integers(0, 255, (height, width, 3), dtype=np.uint8))


@pytest.mark.parametrize("size", SIZES)
def test_klein_s_are_no_larger_than_a_megapixel(size):
    from diffusers.pipelines.flux2.image_processor import Flux2ImageProcessor

    image, processor = noise(*size), Flux2ImageProcessor(vae_scale_factor=16)
    expected = processor._resize_if_exceeds_area(image, 1024 * 1024)
    width, height = (side // 16 * 16 for side in expected.size)
    expected = processor._resize_and_crop(expected, width, height)
    assert np.array_equal(np.array(Flux2Klein().fit_reference(image, AREA)), np.array(expected))


@pytest.mark.parametrize("size", SIZES)
def test_kontext_s_have_one_of_its_sizes(size):
    from diffusers.image_processor import VaeImageProcessor

    image, processor = noise(*size), VaeImageProcessor(vae_scale_factor=16)
    fitted = Flux1().fit_reference(image, AREA)
    assert np.array_equal(np.array(fitted), np.array(processor.resize(image, fitted.height, fitted.width)))


def test_kontext_s_sizes_are_those_that_its_pipeline_prefers():
    from diffusers.pipelines.flux.pipeline_flux_kontext import PREFERRED_KONTEXT_RESOLUTIONS

    assert sorted(_KONTEXT_SIZES) == PREFERRED_KONTEXT_RESOLUTIONS


@pytest.mark.parametrize(("size", "expected"), [((640, 640), (128, 128)), ((100, 200), (80, 176))])
def test_a_model_of_small_images_is_shown_small_ones(size, expected):
    width, height = size
    assert Flux1().reference_size(width, height, 128 * 128) == expected
    assert Flux1().fit_reference(noise(*size), 128 * 128).size == expected


def conditioning(sides, fill):
    words = Conditioning(guided=True, tensors={"text": torch.full((2, 3, 4), float(fill))})
    return with_references(words, [torch.full((1, 2, side, side), float(fill)) for side in sides])


def test_they_are_joined_and_parted_like_words():
    both = joined([conditioning([4, 6], 1), conditioning([4, 6], 2)])
    assert [tuple(each.shape) for each in references_of(both)] == [(4, 2, 4, 4), (4, 2, 6, 6)]
    second = part_of(both, slice(1, 2), 2)
    assert {float(each.mean()) for each in references_of(half_of(second, 0))} == {2.0}


def test_images_that_were_shown_others_of_other_sizes_are_of_no_one_shape():
    known = shape_of(conditioning([4, 6], 1))
    assert known == shape_of(conditioning([4, 6], 2))
    assert known not in {shape_of(conditioning(sides, 1)) for sides in ([], [4], [6, 4], [4, 6, 6])}
