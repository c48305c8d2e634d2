"""A step that is done again: every sampler gives the same as if it had been done once."""

import inspect

import diffusers
import pytest
import torch

from mezzotint.families.samplers import (
    _FLOW_SAMPLERS,
    _OWN_SAMPLERS,
    SAMPLERS,
    build_scheduler,
    resolve_scheduler,
    set_steps,
)
from mezzotint.stages.denoise import SamplerState


def schedule(sampler, *, again_at=None):
    """The latents after every step; at one step there is a first try that is thrown away."""
    scheduler = build_scheduler(resolved(sampler))
    set_steps(scheduler, resolved(sampler), 6)
    generator = torch.Generator().manual_seed(3)
    latents = torch.randn(1, 4, 8, 8, generator=generator) * 10
    seen = []

    def step(latents, timestep):
        scaled = scheduler.scale_model_input(latents, timestep)
        extra = {"generator": generator} if "generator" in inspect.signature(scheduler.step).parameters else {}
        return scheduler.step(torch.tanh(scaled), timestep, latents, **extra, return_dict=False)[0]

    for index, timestep in enumerate(scheduler.timesteps):
        state = SamplerState(scheduler, [generator])
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
    assert torch.equal(schedule(sampler, again_at=index), schedule(sampler))


def walk_of(class_name, settings, seeds):
    """The last latents of as many images as there are seeds, each with its own noise."""
    scheduler = getattr(diffusers, class_name)(**settings)
    scheduler.set_timesteps(6)
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    latents = torch.cat([torch.randn(1, 4, 8, 8, generator=generator) for generator in generators])
    known = inspect.signature(scheduler.step).parameters
    for timestep in scheduler.timesteps:
        scaled = scheduler.scale_model_input(latents, timestep) if hasattr(scheduler, "scale_model_input") else latents
        extra = {"generator": generators} if "generator" in known else {}
        latents = scheduler.step(torch.tanh(scaled), timestep, latents, **extra, return_dict=False)[0]
    return latents


@pytest.mark.parametrize("name", sorted({**_OWN_SAMPLERS, **{f"flow {key}": 0 for key in _FLOW_SAMPLERS}}))
def test_images_walk_together_as_each_does_alone(name):
    """What test_many shows of the usual samplers, of all others."""
    sampler = _FLOW_SAMPLERS[name.removeprefix("flow ")] if name.startswith("flow") else _OWN_SAMPLERS[name]
    settings = dict(sampler.settings)
    if name.startswith("flow") and not sampler.class_name.startswith(("FlowMatch", "LTX")):
        settings |= {"use_flow_sigmas": True, "prediction_type": "flow_prediction"}
    together = walk_of(sampler.class_name, settings, [3, 4, 5])
    alone = [walk_of(sampler.class_name, settings, [seed]) for seed in (3, 4, 5)]
    torch.testing.assert_close(together, torch.cat(alone), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("images", [1, 3])
def test_every_generator_is_put_back(images):
    scheduler = build_scheduler(resolved("euler_a"))
    generators = [torch.Generator().manual_seed(seed) for seed in range(images)]
    state = SamplerState(scheduler, generators)
    first = [torch.randn(3, generator=generator) for generator in generators]
    state.restore()
    assert torch.equal(torch.stack(first), torch.stack([torch.randn(3, generator=each) for each in generators]))
