"""What of a stage's sampling a refiner has, too."""

from dataclasses import fields
from types import SimpleNamespace

import pytest

from mezzotint.sampling_protocol import Sampling, both_guidances, sampling_of, shared_with_refiner

SAMPLING = Sampling(sampler="euler", steps=20, guidance_scale=5.0, prediction_type="v_prediction", clip_skip=2)


def test_a_refiner_has_the_schedule_and_not_what_describes_the_network():
    assert shared_with_refiner(SAMPLING) == Sampling(sampler="euler", steps=20, guidance_scale=5.0)


@pytest.mark.parametrize(
    ("cfg", "distilled", "ours"),
    [(7.0, None, (7.0, None)), (1.0, None, (None, 1.0)), (0.5, 3.5, (3.5, 0.5)), (None, 3.5, (3.5, None)),
     (4.0, 2.0, (2.0, 4.0)), (None, None, (None, None)), (-1.0, None, (-1.0, None))],
)  # fmt: skip
def test_both_guidances_of_other_programs(cfg, distilled, ours):
    assert both_guidances(cfg, distilled) == ours


def test_the_sampling_among_other_fields():
    values = {one.name: getattr(SAMPLING, one.name) for one in fields(Sampling)}
    assert sampling_of(SimpleNamespace(prompt="a barn", **values)) == SAMPLING
