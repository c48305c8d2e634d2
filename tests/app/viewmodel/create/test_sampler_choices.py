"""What the window offers is what the engine runs."""

from mezzotint.families import samplers
from mezzotint_app.viewmodel.create import sampler_choices


def test_the_names_are_the_engines():
    assert samplers.SAMPLERS == sampler_choices.SAMPLERS
    assert samplers.SCHEDULES == sampler_choices.SCHEDULES


def test_every_name_is_shown_in_words():
    for name in (*sampler_choices.SAMPLERS, *sampler_choices.SCHEDULES):
        assert sampler_choices.shown_name(name) not in ("", name)
    assert sampler_choices.shown_name("pndm") == "pndm"
