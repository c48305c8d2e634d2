"""What of a stage's sampling a refiner has, too."""

from dataclasses import fields
from types import SimpleNamespace

from mezzotint.sampling_protocol import Sampling, sampling_of, shared_with_refiner

SAMPLING = Sampling(sampler="euler", steps=20, guidance_scale=5.0, prediction_type="v_prediction", clip_skip=2)


def test_a_refiner_has_the_schedule_and_not_what_describes_the_network():
    assert shared_with_refiner(SAMPLING) == Sampling(sampler="euler", steps=20, guidance_scale=5.0)


def test_the_sampling_among_other_fields():
    values = {one.name: getattr(SAMPLING, one.name) for one in fields(Sampling)}
    assert sampling_of(SimpleNamespace(prompt="a barn", **values)) == SAMPLING
