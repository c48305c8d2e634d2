"""What a conditional refiner is given of a smaller image."""

import pytest
import torch
from diffusers import DDIMScheduler, DPMSolverMultistepScheduler, EulerDiscreteScheduler

from mezzotint.families.family import Conditioning
from mezzotint.stages.images.low_resolution import LowResolution

CLEAN = torch.full((1, 4, 6, 8), 3.0)
FLOW = DPMSolverMultistepScheduler(prediction_type="flow_prediction", use_flow_sigmas=True)


def rng(seed=0):
    return torch.Generator().manual_seed(seed)


def drawn():
    return torch.randn(CLEAN.shape, generator=rng())


def test_noise_is_mixed_in_as_the_flow_of_the_refiner_does():
    found = LowResolution.of(CLEAN, 0.25, FLOW, rng())
    torch.testing.assert_close(found.latents, 0.75 * CLEAN + 0.25 * drawn())
    assert (found.timesteps.tolist(), found.timesteps.dtype) == ([250.0], torch.float32)


@pytest.mark.parametrize("scheduler", [DDIMScheduler(), EulerDiscreteScheduler()])
def test_of_other_refiners_as_in_their_training_whatever_the_sampler(scheduler):
    found = LowResolution.of(CLEAN, 0.25, scheduler, rng())
    timesteps = torch.tensor([250])
    torch.testing.assert_close(found.latents, DDIMScheduler().add_noise(CLEAN, drawn(), timesteps))
    assert found.timesteps.tolist() == [250.0]


@pytest.mark.parametrize("scheduler", [DDIMScheduler(), FLOW])
def test_without_noise_the_latents_are_unchanged_and_as_much_is_drawn(scheduler):
    generator, other = rng(), rng()
    found = LowResolution.of(CLEAN, 0.0, scheduler, generator)
    LowResolution.of(CLEAN, 1.0, scheduler, other)
    assert torch.equal(found.latents, CLEAN) and found.timesteps.tolist() == [0.0]
    assert torch.equal(generator.get_state(), other.get_state())


@pytest.mark.parametrize("guided", [True, False])
def test_both_guidance_halves_have_the_images_in_order_and_the_level_in_full_precision(guided):
    one, two = (LowResolution.of(scale * CLEAN, scale / 10, FLOW, rng(scale)) for scale in (1, 3))
    together = LowResolution.together([one, two])
    text = torch.zeros(2 * (1 + guided), 5, 3)
    added = together.add_to(Conditioning(guided=guided, tensors={"text": text}), torch.float16).tensors
    halves = 2 if guided else 1
    assert added["text"] is text
    assert torch.equal(added["low_resolution"], torch.cat([one.latents, two.latents] * halves).half())
    assert added["low_resolution_noise"].dtype is torch.float32
    assert torch.equal(added["low_resolution_noise"], torch.tensor([100.0, 300.0] * halves))
