"""The available samplers and schedules."""

from PySide6.QtCore import QCoreApplication

from mezzotint.sampling_protocol import SAMPLERS as OFFERED_SAMPLERS
from mezzotint.sampling_protocol import SCHEDULES as OFFERED_SCHEDULES

SAMPLERS = tuple(OFFERED_SAMPLERS)
SCHEDULES = ("default", *OFFERED_SCHEDULES)

_SHOWN = OFFERED_SAMPLERS | OFFERED_SCHEDULES


def shown_name(name: str) -> str:
    """Return the name that other programs also use."""
    if name == "default":
        return QCoreApplication.translate("sampler_choices", "Sampler default")
    return _SHOWN.get(name, name)
