"""The available samplers and schedules, and which of them can be combined."""

from PySide6.QtCore import QCoreApplication

from mezzotint.sampling_protocol import SAMPLERS as OFFERED_SAMPLERS
from mezzotint.sampling_protocol import SCHEDULES as OFFERED_SCHEDULES

_SOME = ("default", "sgm_uniform", "simple")
_ALL = ("default", "karras", "exponential", "sgm_uniform", "simple")

# As the engine supports them for models that predict noise or velocity, such as SDXL and PixArt.
SCHEDULES_OF = {
    "euler": _ALL,
    "euler_a": _SOME,
    "heun": _ALL,
    "dpmpp_2m": _ALL,
    "dpmpp_2m_sde": _ALL,
    "ddim": _SOME,
    "unipc": _ALL,
    "lcm": ("default",),
}
SAMPLERS = tuple(SCHEDULES_OF)
SCHEDULES = _ALL

_SHOWN = OFFERED_SAMPLERS | OFFERED_SCHEDULES


def schedules_of(sampler: str | None) -> tuple[str, ...]:
    """Return the sampler's schedules; all of them for the model's default sampler, which is unknown here."""
    return SCHEDULES if sampler is None else SCHEDULES_OF.get(sampler, ("default",))


def go_together(sampler: str | None, schedule: str | None) -> bool:
    """Whether the engine accepts the combination; names not offered here, from a model, are left to the engine."""
    known = schedule in SCHEDULES and (sampler is None or sampler in SCHEDULES_OF)
    return not known or schedule in schedules_of(sampler)


def shown_name(name: str) -> str:
    """Return the name that other programs also use."""
    if name == "default":
        return QCoreApplication.translate("sampler_choices", "Sampler default")
    return _SHOWN.get(name, name)
