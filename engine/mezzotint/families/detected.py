"""What a checkpoint was recognised as."""

from dataclasses import dataclass

from mezzotint.model_protocol import Guidance
from mezzotint.protocol import ModelDefaults, PredictionType


@dataclass(frozen=True, slots=True, kw_only=True)
class Detected:
    """What a checkpoint is, and what it is best run with when nothing is said."""

    family: str  # its name
    variant: str  # the families' own: base, refiner, turbo, lightning, lcm, inpaint; alpha, sigma
    defaults: ModelDefaults
    prediction_type: PredictionType
    zero_terminal_snr: bool
    sampler: str | None  # None: that of the checkpoint's own scheduler
    schedule: str | None  # None: that of the checkpoint's own scheduler
    references: int = 0  # the most reference images that it takes
    guidance: Guidance = "cfg"
