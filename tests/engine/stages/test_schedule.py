"""Which steps a stage takes, and how noise levels of unlike models meet."""

import math
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.errors import UsageError
from mezzotint.families.samplers import SAMPLERS, resolve_scheduler
from mezzotint.stages.schedule import add_noise, carry_over, initial_noise, plan_schedule, sigma_of

SDXL = {
    "_class_name": "EulerDiscreteScheduler",
    "beta_start": 0.00085,
    "beta_end": 0.012,
    "beta_schedule": "scaled_linear",
    "timestep_spacing": "leading",
    "steps_offset": 1,
    "num_train_timesteps": 1000,
}
CPU = torch.device("cpu")
NAMES = st.sampled_from([name for name in SAMPLERS if name != "lcm"])


def stage(sampler="euler", steps=20, until=None, config=SDXL):
    scheduler = resolve_scheduler(config, sampler=sampler, schedule=None, prediction_type=None, zero_terminal_snr=None)
    found = SimpleNamespace(info=SimpleNamespace(id="test"))
    return SimpleNamespace(scheduler=scheduler, sampling=SimpleNamespace(steps=steps), until=until, found=found)


@given(NAMES, st.integers(4, 40), st.floats(0.3, 0.9))
def test_a_split_is_taken_up_where_it_was_left(sampler, steps, until):
    """Both parts together are the whole schedule: no level twice, none left out."""
    whole = plan_schedule(stage(sampler, steps), CPU)
    first = plan_schedule(stage(sampler, steps, until), CPU)
    try:
        second = plan_schedule(stage(sampler, steps), CPU, after=first)
    except UsageError:
        assert first.sigmas == whole.sigmas  # the last step already reaches below the split
        return
    assert first.sigmas + second.sigmas[1:] == pytest.approx(whole.sigmas)
    assert math.isclose(first.log_snr_end, second.log_snr_start, rel_tol=1e-6)


@pytest.mark.parametrize("until", [0.3, 0.42, 0.55, 0.8])
@pytest.mark.parametrize("sampler", sorted(SAMPLERS))
def test_a_step_that_begins_above_the_split_is_finished(sampler, until):
    whole, first = (plan_schedule(stage(sampler, 12, end), CPU) for end in (None, until))
    order = getattr(whole.scheduler, "order", 1)
    done, split = len(first.timesteps), 1000 - round(1000 * until)
    assert done % order == 0
    assert all(float(timestep) < split for timestep in whole.timesteps[done:])
    assert float(whole.timesteps[done - order]) >= split


def test_the_split_of_sdxl_is_at_timestep_200():
    first = plan_schedule(stage(steps=25, until=0.8), CPU)
    second = plan_schedule(stage(steps=25), CPU, after=first)
    assert float(first.timesteps.min()) >= 200 > float(second.timesteps.max())
    assert first.log_snr_cut == second.entered_at


@given(NAMES, st.integers(1, 40), st.floats(0, 1))
def test_strength_is_the_share_of_steps(sampler, steps, strength):
    taken = int(steps * strength)
    if taken == 0:
        with pytest.raises(UsageError, match="no step"):
            plan_schedule(stage(sampler, steps), CPU, strength=strength)
        return
    schedule = plan_schedule(stage(sampler, steps), CPU, strength=strength)
    per_step = 2 if sampler == "heun" else 1
    assert taken * per_step - (per_step - 1) == len(schedule.timesteps)
    assert schedule.sigmas[-1] == 0.0
    assert list(schedule.sigmas) == sorted(schedule.sigmas, reverse=True)


def test_equal_levels_pass_untouched():
    first = plan_schedule(stage(steps=10, until=0.5), CPU)
    second = plan_schedule(stage(steps=10), CPU, after=first)
    latents = torch.randn(1, 4, 8, 8)
    assert carry_over(latents, first, second, torch.Generator()) is latents


@given(NAMES, NAMES, st.integers(8, 30), st.integers(8, 30))
def test_carried_noise_has_the_level_that_the_next_sampler_expects(left, right, steps, other_steps):
    """Of a known image and known noise, what arrives is the image and noise of the next schedule's first level."""
    before = plan_schedule(stage(left, steps, 0.6), CPU)
    after = plan_schedule(stage(right, other_steps), CPU, after=before)
    generator = torch.Generator().manual_seed(0)
    clean = torch.full((1, 4, 64, 64), 3.0)
    noise = torch.randn(clean.shape, generator=generator)
    latents = as_state(clean + sigma_of(before.log_snr_end) * noise, left, sigma_of(before.log_snr_end))
    arrived = carry_over(latents, before, after, generator)
    level = sigma_of(after.log_snr_start)
    plain = as_plain(arrived, right, level)
    assert level >= sigma_of(before.log_snr_end) * 0.999
    assert float(plain.std()) == pytest.approx(level, rel=0.05)
    assert float(plain.mean()) == pytest.approx(3.0, abs=0.1 * (1 + level))


def as_state(plain, sampler, sigma):
    return plain if sampler in ("euler", "euler_a", "heun") else plain / math.sqrt(1 + sigma**2)


def as_plain(state, sampler, sigma):
    return state if sampler in ("euler", "euler_a", "heun") else state * math.sqrt(1 + sigma**2)


def test_the_first_noise_is_of_the_seed_alone():
    schedule = plan_schedule(stage("ddim"), CPU)
    one, two = (initial_noise(schedule, (1, 4, 8, 8), torch.Generator().manual_seed(3), CPU) for _ in range(2))
    assert torch.equal(one, two)
    assert float(one.std()) == pytest.approx(1, abs=0.2)


def test_noise_is_added_at_the_first_level():
    schedule = plan_schedule(stage("euler", 20), CPU, strength=0.5)
    noisy = add_noise(schedule, torch.zeros(1, 4, 64, 64), torch.Generator().manual_seed(0))
    assert float(noisy.std()) == pytest.approx(schedule.sigmas[0], rel=0.03)


@pytest.mark.parametrize("strength", [0.1, 0.3, 0.5, 0.75])
def test_the_refiner_takes_its_share_of_the_steps_that_an_init_image_leaves(strength):
    first = plan_schedule(stage(steps=40, until=0.8), CPU, strength=strength)
    second = plan_schedule(stage(steps=40), CPU, after=first)
    taken = int(40 * strength)
    assert len(first.timesteps) + len(second.timesteps) == taken
    assert abs(len(first.timesteps) - 0.8 * taken) <= 1 and len(second.timesteps) >= 1


def test_an_init_image_at_full_strength_is_divided_like_none():
    at_full_strength = plan_schedule(stage(steps=20, until=0.6), CPU, strength=1.0)
    assert at_full_strength.sigmas == plan_schedule(stage(steps=20, until=0.6), CPU).sigmas


@pytest.mark.parametrize(("strength", "steps", "least"), [(0.0, 20, "0.05"), (0.2, 4, "0.25"), (0.01, 30, "0.034")])
def test_a_strength_that_takes_no_step_is_explained(strength, steps, least):
    words = f"a strength of {strength:g} is that part of {steps} steps, .*use a strength of {least} or more"
    with pytest.raises(UsageError, match=words):
        plan_schedule(stage(steps=steps), CPU, strength=strength)
    assert plan_schedule(stage(steps=steps), CPU, strength=float(least)).timesteps.numel() == 1
