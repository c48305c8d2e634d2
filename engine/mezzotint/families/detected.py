"""The result of detecting a checkpoint."""

from dataclasses import dataclass

from mezzotint.model_protocol import Guidance
from mezzotint.protocol import ModelDefaults, PredictionType


@dataclass(frozen=True, slots=True, kw_only=True)
class Detected:
    """What a checkpoint is, and the defaults it is best run with."""

    family: str  # its name
    variant: str  # by family: base, refiner, turbo, lightning, lcm, inpaint; alpha, sigma
    defaults: ModelDefaults
    prediction_type: PredictionType
    zero_terminal_snr: bool
    sampler: str | None  # None: that of the checkpoint's scheduler
    schedule: str | None  # None: that of the checkpoint's scheduler
    references: int = 0  # maximum number of reference images
    guidance: Guidance = "cfg"
    conditional_refiner: bool = False  # its denoiser refines a smaller image (arXiv 2106.15282)
