"""A checkpoint's scheduler_config.json, which is untrusted: validated before a scheduler is built from it."""

import math
from collections.abc import Callable, Mapping

from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import ModelRefused

MAX_TRAIN_TIMESTEPS = 100_000

# Default betas; every other class has (0.0001, 0.02, "linear").
_NARROW_BETAS = {
    "HeunDiscreteScheduler": (0.00085, 0.012, "linear"),
    "LCMScheduler": (0.00085, 0.012, "scaled_linear"),
    "TCDScheduler": (0.00085, 0.012, "scaled_linear"),
}
_CHOICES = {
    "beta_schedule": {"linear", "scaled_linear", "squaredcos_cap_v2"},
    "prediction_type": {"epsilon", "v_prediction", "flow_prediction"},
    "timestep_spacing": {"linspace", "leading", "trailing"},
    "timestep_type": {"discrete"},
    "interpolation_type": {"linear", "log_linear"},
    "final_sigmas_type": {"zero", "sigma_min"},
    "variance_type": {"fixed_small", "fixed_small_log", "fixed_large", "fixed_large_log"},  # none learned
    "time_shift_type": {"exponential", "linear"},
    "algorithm_type": {"dpmsolver", "dpmsolver++", "sde-dpmsolver", "sde-dpmsolver++", "deis"},
}
_RANGES = {
    "num_train_timesteps": (1, MAX_TRAIN_TIMESTEPS),
    "original_inference_steps": (1, MAX_TRAIN_TIMESTEPS),
    "beta_start": (1e-9, 0.999),
    "beta_end": (1e-9, 0.999),
    "shift": (1e-3, 1e3),
    "flow_shift": (1e-3, 1e3),
    "base_shift": (1e-3, 1e2),
    "max_shift": (1e-3, 1e2),
    "base_image_seq_len": (1, 2**20),
    "max_image_seq_len": (1, 2**20),
    "solver_order": (1, 3),
    "steps_offset": (0, 10),
    "sigma_min": (1e-6, 1e6),
    "sigma_max": (1e-6, 1e6),
}
_WHOLE = {"num_train_timesteps", "original_inference_steps", "solver_order", "steps_offset"}
# Settings that would make the noise levels differ from what the rest of the program assumes.
_UNREADABLE: Mapping[str, Callable[[object], bool]] = {
    "use_dynamic_shifting": bool,  # the shift would depend on the image size
    "invert_sigmas": bool,
    "use_beta_sigmas": bool,  # needs scipy
    "shift_terminal": bool,
    "solver_p": lambda value: value is not None,
    "thresholding": bool,  # meant for pixels, not latents
    "scale_factors": bool,
}
_BY_SIZE = {"use_dynamic_shifting", "shift_terminal"}


def checked_config(config: Mapping[str, object], *, by_size: bool = False) -> dict[str, object]:
    """The validated settings without those that begin with an underscore; raises `ModelRefused` if one is invalid.

    `by_size`: the pipeline passes the scheduler the shift for the image size.
    """
    settings = {key: value for key, value in config.items() if not key.startswith("_")}
    for key, value in settings.items():
        if not (by_size and key in _BY_SIZE):
            _check(key, value)
        elif not isinstance(value, bool | int | float) and value is not None:
            raise _refused(key, value, "true, false or a number")
    betas = settings.get("trained_betas")
    if betas is not None:
        _check_betas(betas, settings.get("num_train_timesteps", 1000))
    return settings


def with_own_noise(class_name: str, settings: Mapping[str, object]) -> dict[str, object]:
    """The settings with the class's default betas made explicit, so that another class has the same noise."""
    start, end, schedule = _NARROW_BETAS.get(class_name, (0.0001, 0.02, "linear"))
    own: dict[str, object] = {"beta_start": start, "beta_end": end, "beta_schedule": schedule}
    return {"num_train_timesteps": 1000, **own, **settings}


def _check(key: str, value: object) -> None:
    if value is None or key == "trained_betas":
        return
    if key in _UNREADABLE:
        if _UNREADABLE[key](value):
            raise _refused(key, value, "a setting that this program can run")
    elif key in _CHOICES:
        if not isinstance(value, str) or value not in _CHOICES[key]:
            raise _refused(key, value, f"one of {', '.join(sorted(_CHOICES[key]))}")
    elif key in _RANGES:
        _check_range(key, value)
    elif key.startswith(("use_", "rescale_")) and not isinstance(value, bool):
        raise _refused(key, value, "true or false")


def _check_range(key: str, value: object) -> None:
    low, high = _RANGES[key]
    types = (int,) if key in _WHOLE else (int, float)
    if isinstance(value, bool) or not isinstance(value, types) or not low <= value <= high:
        raise _refused(key, value, f"a number from {low:g} to {high:g}")


def _check_betas(betas: object, count: object) -> None:
    if not isinstance(betas, list) or len(betas) != count:
        raise _refused("trained_betas", betas, f"a list of {count} numbers")
    for beta in betas:
        if not isinstance(beta, float) or not math.isfinite(beta) or not 0 < beta < 1:
            raise _refused("trained_betas", beta, "numbers between 0 and 1")


def _refused(key: str, value: object, wanted: str) -> ModelRefused:
    return ModelRefused(f"The checkpoint's scheduler has {plain(key, 40)} = {plain(value, 40)}; it must be {wanted}.")
