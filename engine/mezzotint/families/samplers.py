"""Samplers and schedules by their usual names: the diffusers class and settings of each, and its steps.

Samplers are mapped as in the diffusers documentation ("Schedulers", overview). A schedule is a list of sigmas from the
model's own range (`sigma_schedules.py`), whatever the class; `default` is the checkpoint's own spacing and sigmas.
"""

import inspect
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from mezzotint import sampling_protocol
from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import ModelRefused, UsageError
from mezzotint.families.scheduler_config import checked_config, with_own_noise
from mezzotint.images.dialect import our_names
from mezzotint.protocol import PredictionType

if TYPE_CHECKING:
    import torch

SCHEDULES = ("default", *sampling_protocol.SCHEDULES)
_TRAILING = frozenset({"sgm_uniform", "simple"})
_SIGMA_FLAGS = {"use_karras_sigmas": "karras", "use_exponential_sigmas": "exponential", "use_lu_lambdas": "lu"}
_ZERO_SNR = "rescale_betas_zero_snr"


@dataclass(frozen=True, slots=True)
class _Sampler:
    """A scheduler class, the settings that make it this sampler, and whether its steps can be chosen."""

    class_name: str
    zero_snr: bool = False
    settings: Mapping[str, object] = field(default_factory=dict)
    scheduled: str | None = None  # class that takes the same steps at any levels
    has_schedules: bool = True


_MULTISTEP = "DPMSolverMultistepScheduler"
_FLOW_EULER = "FlowMatchEulerDiscreteScheduler"
_FLOW_EULER_A = "LTXEulerAncestralRFScheduler"
_FLOW_LCM = "FlowMatchLCMScheduler"
_TAKES_SIGMAS = {_FLOW_EULER, _FLOW_LCM}  # the others compute their own, shifted alike
_ODE: Mapping[str, object] = {"algorithm_type": "dpmsolver++", "solver_order": 2}
_SDE: Mapping[str, object] = {"algorithm_type": "sde-dpmsolver++", "solver_order": 2}
_UNCLIPPED = {"clip_sample": False}  # latents exceed -1..1

_NOISE_SAMPLERS: Mapping[str, _Sampler] = {
    "euler": _Sampler("EulerDiscreteScheduler", True),
    "euler_a": _Sampler("EulerAncestralDiscreteScheduler", True),
    "heun": _Sampler("HeunDiscreteScheduler"),
    "dpmpp_2m": _Sampler(_MULTISTEP, True, _ODE),
    "dpmpp_2m_sde": _Sampler(_MULTISTEP, True, _SDE),
    "ddim": _Sampler("DDIMScheduler", True, _UNCLIPPED, "EulerDiscreteScheduler"),
    "unipc": _Sampler("UniPCMultistepScheduler", True),
    "lcm": _Sampler("LCMScheduler", True, _UNCLIPPED),
}
_FLOW_SAMPLERS: Mapping[str, _Sampler] = {
    "euler": _Sampler(_FLOW_EULER),
    "euler_a": _Sampler(_FLOW_EULER_A),
    "heun": _Sampler("FlowMatchHeunDiscreteScheduler"),
    "dpmpp_2m": _Sampler(_MULTISTEP, settings=_ODE),
    "dpmpp_2m_sde": _Sampler(_MULTISTEP, settings=_SDE),
    "ddim": _Sampler(_FLOW_EULER),
    "unipc": _Sampler("UniPCMultistepScheduler"),
    "lcm": _Sampler(_FLOW_LCM),
}
# Used only if they are the checkpoint's own, and not offered otherwise.
_OWN_SAMPLERS: Mapping[str, _Sampler] = {
    "pndm": _Sampler("PNDMScheduler", has_schedules=False),
    "ddpm": _Sampler("DDPMScheduler", True, has_schedules=False),
    "deis": _Sampler("DEISMultistepScheduler", has_schedules=False),
    "tcd": _Sampler("TCDScheduler", True, has_schedules=False),
    "dpm_singlestep": _Sampler("DPMSolverSinglestepScheduler", has_schedules=False),
    "dpm_multistep": _Sampler(_MULTISTEP, True),
}
SAMPLERS = tuple(_NOISE_SAMPLERS)
KNOWN_SAMPLERS = (*SAMPLERS, *_OWN_SAMPLERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowSteps:
    """How a flow model's reference pipeline spaces its timesteps."""

    sigmas: tuple[float, ...] | None = None  # before the shift; None: as the scheduler spaces them
    mu: float | None = None  # log of the shift, if the scheduler makes it depend on the image size


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedScheduler:
    """The diffusers class and settings of a sampler. Resolving its names again gives the same result."""

    class_name: str
    config: Mapping[str, object]
    sampler: str
    schedule: str
    prediction_type: PredictionType
    zero_terminal_snr: bool
    flow: FlowSteps | None = None


def resolve_scheduler(
    config: Mapping[str, object],
    *,
    sampler: str | None,
    schedule: str | None,
    prediction_type: PredictionType | None,
    zero_terminal_snr: bool | None,
    flow: FlowSteps | None = None,
) -> ResolvedScheduler:
    """Resolve the requested scheduler; with nothing requested, the checkpoint's own class and settings unchanged.

    `flow`: how a flow model's pipeline spaces its timesteps; without it, no shift may depend on the image size.

    Raises `UsageError` for a value that cannot work, naming those that can; `ModelRefused` for an unknown scheduler.
    """
    own = _Own.of(config, flow)
    prediction = prediction_type or own.prediction_type
    sampler, schedule = our_names(sampler, schedule)
    name = sampler or own.name
    if name == own.name and own.can_predict(prediction):
        chosen, settings = own.sampler, dict(own.settings)
        schedule = schedule or "default"
    else:
        chosen = _offered(name, prediction)
        settings = _moved(own, chosen, prediction)
        schedule = _named_schedule(own.settings) if schedule in (None, "default") else schedule
    if prediction != own.prediction_type:
        settings["prediction_type"] = prediction
    chosen, settings = _with_schedule(settings, name, chosen, schedule, prediction)
    settings, zero_snr = _with_zero_snr(settings, name, chosen, zero_terminal_snr, prediction)
    return ResolvedScheduler(
        class_name=chosen.class_name,
        config=settings,
        sampler=name,
        schedule=schedule,
        prediction_type=prediction,
        zero_terminal_snr=zero_snr,
        flow=flow,
    )


def own_prediction(config: Mapping[str, object]) -> PredictionType:
    """The checkpoint's prediction type, from its scheduler's class and settings."""
    config = _rectified(config)
    return _own_prediction(str(config.get("_class_name")), config)


def build_scheduler(resolved: ResolvedScheduler) -> Any:  # noqa: ANN401  # diffusers has no type for a scheduler
    """Create a diffusers scheduler; settings that its class lacks are ignored, as in `from_config`."""
    import diffusers

    scheduler_class = getattr(diffusers, resolved.class_name)
    known = inspect.signature(scheduler_class.__init__).parameters
    try:
        return scheduler_class(**{key: value for key, value in resolved.config.items() if key in known})
    except (ValueError, TypeError, NotImplementedError, ImportError) as error:
        raise ModelRefused(f"The checkpoint's settings fit no {resolved.class_name}: {plain(error)}") from error


def set_steps(
    scheduler: Any,  # noqa: ANN401
    resolved: ResolvedScheduler,
    steps: int,
    device: "torch.device | str" = "cpu",
) -> None:
    """Set the timesteps; raises `UsageError` if the sampler cannot take that many (lcm: its distillation's limit)."""
    name, flow = type(scheduler).__name__, resolved.flow
    laid: dict[str, object] = {}
    if flow is not None and name in _TAKES_SIGMAS:
        laid = {"mu": flow.mu} if flow.sigmas is None else {"mu": flow.mu, "sigmas": list(flow.sigmas)}
        if steps == 1:  # at pure noise, which cannot be stretched to the terminal value
            scheduler.register_to_config(shift_terminal=None)
    schedule = "simple" if (name, resolved.schedule) == (_FLOW_EULER_A, "default") else resolved.schedule
    try:
        if schedule in sampling_protocol.SCHEDULES:
            from mezzotint.families.laid_steps import lay_steps

            shift = _shift(resolved.config, flow) if resolved.prediction_type == "flow_prediction" else None
            lay_steps(scheduler, schedule, steps, device, flow_shift=shift, mu=laid.get("mu"))
            return
        scheduler.set_timesteps(steps, device=device, **laid)
    except (ValueError, IndexError, ZeroDivisionError) as error:
        raise UsageError(f"{name} cannot take {steps} steps: {plain(error)}") from error
    if float(scheduler.timesteps[-1]) < 0:  # trailing spacing counts down in floats, and can go below zero
        raise UsageError(f"{name} cannot divide its schedule into {steps} steps; take a few more.")


# ---- the checkpoint's own scheduler


@dataclass(frozen=True, slots=True)
class _Own:
    """The checkpoint's own sampler and noise, from its scheduler config."""

    name: str
    sampler: _Sampler
    settings: Mapping[str, object]
    prediction_type: PredictionType
    shift: float  # of a flow model, at the image size

    @classmethod
    def of(cls, config: Mapping[str, object], flow: FlowSteps | None) -> "_Own":
        config = _rectified(config)
        class_name = str(config.get("_class_name"))
        settings = checked_config(config, by_size=flow is not None and class_name == _FLOW_EULER)
        prediction = _own_prediction(class_name, settings)
        table = _FLOW_SAMPLERS if prediction == "flow_prediction" else {**_NOISE_SAMPLERS, **_OWN_SAMPLERS}
        name = next((name for name, sampler in table.items() if _is(sampler, class_name, settings)), None)
        if name is None:
            classes = ", ".join(sorted({sampler.class_name for sampler in table.values()}))
            raise ModelRefused(
                f"The checkpoint's scheduler is {plain(class_name, 60)} with {prediction}, which this program cannot"
                f" run; it runs {classes}."
            )
        sampler = table[name]
        if not sampler.zero_snr:
            settings.pop(_ZERO_SNR, None)  # the class has no such setting, and diffusers ignores it
        return cls(name, sampler, settings, prediction, _shift(settings, flow))

    def can_predict(self, prediction: PredictionType) -> bool:
        """Whether the same class and settings can be used: flow needs other classes."""
        return (prediction == "flow_prediction") == (self.prediction_type == "flow_prediction")


def _rectified(config: Mapping[str, object]) -> Mapping[str, object]:
    """The rectified-flow sampler of a TrigFlow scheduler, whose steps differ in their sigmas alone (Sana Sprint)."""
    if config.get("_class_name") != "SCMScheduler":
        return config
    return {"_class_name": _FLOW_LCM, "num_train_timesteps": config.get("num_train_timesteps", 1000)}


def _own_prediction(class_name: str, settings: Mapping[str, object]) -> PredictionType:
    if class_name.startswith("FlowMatch") or settings.get("use_flow_sigmas"):
        return "flow_prediction"
    said = settings.get("prediction_type") or "epsilon"
    if said == "v_prediction":
        return "v_prediction"
    if said == "epsilon":
        return "epsilon"
    raise ModelRefused(f"The checkpoint's scheduler {plain(class_name, 60)} predicts flow without use_flow_sigmas.")


def _shift(settings: Mapping[str, object], flow: FlowSteps | None) -> float:
    """Shift of a flow model's sigmas; if it depends on the image size, e^mu (arXiv 2403.03206, 5.3.2)."""
    if settings.get("use_dynamic_shifting") and flow is not None and flow.mu is not None:
        return math.exp(flow.mu) if settings.get("time_shift_type", "exponential") == "exponential" else flow.mu
    said = settings.get("shift", settings.get("flow_shift", 1.0))
    return float(said) if isinstance(said, int | float) else 1.0


def _is(sampler: _Sampler, class_name: str, settings: Mapping[str, object]) -> bool:
    if sampler.class_name != class_name or settings.get("stochastic_sampling"):
        return False
    if class_name != _MULTISTEP or not sampler.settings:
        return True
    return all(settings.get(key, _ODE[key]) == value for key, value in sampler.settings.items())


def _named_schedule(settings: Mapping[str, object]) -> str:
    """The schedule that a checkpoint's flags name, if other classes have it."""
    return next((name for flag, name in _SIGMA_FLAGS.items() if settings.get(flag) and name in SCHEDULES), "default")


# ---- the user's choice


def _table(prediction: PredictionType) -> Mapping[str, _Sampler]:
    return _FLOW_SAMPLERS if prediction == "flow_prediction" else _NOISE_SAMPLERS


def _offered(name: str, prediction: PredictionType) -> _Sampler:
    table = _table(prediction)
    if name not in table:
        known = name in _NOISE_SAMPLERS or name in _OWN_SAMPLERS
        fault = f"cannot run {prediction} with this checkpoint" if known else "is not known"
        raise UsageError(f"The sampler '{plain(name, 40)}' {fault}; those that can: {', '.join(table)}.")
    return table[name]


def _moved(own: _Own, chosen: _Sampler, prediction: PredictionType) -> dict[str, object]:
    """The checkpoint's settings for another class: keeps the noise, drops sigma spacings that the class lacks."""
    if prediction == "flow_prediction":
        train = own.settings.get("num_train_timesteps", 1000)
        flow = {"num_train_timesteps": train, "shift": own.shift, "flow_shift": own.shift}
        settings = {**flow, "use_flow_sigmas": True, "prediction_type": prediction}
    elif own.prediction_type == "flow_prediction" and "beta_start" not in own.settings:
        raise UsageError(f"Prediction type '{prediction}' cannot work here: the checkpoint is a flow model, no betas.")
    else:
        settings = with_own_noise(own.sampler.class_name, own.settings)
        settings.pop("use_flow_sigmas", None)
    return {**_without_sigma_flags(settings), **chosen.settings}


def _with_schedule(
    settings: dict[str, object], name: str, chosen: _Sampler, schedule: str, prediction: PredictionType
) -> tuple[_Sampler, dict[str, object]]:
    if schedule == "default" or (schedule == "lu" and settings.get("use_lu_lambdas")):
        return chosen, settings
    if schedule not in SCHEDULES:
        known = ", ".join(SCHEDULES)
        raise UsageError(f"The schedule '{plain(schedule, 40)}' is not known; {name} runs: {known}.")
    if not chosen.has_schedules:
        raise UsageError(
            f"The sampler {name} cannot run the schedule {schedule}; it runs: default."
            f" Samplers that run {schedule}: {', '.join(_table(prediction))}."
        )
    settings = _without_sigma_flags(settings)
    if "final_sigmas_type" in settings:
        settings["final_sigmas_type"] = "zero"
    if schedule in _TRAILING and prediction != "flow_prediction":
        settings["timestep_spacing"] = "trailing"  # which also says how strong the first noise is
    return replace(chosen, class_name=chosen.scheduled or chosen.class_name), settings


def _without_sigma_flags(settings: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in settings.items() if key not in _SIGMA_FLAGS}


def _with_zero_snr(
    settings: dict[str, object], name: str, chosen: _Sampler, asked: bool | None, prediction: PredictionType
) -> tuple[dict[str, object], bool]:
    """Settings for zero terminal SNR, with the timestep spacing that reaches it (arXiv 2305.08891, 3.1 and 3.3)."""
    said = bool(settings.get(_ZERO_SNR))
    wanted = said if asked is None else asked
    if wanted and not chosen.zero_snr:
        able = ", ".join(other for other, sampler in _NOISE_SAMPLERS.items() if sampler.zero_snr)
        raise UsageError(f"The sampler {name} cannot run zero terminal SNR; those that can, with v_prediction: {able}.")
    if wanted == said:
        return settings, wanted
    if not wanted:
        return {**settings, _ZERO_SNR: False}, False
    if prediction != "v_prediction":
        raise UsageError(f"Zero terminal SNR needs v_prediction; with {prediction} pure noise says nothing.")
    return {**settings, _ZERO_SNR: True, "timestep_spacing": "trailing"}, True
