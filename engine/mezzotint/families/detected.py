"""The result of detecting a checkpoint."""

from dataclasses import dataclass

from mezzotint.model_protocol import Guidance
from mezzotint.parsed import Guess, enumerated
from mezzotint.protocol import ModelDefaults, PredictionType


def variant_guess(variant: str, best: ModelDefaults, reason: str) -> Guess:
    """The guess that a model is of a variant, whose defaults differ from others'."""
    what = f"{variant} with {best.steps} steps at guidance {best.guidance_scale:g}"
    return Guess(assumed=what, reason=reason, option="--steps, --guidance")


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
    prediction_reason: str = "the family's"  # what says so
    prediction_guess: Guess | None = None  # if nothing in the model's tensors and metadata does
    variant_guess: Guess | None = None  # the same of the variant, and the defaults that follow from it
    unused: tuple[str, ...] = ()  # settings beside the model that are not used

    @property
    def notices(self) -> tuple[str, ...]:
        """What was guessed and what is not used, a line each."""
        guesses = tuple(map(str, filter(None, (self.prediction_guess, self.variant_guess))))
        return guesses + ((f"not used: {enumerated(self.unused)}",) if self.unused else ())
