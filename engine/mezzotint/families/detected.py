"""What a checkpoint was recognised as."""

from dataclasses import dataclass

from mezzotint.protocol import ModelDefaults, PredictionType


@dataclass(frozen=True, slots=True, kw_only=True)
class Detected:
    """What a checkpoint is, and what it is best run with when nothing is said."""

    family: str  # its name
    variant: str  # sdxl: base, refiner, turbo, lightning, lcm; pixart: alpha, sigma; of others their description's
    defaults: ModelDefaults
    prediction_type: PredictionType
    zero_terminal_snr: bool
    sampler: str | None  # None: that of the checkpoint's own scheduler
    schedule: str | None  # None: that of the checkpoint's own scheduler
