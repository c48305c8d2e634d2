"""How often networks run, and in which order the halves of the guidance may come."""

from dataclasses import replace

import pytest

from mezzotint.memory.footprints.shipped import shipped
from mezzotint.memory.planning.phases import guidances
from mezzotint.memory.planning.task import task_of


@pytest.mark.parametrize(
    ("guided", "in_turn", "expected"),
    [
        (False, True, ("batched",)),
        (True, False, ("batched", "sequential")),
        (True, True, ("sequential",)),
    ],
)
def test_some_models_have_the_halves_of_the_guidance_in_turn_alone(guided, in_turn, expected):
    model = replace(shipped("starter-xl"), guided=guided, in_turn=in_turn)
    assert guidances(task_of((model,))) == expected
