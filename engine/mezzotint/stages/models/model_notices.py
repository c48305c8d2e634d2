"""What a job assumes of its models and was not asked for, and what lies beside them and is not used."""

from mezzotint.checkpoints.plain_text import plain
from mezzotint.families.detected import Detected
from mezzotint.parsed import Guess, Parsed
from mezzotint.protocol import Cascade, Sampling
from mezzotint.stages.setup import CascadeSetup


def model_notices(setup: CascadeSetup, asked: Cascade) -> tuple[str, ...]:
    """A line for each guess that the request does not override, and for settings that are not used."""
    found: dict[str, None] = {}
    for stage, wanted in zip(setup.stages, asked.stages, strict=True):
        detected = stage.found.detected
        guesses = (_prediction_of(detected, wanted.sampling), _variant_of(detected, wanted.sampling))
        told = Parsed(
            None,
            source=plain(stage.found.info.id, 200),
            unused=detected.unused,
            guesses=tuple(each for each in guesses if each is not None),
        )
        found |= dict.fromkeys(told.notices())
    return tuple(found)


def _prediction_of(detected: Detected, asked: Sampling) -> Guess | None:
    return detected.prediction_guess if asked.prediction_type is None else None


def _variant_of(detected: Detected, asked: Sampling) -> Guess | None:
    """The guess at a variant, unless all that follows from it was asked for."""
    own = [asked.steps, asked.guidance_scale, *([asked.sampler] if detected.sampler is not None else [])]
    return detected.variant_guess if None in own else None
