"""A step that is done again: every sampler gives the same as if it had been done once."""

import inspect

import pytest
import torch

from mezzotint.families.samplers import SAMPLERS, build_scheduler, resolve_scheduler, set_steps
from mezzotint.stages.sampler_state import SamplerState


def walk(sampler, *, again_at=None):
    """The latents after every step; at one step there is a first try that is thrown away."""
    scheduler = build_scheduler(resolved(sampler))
    set_steps(scheduler, 6, torch.device("cpu"))
    generator = torch.Generator().manual_seed(3)
    latents = torch.randn(1, 4, 8, 8, generator=generator) * 10
    seen = []

    def step(latents, timestep):
        scaled = scheduler.scale_model_input(latents, timestep)
        extra = {"generator": generator} if "generator" in inspect.signature(scheduler.step).parameters else {}
        return scheduler.step(torch.tanh(scaled), timestep, latents, **extra, return_dict=False)[0]

    for index, timestep in enumerate(scheduler.timesteps):
        state = SamplerState(scheduler, generator)
        if index == again_at:
            for _ in range(2):
                step(latents.flip(-1), timestep)
                state.restore()
        latents = step(latents, timestep)
        seen.append(latents)
    return torch.stack(seen)


def resolved(sampler):
    config = {
        "_class_name": "EulerDiscreteScheduler",
        "beta_schedule": "scaled_linear",
        "beta_start": 0.00085,
        "beta_end": 0.012,
    }
    return resolve_scheduler(config, sampler=sampler, schedule=None, prediction_type=None, zero_terminal_snr=None)


@pytest.mark.parametrize("sampler", sorted(SAMPLERS))
@pytest.mark.parametrize("index", [0, 2, 5])
def test_done_again(sampler, index):
    assert torch.equal(walk(sampler, again_at=index), walk(sampler))
