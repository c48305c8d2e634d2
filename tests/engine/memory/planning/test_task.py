"""Jobs made of models."""

import pytest
from planned_machines import usual_model

from mezzotint.memory.planning.task import task_of


@pytest.mark.parametrize(
    ("count", "steps", "wanted"),
    [(1, 30, [30]), (2, 30, [24, 6]), (2, 1, [1, 1]), (3, 30, [24, 3, 3]), (2, None, [16, 4])],
)
def test_later_models_share_a_fifth_of_the_steps(count, steps, wanted):
    job = task_of([usual_model()] * count, steps=steps)
    assert [stage.steps for stage in job.stages] == wanted


def test_what_is_not_said_is_the_first_model_s():
    models = [usual_model(), usual_model(width=512, height=512, guided=False)]
    job = task_of(models)
    assert [(stage.width, stage.height) for stage in job.stages] == [(1024, 1024)] * 2
    assert [stage.guided for stage in job.stages] == [True, False]
    assert task_of(models, width=640, height=960).stages[1].height == 960
