"""Sampler names, what each can run, and the noise its scheduler sees."""

import inspect
import json
import math
from itertools import product

import pytest
import torch

from mezzotint.errors import ModelRefused, UsageError
from mezzotint.families.noise_levels import denoised, log_snr_at, noise_levels, state_convention, timestep_at
from mezzotint.families.samplers import SAMPLERS, SCHEDULES, build_scheduler, resolve_scheduler, set_steps

SDXL = {
    "_class_name": "EulerDiscreteScheduler",
    "_diffusers_version": "0.19.0",
    "beta_end": 0.012,
    "beta_schedule": "scaled_linear",
    "beta_start": 0.00085,
    "clip_sample": False,
    "interpolation_type": "linear",
    "num_train_timesteps": 1000,
    "prediction_type": "epsilon",
    "sample_max_value": 1.0,
    "set_alpha_to_one": False,
    "skip_prk_steps": True,
    "steps_offset": 1,
    "timestep_spacing": "leading",
    "trained_betas": None,
    "use_karras_sigmas": False,
}
FLOW = {"_class_name": "FlowMatchEulerDiscreteScheduler", "num_train_timesteps": 1000, "shift": 3.0}
PIXART = {
    "_class_name": "DPMSolverMultistepScheduler",
    "algorithm_type": "dpmsolver++",
    "beta_schedule": "linear",
    "beta_start": 0.0001,
    "beta_end": 0.02,
    "lambda_min_clipped": -math.inf,
    "solver_order": 2,
    "thresholding": False,
    "variance_type": None,
}
OWN = [
    SDXL,
    FLOW,
    PIXART,
    SDXL | {"timestep_spacing": "trailing"},
    SDXL | {"use_karras_sigmas": True},
    SDXL | {"prediction_type": "v_prediction", "rescale_betas_zero_snr": True, "timestep_spacing": "trailing"},
    SDXL | {"rescale_betas_zero_snr": True},
    PIXART | {"solver_order": 3},
    PIXART | {"use_lu_lambdas": True},
    PIXART | {"use_flow_sigmas": True, "prediction_type": "flow_prediction", "flow_shift": 3.0},
    *(
        {"_class_name": name}
        for name in (
            "PNDMScheduler",
            "DDIMScheduler",
            "DDPMScheduler",
            "DEISMultistepScheduler",
            "TCDScheduler",
            "LCMScheduler",
            "HeunDiscreteScheduler",
            "EulerAncestralDiscreteScheduler",
            "UniPCMultistepScheduler",
            "DPMSolverSinglestepScheduler",
            "FlowMatchHeunDiscreteScheduler",
        )
    ),
]
PREDICTIONS = ("epsilon", "v_prediction", "flow_prediction")
CONFIGS = {"epsilon": SDXL, "v_prediction": SDXL | {"prediction_type": "v_prediction"}, "flow_prediction": FLOW}


def resolve(config, sampler=None, schedule=None, prediction_type=None, zero_terminal_snr=None):
    return resolve_scheduler(
        config,
        sampler=sampler,
        schedule=schedule,
        prediction_type=prediction_type,
        zero_terminal_snr=zero_terminal_snr,
    )


def works(config, *asked):
    try:
        return resolve(config, *asked)
    except UsageError:
        return None


ALLOWED = [
    pytest.param(CONFIGS[prediction], sampler, schedule, id=f"{sampler}-{schedule}-{prediction}")
    for prediction in PREDICTIONS
    for sampler in SAMPLERS
    for schedule in SCHEDULES
    if works(CONFIGS[prediction], sampler, schedule)
]


def walk(resolved, scheduler, steps=4, predict=lambda sample, sigma: torch.ones_like(sample) * 0.1):
    """A loop as the pipelines run it; yields (sample, output, timestep, index) before each step, then the end."""
    generator = torch.Generator().manual_seed(0)
    set_steps(scheduler, resolved, steps)
    levels = noise_levels(scheduler)
    noise_scale = getattr(scheduler, "init_noise_sigma", 1.0)
    sample = torch.randn(1, 4, 8, 8, generator=generator) * noise_scale
    takes_generator = "generator" in inspect.signature(scheduler.step).parameters
    extra = {"generator": generator} if takes_generator else {}
    for index, timestep in enumerate(scheduler.timesteps):
        if hasattr(scheduler, "scale_model_input"):
            scheduler.scale_model_input(sample, timestep)
        output = predict(sample, levels.sigmas[index])
        yield sample, output, timestep, index
        sample = scheduler.step(output, timestep, sample, **extra, return_dict=False)[0]
    yield sample, None, None, None


@pytest.mark.parametrize(("config", "sampler", "schedule"), ALLOWED)
def test_every_allowed_pair_runs(config, sampler, schedule):
    resolved = resolve(config, sampler, schedule)
    scheduler = build_scheduler(resolved)
    *steps, (end, *_) = walk(resolved, scheduler)
    assert torch.isfinite(end).all()
    levels = noise_levels(scheduler)
    assert len(levels.timesteps) == len(levels.log_snr) == len(levels.sigmas) - 1 == len(steps)
    assert list(levels.sigmas) == sorted(levels.sigmas, reverse=True)
    assert levels.sigmas[-1] == 0
    assert all(map(math.isfinite, levels.log_snr))
    assert list(levels.log_snr) == sorted(levels.log_snr)
    assert json.dumps(dict(resolved.config))


def test_every_sampler_runs_every_schedule():
    assert len(ALLOWED) == len(PREDICTIONS) * len(SAMPLERS) * len(SCHEDULES)


def test_zero_terminal_snr_runs_with_v_prediction_wherever_it_is_offered():
    offered = {}
    for sampler in SAMPLERS:
        for schedule in SCHEDULES:
            resolved = works(SDXL, sampler, schedule, "v_prediction", True)
            if resolved:
                offered.setdefault(sampler, []).append(schedule)
                assert resolved.zero_terminal_snr
                scheduler = build_scheduler(resolved)
                assert torch.isfinite(list(walk(resolved, scheduler))[-1][0]).all(), (sampler, schedule)
                assert scheduler.alphas_cumprod[-1] <= 2**-24
                if sampler != "lcm":
                    assert noise_levels(scheduler).log_snr[0] == pytest.approx(-24 * math.log(2), abs=0.01)
    assert set(offered) == set(SAMPLERS) - {"heun"}


@pytest.mark.parametrize("config", OWN, ids=lambda config: config["_class_name"])
def test_the_checkpoints_own_is_kept(config):
    resolved = resolve(config)
    assert resolved.class_name == config["_class_name"]
    assert dict(resolved.config) == {key: value for key, value in config.items() if not key.startswith("_")}
    assert torch.isfinite(list(walk(resolved, build_scheduler(resolved)))[-1][0]).all()


@pytest.mark.parametrize("config", OWN, ids=lambda config: config["_class_name"])
def test_what_was_used_asked_for_again_is_the_same(config):
    types = (
        (None, None),
        ("v_prediction", True),
        ("v_prediction", None),
        ("epsilon", False),
        ("flow_prediction", None),
    )
    for sampler, schedule, (prediction, zero_snr) in product([None, *SAMPLERS], [None, *SCHEDULES], types):
        first = works(config, sampler, schedule, prediction, zero_snr)
        if first is not None:
            again = (first.sampler, first.schedule, first.prediction_type, first.zero_terminal_snr)
            assert resolve(config, *again) == first, (sampler, schedule, prediction, zero_snr)


def test_own_names():
    names = {config["_class_name"]: resolve(config).sampler for config in OWN[10:]}
    assert names["PNDMScheduler"] == "pndm"
    assert names["EulerAncestralDiscreteScheduler"] == "euler_a"
    assert names["LCMScheduler"] == "lcm"
    assert (resolve(SDXL).sampler, resolve(SDXL).schedule) == ("euler", "default")
    assert resolve(PIXART).sampler == "dpmpp_2m"
    assert resolve(PIXART | {"algorithm_type": "sde-dpmsolver++"}).sampler == "dpmpp_2m_sde"
    assert resolve(PIXART | {"solver_order": 3}).sampler == "dpm_multistep"
    assert resolve(FLOW).prediction_type == "flow_prediction"


def test_from_config_of_diffusers_agrees():
    from diffusers import DPMSolverMultistepScheduler, EulerDiscreteScheduler

    own = EulerDiscreteScheduler.from_config(SDXL)
    peer = DPMSolverMultistepScheduler.from_config(own.config, use_karras_sigmas=True)
    ours = build_scheduler(resolve(SDXL, "dpmpp_2m", "karras"))
    differing = {key for key, value in ours.config.items() if not key.startswith("_") and peer.config[key] != value}
    assert differing == {"use_karras_sigmas"}
    assert ours.config["timestep_spacing"] == "leading"
    resolved = resolve(SDXL, "dpmpp_2m", "karras")
    set_steps(ours, resolved, 12)
    peer.set_timesteps(12)
    torch.testing.assert_close(ours.sigmas, peer.sigmas, atol=1e-6, rtol=1e-5)
    assert torch.equal(ours.timesteps, peer.timesteps)


@pytest.mark.parametrize("config", [SDXL, PIXART])
@pytest.mark.parametrize("steps", [4, 8, 20])
def test_simple_is_the_trailing_spacing_of_diffusers(config, steps):
    from diffusers import EulerDiscreteScheduler

    resolved = resolve(config, "euler", "simple")
    ours = build_scheduler(resolved)
    set_steps(ours, resolved, steps)
    peer = EulerDiscreteScheduler.from_config(ours.config)
    peer.set_timesteps(steps)
    assert torch.equal(ours.sigmas, peer.sigmas)
    assert torch.equal(ours.timesteps, peer.timesteps)


def test_unsaid_betas_stay_those_of_the_checkpoints_class():
    heun = build_scheduler(resolve({"_class_name": "HeunDiscreteScheduler"}))
    euler = build_scheduler(resolve({"_class_name": "HeunDiscreteScheduler"}, "euler"))
    assert torch.equal(heun.alphas_cumprod, euler.alphas_cumprod)


def test_ddim_of_another_checkpoint_does_not_clip_latents():
    assert build_scheduler(resolve({"_class_name": "EulerDiscreteScheduler"}, "ddim")).config["clip_sample"] is False


def test_a_step_count_whose_spacing_runs_below_zero_is_refused():
    resolved = resolve(SDXL | {"timestep_spacing": "trailing"})
    with pytest.raises(UsageError, match="61 steps"):
        set_steps(build_scheduler(resolved), resolved, 61)


@pytest.mark.parametrize("schedule", ["simple", "beta", "karras"])
def test_more_steps_than_the_model_has_levels_are_refused(schedule):
    resolved = resolve(SDXL | {"num_train_timesteps": 3}, "euler", schedule)
    set_steps(build_scheduler(resolved), resolved, 2)
    if schedule == "simple":
        with pytest.raises(UsageError, match="4 steps"):
            set_steps(build_scheduler(resolved), resolved, 4)


@pytest.mark.parametrize("sampler", ["euler", "heun", "euler_a", "dpmpp_2m", "unipc", "ddim"])
@pytest.mark.parametrize("schedule", ["karras", "exponential", "kl_optimal", "normal"])
@pytest.mark.parametrize("spacing", ["leading", "trailing"])
def test_a_schedule_has_the_range_of_the_model(sampler, schedule, spacing):
    """k-diffusion's and every other program's range of SD 1.5 and SDXL, whatever the class does by default."""
    resolved = resolve(SDXL | {"timestep_spacing": spacing}, sampler, schedule)
    scheduler = build_scheduler(resolved)
    set_steps(scheduler, resolved, 20)
    sigmas = noise_levels(scheduler).sigmas
    assert (sigmas[0], sigmas[-2]) == pytest.approx((14.6146, 0.0292), rel=2e-3)


def test_a_schedule_of_a_flow_model_has_its_whole_range():
    for schedule in ("karras", "exponential", "kl_optimal"):
        resolved = resolve(FLOW, "euler", schedule)
        scheduler = build_scheduler(resolved)
        set_steps(scheduler, resolved, 12)
        assert noise_levels(scheduler).sigmas[0] == 1.0
        assert noise_levels(scheduler).sigmas[-2] == pytest.approx(3 / 1002)
        assert float(scheduler.timesteps[0]) == 1000.0


def test_a_flag_of_the_checkpoints_goes_along_to_another_sampler_with_the_range_of_the_model():
    own = SDXL | {"use_karras_sigmas": True}
    assert resolve(own, "heun") == resolve(own, "heun", "karras")
    assert resolve(own).schedule == "default"
    assert "use_karras_sigmas" not in resolve(own, "euler", "karras").config


@pytest.mark.parametrize(
    ("typed", "ours"),
    [
        (("Euler a", "Simple"), ("euler_a", "simple")),
        (("euler_ancestral", "sgm_uniform"), ("euler_a", "sgm_uniform")),
        (("DPM++ 2M Karras", None), ("dpmpp_2m", "karras")),
        (("uni_pc_bh2", "normal"), ("unipc", "normal")),
        (("Euler", "Uniform"), ("euler", "normal")),
    ],
)
@pytest.mark.parametrize("config", [SDXL, FLOW])
def test_names_of_other_programs_are_understood(config, typed, ours):
    resolved = resolve(config, *typed)
    assert (resolved.sampler, resolved.schedule) == ours


def test_euler_a_of_flow_models_renoises_as_rectified_flow():
    """Formula of ComfyUI's euler_ancestral_RF, at eta 1, for a network that knows the image."""
    resolved = resolve(FLOW, "euler_a", "simple")
    scheduler = build_scheduler(resolved)
    set_steps(scheduler, resolved, 5)
    s, after = (float(sigma) for sigma in scheduler.sigmas[1:3])
    clean, noise = torch.randn(2, 1, 4, 8, 8, generator=torch.Generator().manual_seed(4)).unbind()
    sample = (1 - s) * clean + s * noise
    scheduler.set_begin_index(1)
    stepped = scheduler.step(
        noise - clean, scheduler.timesteps[1], sample, torch.Generator().manual_seed(5), return_dict=False
    )[0]
    down = after * after / s
    fresh = torch.randn(1, 4, 8, 8, generator=torch.Generator().manual_seed(5))
    kept = (1 - after) / (1 - down)
    expected = kept * (down / s * sample + (1 - down / s) * clean) + math.sqrt(after**2 - (down * kept) ** 2) * fresh
    torch.testing.assert_close(stepped, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("euler_b",), ["'euler_b' is not known", "euler_a", "unipc"]),
        (("pndm",), ["'pndm' cannot run", "euler"]),
        (("euler", "caras"), ["'caras' is not known", "karras", "sgm_uniform"]),
        (("heun", None, "v_prediction", True), ["heun cannot run zero terminal SNR", "euler_a"]),
        (("euler", None, None, True), ["needs v_prediction"]),
        (("pndm", None, "flow_prediction"), ["'pndm' cannot run flow_prediction", "euler, euler_a, heun"]),
        (("x\ny" * 100,), ["is not known"]),
    ],
)
def test_a_pair_that_cannot_work_lists_those_that_can(asked, words):
    with pytest.raises(UsageError) as error:
        resolve(SDXL, *asked)
    message = str(error.value)
    assert all(word in message for word in words), message
    assert "\n" not in message
    assert len(message) < 400


def test_an_own_sampler_whose_class_has_one_spacing_lists_those_that_have_others():
    with pytest.raises(UsageError, match="pndm cannot run the schedule karras.*euler, euler_a"):
        resolve({"_class_name": "PNDMScheduler"}, None, "karras")


def test_a_flow_checkpoint_without_betas_cannot_become_epsilon():
    with pytest.raises(UsageError, match="flow model"):
        resolve(FLOW, "euler", None, "epsilon")


def test_flow_shift_goes_along():
    assert build_scheduler(resolve(FLOW, "dpmpp_2m")).config["flow_shift"] == 3.0
    assert build_scheduler(resolve(SDXL, None, None, "flow_prediction")).config["shift"] == 1.0


@pytest.mark.parametrize(
    "change",
    [
        {"_class_name": "EDMEulerScheduler"},
        {"_class_name": None},
        {"_class_name": "os.system"},
        {"num_train_timesteps": 10**12},
        {"num_train_timesteps": True},
        {"num_train_timesteps": "1000"},
        {"beta_start": math.nan},
        {"beta_end": -1},
        {"beta_end": 10**400},
        {"beta_schedule": ["linear"]},
        {"timestep_spacing": {"a": 1}},
        {"prediction_type": "sample"},
        {"prediction_type": "flow_prediction"},
        {"trained_betas": [0.1] * 3},
        {"trained_betas": [0.1] * 999 + ["x"]},
        {"trained_betas": "x"},
        {"use_karras_sigmas": "yes"},
        {"use_beta_sigmas": True},
        {"timestep_type": "continuous"},
        {"steps_offset": 1000},
        {"use_dynamic_shifting": True},
    ],
    ids=str,
)
def test_a_hostile_scheduler_config_is_refused(change):
    with pytest.raises(ModelRefused) as error:
        resolve(SDXL | change)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 500


def test_settings_that_fit_no_class_are_refused_when_built():
    with pytest.raises(ModelRefused, match="DPMSolverMultistepScheduler"):
        build_scheduler(resolve(PIXART | {"solver_type": {"a": 1}}))


def test_steps_that_a_sampler_cannot_take():
    resolved = resolve(SDXL, "lcm")
    with pytest.raises(UsageError, match="60 steps"):
        set_steps(build_scheduler(resolved), resolved, 60)


NOISE_CONFIGS = [resolve(SDXL, name) for name in SAMPLERS]


@pytest.mark.parametrize("resolved", [*NOISE_CONFIGS, resolve(FLOW)], ids=lambda resolved: resolved.class_name)
def test_log_snr_and_timestep_are_inverse(resolved):
    scheduler = build_scheduler(resolved)
    for timestep in (1, 17, 200, 200.5, 799, 998.25):
        assert timestep_at(scheduler, log_snr_at(scheduler, timestep)) == pytest.approx(timestep, abs=1e-3)
    assert timestep_at(scheduler, log_snr_at(scheduler, 200)) == 200.0


@pytest.mark.parametrize("resolved", NOISE_CONFIGS, ids=lambda resolved: resolved.class_name)
def test_levels_agree_with_the_training_table(resolved):
    scheduler = build_scheduler(resolved)
    set_steps(scheduler, resolved, 10)
    levels = noise_levels(scheduler)
    for timestep, log_snr in zip(levels.timesteps, levels.log_snr, strict=True):
        abar = float(scheduler.alphas_cumprod[int(timestep)])
        assert log_snr == pytest.approx(math.log(abar / (1 - abar)), abs=0.01)
        assert log_snr_at(scheduler, timestep) == pytest.approx(log_snr, abs=0.01)


@pytest.mark.parametrize(("config", "sampler", "schedule"), ALLOWED)
def test_the_denoised_estimate_finds_the_image(config, sampler, schedule):
    """A network that knows x0 answers exactly; the estimate must be x0 at every step, in every convention."""
    resolved = resolve(config, sampler, schedule)
    scheduler = build_scheduler(resolved)
    clean = torch.randn(1, 4, 8, 8, generator=torch.Generator().manual_seed(1))
    convention = state_convention(scheduler)
    kind = "flow" if convention == "flow" else scheduler.config.prediction_type

    def predict(sample, sigma):
        if kind == "flow":
            return (sample - clean) / sigma  # n - x0
        plain = sample if convention == "ve" else sample * math.sqrt(1 + sigma**2)
        noise = (plain - clean) / sigma
        alpha = 1 / math.sqrt(1 + sigma**2)
        return noise if kind == "epsilon" else alpha * noise - alpha * sigma * clean

    for sample, output, timestep, _ in walk(resolved, scheduler, 4, predict):
        if output is not None:
            torch.testing.assert_close(denoised(scheduler, sample, output, timestep), clean, atol=2e-2, rtol=1e-2)
        elif sampler not in ("ddim", "lcm"):  # with a trace of noise: by set_alpha_to_one, by the boundary condition
            torch.testing.assert_close(sample, clean, atol=2e-2, rtol=1e-2)


@pytest.mark.parametrize(("config", "sampler"), [(SDXL, "euler"), (SDXL, "ddim"), (FLOW, "euler")])
def test_the_convention_is_that_of_the_schedulers_own_noise(config, sampler):
    resolved = resolve(config, sampler)
    scheduler = build_scheduler(resolved)
    set_steps(scheduler, resolved, 5)
    clean, noise = torch.randn(2, 1, 4, 8, 8, generator=torch.Generator().manual_seed(2)).unbind()
    timestep, sigma = scheduler.timesteps[2:3], noise_levels(scheduler).sigmas[2]
    add = getattr(scheduler, "add_noise", None)
    noisy = add(clean, noise, timestep) if add else scheduler.scale_noise(clean, timestep, noise)
    expected = {
        "ve": clean + sigma * noise,
        "vp": (clean + sigma * noise) / math.sqrt(1 + sigma**2),
        "flow": (1 - sigma) * clean + sigma * noise,
    }[state_convention(scheduler)]
    torch.testing.assert_close(noisy, expected, atol=1e-4, rtol=1e-4)


def test_the_choice_needs_no_torch():
    import subprocess
    import sys
    from pathlib import Path

    root = Path(__file__).parents[3]
    code = "import sys; import mezzotint.families.samplers; assert not {'torch', 'diffusers'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root, env={"PYTHONPATH": str(root / "engine")})


class _OnACard:
    """A table of noise whose numbers cannot be read until it is fetched from the device."""

    def __init__(self, table):
        self._table = table

    def cpu(self):
        return self._table


def test_a_table_that_was_moved_to_a_device_is_fetched():
    """add_noise of DDIM, LCM and others leaves it there."""
    from diffusers import DDIMScheduler

    from mezzotint.families.noise_levels import log_snr_at

    scheduler = DDIMScheduler()
    before = log_snr_at(scheduler, 500)
    scheduler.alphas_cumprod = _OnACard(scheduler.alphas_cumprod)
    assert log_snr_at(scheduler, 500) == before
