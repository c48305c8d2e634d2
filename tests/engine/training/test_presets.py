"""What is used where the request leaves a setting open."""

from dataclasses import replace

import pytest

from mezzotint.errors import UsageError
from mezzotint.training.presets import Preset, resolved
from mezzotint.training_protocol import TrainingSettings


@pytest.mark.parametrize(("images", "steps"), [(1, 500), (10, 1000), (25, 2500), (1000, 3000)])
def test_a_hundred_steps_for_each_image_within_limits(images, steps):
    found = resolved(TrainingSettings(), Preset(), images=images, side=1024)
    assert (found.steps, found.regularization, found.resolution) == (steps, min(images, 32), 1024)
    assert found.alpha == found.rank == 16


def test_what_is_asked_for_comes_first():
    asked = TrainingSettings(steps=7, rank=4, alpha=1.0, rate=1e-3, batch=2, resolution=512, regularization=0)
    found = resolved(asked, Preset(), images=9, side=1024)
    assert (found.steps, found.rank, found.alpha, found.rate) == (7, 4, 1.0, 1e-3)
    assert (found.batch, found.resolution, found.regularization) == (2, 512, 0)


@pytest.mark.parametrize(
    "settings", [{"rate": 2.0}, {"rank": 600}, {"ema": 1.0}, {"validation": 0.9}, {"caption_dropout": -0.1}]
)
def test_values_that_cannot_be(settings):
    with pytest.raises(UsageError, match="it must be"):
        resolved(replace(TrainingSettings(), **settings), Preset(), images=9, side=1024)


def values(**settings):
    return resolved(TrainingSettings(**settings), Preset(rate=1e-4), images=10, side=512)


def test_prodigy_finds_its_rate_itself():
    assert values().rate == 1e-4
    assert values(optimizer="prodigy").rate == 1.0
    assert values(optimizer="prodigy", rate=0.5).rate == 0.5


@pytest.mark.parametrize("also", [{"ema": 0.99}, {"schedule": "cosine"}])
def test_schedule_free_takes_no_other_average_and_no_schedule(also):
    assert values(optimizer="schedule-free").rate == 1e-4
    with pytest.raises(UsageError, match="leave --ema and --schedule out"):
        values(optimizer="schedule-free", **also)
