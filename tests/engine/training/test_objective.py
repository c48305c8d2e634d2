"""Noise, targets and weights are those of diffusers' schedulers and of the papers."""

import pytest
import torch
from diffusers import DDPMScheduler, FlowMatchEulerDiscreteScheduler

from mezzotint.training.objective import Objective

ABAR = DDPMScheduler(beta_schedule="scaled_linear", beta_start=0.00085, beta_end=0.012).alphas_cumprod


@pytest.fixture
def pair():
    generator = torch.Generator().manual_seed(0)
    return torch.randn(4, 4, 8, 8, generator=generator), torch.randn(4, 4, 8, 8, generator=generator)


@pytest.mark.parametrize("prediction", ["epsilon", "v_prediction"])
def test_noise_and_targets_are_those_of_diffusers(pair, prediction):
    clean, noise = pair
    scheduler = DDPMScheduler(beta_schedule="scaled_linear", beta_start=0.00085, beta_end=0.012)
    objective, levels = Objective(prediction=prediction, abar=ABAR), torch.tensor([0, 10, 500, 999])
    assert torch.equal(objective.mixed(clean, noise, levels), scheduler.add_noise(clean, noise, levels))
    wanted = noise if prediction == "epsilon" else scheduler.get_velocity(clean, noise, levels)
    assert torch.equal(objective.target(clean, noise, levels), wanted)
    assert torch.equal(objective.timesteps(levels), levels)


def test_flow_is_that_of_diffusers(pair):
    clean, noise = pair
    scheduler, objective = FlowMatchEulerDiscreteScheduler(shift=3.0), Objective(prediction="flow_prediction", shift=3)
    even = 1 - torch.arange(4) / 1000  # the scheduler's own table begins at 1000
    levels = objective._shifted(even)
    torch.testing.assert_close(levels, scheduler.sigmas[:4])
    mixed = scheduler.scale_noise(clean, scheduler.timesteps[:4], noise)
    torch.testing.assert_close(objective.mixed(clean, noise, levels), mixed)
    torch.testing.assert_close(objective.timesteps(levels), scheduler.timesteps[:4])
    x = objective.mixed(clean, noise, levels)
    torch.testing.assert_close(x - levels.view(-1, 1, 1, 1) * objective.target(clean, noise, levels), clean)


@pytest.mark.parametrize("prediction", ["epsilon", "v_prediction", "flow_prediction"])
def test_the_right_output_gives_back_what_was_mixed(pair, prediction):
    is_flow = prediction == "flow_prediction"
    objective = Objective(prediction=prediction, abar=None if is_flow else ABAR)
    levels = torch.tensor([0.1, 0.4, 0.7, 0.9]) if is_flow else torch.tensor([10, 200, 500, 700])
    clean, noise = pair
    output = objective.target(clean, noise, levels)
    for found, wanted in zip(objective.parts(objective.mixed(clean, noise, levels), output, levels), pair, strict=True):
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)


def test_levels_are_shifted_and_depend_on_the_generator_alone():
    for levels in ("uniform", "logit-normal"):
        plain, shifted = (Objective(prediction="flow_prediction", levels=levels, shift=shift) for shift in (1, 3))
        drawn = [each.draw(1000, torch.Generator().manual_seed(1)) for each in (plain, shifted)]
        assert float(drawn[0].min()) > 0 and float(drawn[1].max()) < 1
        torch.testing.assert_close(drawn[1], 3 * drawn[0] / (1 + 2 * drawn[0]))
        assert torch.equal(drawn[1], shifted.draw(1000, torch.Generator().manual_seed(1)))


@pytest.mark.parametrize("prediction", ["epsilon", "v_prediction"])
def test_min_snr_weighs_as_in_its_paper(pair, prediction):
    clean, noise = pair
    levels = torch.tensor([0, 100, 500, 999])
    snr = ABAR[levels] / (1 - ABAR[levels])
    wanted = snr.clamp_max(5) / (snr + (prediction == "v_prediction"))
    weighted = Objective(prediction=prediction, abar=ABAR, weighting="min-snr").loss(clean, noise, levels)
    plain = Objective(prediction=prediction, abar=ABAR).loss(clean, noise, levels)
    torch.testing.assert_close(weighted / plain, wanted)
    torch.testing.assert_close(plain, (clean - noise).square().mean((1, 2, 3)))


def test_a_mask_leaves_pixels_out_of_the_loss(pair):
    clean, noise = pair
    levels, mask = torch.full((4,), 0.5), torch.zeros(4, 1, 8, 8)
    mask[..., :4] = 1
    objective = Objective(prediction="flow_prediction")
    changed = noise.clone()
    changed[..., 4:] = 100
    assert torch.equal(objective.loss(clean, changed, levels, mask), objective.loss(clean, noise, levels, mask))
    half = objective.loss(clean[..., :4], noise[..., :4], levels)
    torch.testing.assert_close(objective.loss(clean, noise, levels, mask), half)
    assert bool(torch.isfinite(objective.loss(clean, noise, levels, torch.zeros(4, 1, 8, 8))).all())
