"""What a job assumes of its models is said, unless the request decides it."""

from types import SimpleNamespace

import pytest

from mezzotint.families.detected import Detected, variant_guess
from mezzotint.parsed import Guess
from mezzotint.protocol import Cascade, ModelDefaults, Sampling, Stage
from mezzotint.stages.models.model_notices import model_notices

BEST = ModelDefaults(width=1024, height=1024, steps=4, guidance_scale=1.0)
V = Guess(assumed="v_prediction", reason="m.yaml beside it", option="--prediction-type")


def notices(asked, *, sampler=None, stages=1, **found):
    detected = Detected(
        family="sdxl",
        variant="turbo",
        defaults=BEST,
        prediction_type="v_prediction",
        zero_terminal_snr=False,
        sampler=sampler,
        schedule=None,
        **found,
    )
    stage = SimpleNamespace(found=SimpleNamespace(info=SimpleNamespace(id="mine"), detected=detected))
    cascade = Cascade(stages=(Stage(sampling=asked),) * stages)
    return model_notices(SimpleNamespace(stages=(stage,) * stages), cascade)


def test_a_guess_at_what_is_predicted_is_said_once_with_its_option():
    said = "mine: v_prediction is assumed, from m.yaml beside it; --prediction-type overrides it"
    assert notices(Sampling(), prediction_guess=V, stages=2) == (said,)
    assert notices(Sampling(prediction_type="epsilon"), prediction_guess=V) == ()


@pytest.mark.parametrize(
    ("asked", "sampler", "is_said"),
    [
        (Sampling(), "euler_a", True),
        (Sampling(steps=4), None, True),
        (Sampling(steps=4, guidance_scale=1.0), None, False),
        (Sampling(steps=4, guidance_scale=1.0), "euler_a", True),
        (Sampling(steps=4, guidance_scale=1.0, sampler="euler"), "euler_a", False),
    ],
)
def test_a_guess_at_a_variant_is_said_unless_all_of_it_is_asked_for(asked, sampler, is_said):
    guess = variant_guess("turbo", BEST, "'turbo' in its name")
    said = (
        "mine: turbo with 4 steps at guidance 1 is assumed, from 'turbo' in its name; --steps, --guidance overrides it"
    )
    assert notices(asked, sampler=sampler, variant_guess=guess) == ((said,) if is_said else ())


def test_settings_that_are_not_used_are_named():
    assert notices(Sampling(), unused=("layer_idx: -2 in m.yaml",)) == ("mine: not used: layer_idx: -2 in m.yaml",)
