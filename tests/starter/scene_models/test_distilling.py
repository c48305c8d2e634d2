from itertools import pairwise
from types import SimpleNamespace

import pytest
import torch

from mezzotint_starter.scene_models.distilling import GUIDANCE, STEPS, guided_line, step_sigmas, straight_scheduler


def test_the_steps_lead_from_noise_to_the_image():
    sigmas = step_sigmas().tolist()
    assert len(sigmas) == STEPS + 1
    assert sigmas[0] > 0.99
    assert sigmas[-1] == 0
    assert all(late < early for early, late in pairwise(sigmas))


def test_the_sampler_goes_straight():
    scheduler = straight_scheduler()
    scheduler.set_timesteps(STEPS)
    sigmas, velocity = step_sigmas(), torch.full((1, 1, 2, 2), 0.5)
    found = scheduler.step(velocity, scheduler.timesteps[0], torch.ones(1, 1, 2, 2)).prev_sample
    assert found[0, 0, 0, 0].item() == pytest.approx(1 - 0.5 * (sigmas[0] - sigmas[1]).item(), abs=1e-5)


def test_the_line_includes_guidance():
    def teacher(mixed, encoder_hidden_states, **_):
        return SimpleNamespace(sample=torch.ones_like(mixed) * encoder_hidden_states[:, :1, :1, None])

    def encoder(prompts):
        told = torch.tensor([[[2.0]] if prompt else [[1.0]] for prompt in prompts])
        return told, torch.ones(len(prompts), 1)

    here, there = torch.tensor([0.8, 0.4]), torch.tensor([0.5, 0.0])
    line = guided_line(teacher, encoder, ["a", "b"], torch.zeros(2, 1, 2, 2), here, there)
    assert line.flatten().tolist() == pytest.approx([1 + GUIDANCE] * 8)
