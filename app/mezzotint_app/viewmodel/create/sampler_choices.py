"""Which samplers and schedules can be had, and which of them go together."""

from PySide6.QtCore import QCoreApplication

from mezzotint.sampling_protocol import SAMPLERS as OFFERED_SAMPLERS
from mezzotint.sampling_protocol import SCHEDULES as OFFERED_SCHEDULES

_SOME = ("default", "sgm_uniform", "simple")
_ALL = ("default", "karras", "exponential", "sgm_uniform", "simple")

# As the engine runs them for networks that predict noise or velocity, which those of SDXL and PixArt do.
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
    """Those that a sampler runs; of the model's own sampler it is not known, so all of them."""
    return SCHEDULES if sampler is None else SCHEDULES_OF.get(sampler, ("default",))


def go_together(sampler: str | None, schedule: str | None) -> bool:
    """Whether the engine would take both; names that come with a model and are not offered are left to the engine."""
    known = schedule in SCHEDULES and (sampler is None or sampler in SCHEDULES_OF)
    return not known or schedule in schedules_of(sampler)


def shown_name(name: str) -> str:
    """As other programs write it too."""
    if name == "default":
        return QCoreApplication.translate("sampler_choices", "Sampler default")
    return _SHOWN.get(name, name)
