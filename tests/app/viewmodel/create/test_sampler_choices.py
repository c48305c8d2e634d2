"""What the window offers is what the engine runs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.errors import UsageError
from mezzotint.families import samplers
from mezzotint_app.viewmodel.create import sampler_choices

CONFIG = {
    "_class_name": "EulerDiscreteScheduler",
    "beta_start": 0.00085,
    "beta_end": 0.012,
    "beta_schedule": "scaled_linear",
    "num_train_timesteps": 1000,
    "prediction_type": "epsilon",
}


def test_the_names_are_the_engines():
    assert samplers.SAMPLERS == sampler_choices.SAMPLERS
    assert samplers.SCHEDULES == sampler_choices.SCHEDULES


@pytest.mark.parametrize("prediction", ["epsilon", "v_prediction"])
@given(st.sampled_from(sampler_choices.SAMPLERS), st.sampled_from(sampler_choices.SCHEDULES))
def test_a_pair_is_offered_where_the_engine_takes_it(prediction, sampler, schedule):
    asked = {"sampler": sampler, "schedule": schedule, "prediction_type": None, "zero_terminal_snr": None}
    try:
        samplers.resolve_scheduler({**CONFIG, "prediction_type": prediction}, **asked)
        taken = True
    except UsageError:
        taken = False
    assert sampler_choices.go_together(sampler, schedule) is taken


def test_the_models_own_sampler_leaves_every_schedule():
    assert sampler_choices.schedules_of(None) == sampler_choices.SCHEDULES
    assert sampler_choices.go_together("lcm", None)


def test_every_name_is_shown_in_words():
    for name in (*sampler_choices.SAMPLERS, *sampler_choices.SCHEDULES):
        assert sampler_choices.shown_name(name) not in ("", name)
    assert sampler_choices.shown_name("pndm") == "pndm"
