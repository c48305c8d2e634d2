"""What a stage starts from: that of several images is what each has, in their order."""

import pytest
import torch

from mezzotint.stages.images.latent_mask import LatentMask
from mezzotint.stages.images.masked_image import MaskedImage
from mezzotint.stages.images.stage_start import StageStart


def start_of(value, *, masked=True, gradual=True):
    def filled(channels):
        return torch.full((1, channels, 2, 2), float(value))

    if not masked:
        return StageStart(latents=filled(4))
    return StageStart(
        latents=filled(4),
        latent_mask=LatentMask(clean=filled(4) + 1, noise=filled(4) + 2, share=filled(1) / 10, gradual=gradual),
        masked_image=MaskedImage(mask=filled(1), latents=filled(4) + 3),
    )


@pytest.mark.parametrize("gradual", [True, False])
def test_each_keeps_its_own(gradual):
    starts = [start_of(value, gradual=gradual) for value in range(3)]
    together = StageStart.together(starts)
    assert together.latents.shape == (3, 4, 2, 2)
    assert together.latent_mask.gradual is gradual
    for number, one in enumerate(starts):
        part = slice(number, number + 1)
        assert together.latents[part].equal(one.latents)
        for name in ("clean", "noise", "share"):
            assert getattr(together.latent_mask, name)[part].equal(getattr(one.latent_mask, name))
        for name in ("mask", "latents"):
            assert getattr(together.masked_image, name)[part].equal(getattr(one.masked_image, name))


def test_without_masks_there_are_none():
    together = StageStart.together([start_of(value, masked=False) for value in range(2)])
    assert together.latent_mask is None and together.masked_image is None


def test_of_one_image_it_is_its_own_in_its_own_layout():
    one = start_of(1)
    assert StageStart.together([one]) is one
