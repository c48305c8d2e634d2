"""What stays in latents: at the noise of each step, and for how long."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from mezzotint.families.noise_levels import noise_levels, state_convention
from mezzotint.families.samplers import build_scheduler, resolve_scheduler, set_steps
from mezzotint.stages.images.inpaint_canvas import CanvasCrop
from mezzotint.stages.images.latent_mask import LatentMask, shares
from mezzotint.stages.schedule import StageSchedule, draw_noise

EPSILON = {
    "_class_name": "EulerDiscreteScheduler",
    "beta_schedule": "scaled_linear",
    "beta_start": 0.00085,
    "beta_end": 0.012,
    "timestep_spacing": "leading",
    "steps_offset": 1,
}
FLOW = {"_class_name": "FlowMatchEulerDiscreteScheduler", "shift": 3.0}
SAMPLERS = [
    *((EPSILON, name) for name in ("euler", "euler_a", "heun", "dpmpp_2m", "dpmpp_2m_sde", "ddim", "unipc", "lcm")),
    *((FLOW, name) for name in ("euler", "euler_a", "heun", "dpmpp_2m", "unipc", "lcm")),
]


def schedule_of(config, sampler, steps=6, begin=0, end=None):
    asked = {"schedule": None, "prediction_type": None, "zero_terminal_snr": None}
    resolved = resolve_scheduler(config, sampler=sampler, **asked)
    scheduler, levels_of = (build_scheduler(resolved) for _ in range(2))
    for each in (scheduler, levels_of):
        set_steps(each, resolved, steps)
    if hasattr(scheduler, "set_begin_index"):
        scheduler.set_begin_index(begin)
    timesteps, levels = scheduler.timesteps, noise_levels(scheduler)
    end = len(timesteps) if end is None else end
    return StageSchedule(
        scheduler=scheduler,
        levels=levels_of,
        begin=begin,
        timesteps=timesteps[begin:end],
        sigmas=levels.sigmas[begin : end + 1],
        log_snr_start=0.0,
        log_snr_end=0.0,
        log_snr_cut=None,
        entered_at=None,
    )


def latent_mask_of(share=0.0):
    generator = torch.Generator().manual_seed(1)
    clean, noise = (torch.randn(1, 4, 8, 8, generator=generator) for _ in range(2))
    return LatentMask(clean=clean, noise=noise, share=torch.full((1, 1, 8, 8), share))


def stood(schedule, latent_mask, sigma):
    """The image at a noise level, by the definition of the sampler's state."""
    mixed = {
        "ve": latent_mask.clean + sigma * latent_mask.noise,
        "vp": (latent_mask.clean + sigma * latent_mask.noise) / (1 + sigma**2) ** 0.5,
        "flow": (1 - sigma) * latent_mask.clean + sigma * latent_mask.noise,
    }
    return mixed[state_convention(schedule.scheduler)]


@pytest.mark.parametrize("begin", [0, 2])
@pytest.mark.parametrize("unfinished", [False, True])
@pytest.mark.parametrize(("config", "sampler"), SAMPLERS, ids=lambda value: value if isinstance(value, str) else "")
def test_what_stays_has_the_noise_of_each_step_whatever_the_sampler(config, sampler, begin, unfinished):
    order = int(schedule_of(config, sampler).scheduler.order)
    begin *= order
    end = 4 * order if unfinished else None
    schedule, latent_mask = schedule_of(config, sampler, begin=begin, end=end), latent_mask_of()
    generator = torch.Generator().manual_seed(0)
    latents = latent_mask.first(schedule, generator, from_noise=False)
    torch.testing.assert_close(latents, stood(schedule, latent_mask, schedule.sigmas[0]), rtol=1e-3, atol=1e-3)
    for index, timestep in enumerate(schedule.timesteps):
        output = torch.randn(latents.shape, generator=generator)
        stepped = schedule.scheduler.step(output, timestep, latents, return_dict=False)[0]
        latents = latent_mask.after(schedule, stepped, index)
        torch.testing.assert_close(
            latents, stood(schedule, latent_mask, schedule.sigmas[index + 1]), rtol=1e-3, atol=1e-3
        )
    assert unfinished or torch.equal(latents, latent_mask.clean)


def test_what_has_a_share_is_free_for_that_part_of_the_steps():
    schedule = schedule_of(EPSILON, "euler", steps=10)
    latents = torch.full((1, 4, 8, 8), 1e6)
    for share, free in ((0.0, 0), (0.01, 1), (0.3, 3), (0.55, 6), (1.0, 10)):
        latent_mask, done = latent_mask_of(share), 0
        for index in range(10):
            after = latent_mask.after(schedule, latents, index)
            assert torch.equal(after, latents) or not bool((after == latents).any())
            done += torch.equal(after, latents)
            assert torch.equal(latent_mask.over(schedule, latents, index), latents) == torch.equal(after, latents)
        assert done == free


def test_later_stages_keep_only_what_has_no_share():
    schedule = schedule_of(EPSILON, "euler")
    latents = torch.full((1, 4, 8, 8), 1e6)
    for share in (0.0, 0.01, 1.0):
        latent_mask = latent_mask_of(share)
        later = LatentMask(clean=latent_mask.clean, noise=latent_mask.noise, share=latent_mask.share, gradual=False)
        assert torch.equal(later.entering(schedule, latents), latents) == (share > 0)
        assert torch.equal(later.over(schedule, latents, 0), latents) == (share > 0)


def test_a_fill_of_noise_has_the_spread_that_the_sampler_begins_with():
    schedule = schedule_of(EPSILON, "euler", steps=30)
    latent_mask = LatentMask(
        clean=torch.zeros(1, 4, 64, 64), noise=torch.randn(1, 4, 64, 64), share=torch.ones(1, 1, 64, 64)
    )
    first = latent_mask.first(schedule, torch.Generator().manual_seed(0), from_noise=True)
    assert float(first.std()) == pytest.approx(float(schedule.scheduler.init_noise_sigma), rel=0.03)
    half = LatentMask(clean=latent_mask.clean, noise=latent_mask.noise, share=torch.full((1, 1, 64, 64), 0.5))
    kept = half.first(schedule, torch.Generator().manual_seed(0), from_noise=True)
    assert torch.equal(kept, half.first(schedule, torch.Generator().manual_seed(0), from_noise=False))


@given(st.integers(1, 6), st.integers(1, 6), st.sampled_from([1, 2, 8]), st.integers(0, 99))
def test_a_latent_is_free_if_any_of_its_pixels_is_made_anew(width, height, factor, seed):
    generator = np.random.default_rng(seed)
    mask = generator.random((height * factor, width * factor)) < 0.1
    opacity = np.where(mask, generator.integers(1, 256, mask.shape), 0).astype(np.uint8)
    crop = CanvasCrop(
        image=Image.new("RGB", mask.shape[::-1]),
        mask=Image.fromarray(np.where(mask, 255, 0).astype(np.uint8)),
        opacity=Image.fromarray(opacity),
    )
    share = shares(crop, factor)
    assert share.shape == (1, 1, height, width)
    for row in range(height):
        for column in range(width):
            block = np.s_[row * factor : (row + 1) * factor, column * factor : (column + 1) * factor]
            value = float(share[0, 0, row, column])
            assert (value > 0) == bool(mask[block].any())
            if value:
                assert value == pytest.approx(max(1e-3, opacity[block][mask[block]].mean() / 255), abs=1e-6)


def test_noise_is_drawn_on_the_processor_from_the_seed():
    first, second = (draw_noise((1, 4, 8, 8), torch.Generator().manual_seed(3), torch.device("cpu")) for _ in range(2))
    assert torch.equal(first, second)
