"""Jobs whose images can be shown as a grid."""

import pytest

from mezzotint.batch.job.reading import job_of_data
from mezzotint.errors import UsageError

JOB = {"version": 1, "prompts": {"list": ["a"]}, "matrix": {"steps": [1, 2]}, "output": {"folder": "o", "grid": True}}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"prompts": {"list": ["a", "b"]}},
        {"prompts": {"list": ["a {red|blue} house"]}, "matrix": {}},
        {"matrix": {"lora": ["a.safetensors:0.5", "a.safetensors:1"]}},
    ],
)
def test_one_image_for_each_combination(changes):
    job = job_of_data(JOB | changes)
    assert job.output.grid


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"prompts": {"file": "words.txt"}}, "a grid is made of prompts in a list"),
        ({"settings": {"count": 2}}, "one image for each combination: remove count"),
        ({"matrix": {}}, "one to 3 axes; 0 values vary: none"),
        ({"matrix": {name: [1, 2] for name in ("steps", "guidance", "seed", "clip-skip")}}, "4 values vary: steps, "),
        ({"matrix": {"seed": list(range(100))}, "prompts": {"list": ["a"] * 11}}, "1100 images are too many"),
        ({"matrix": {"seed": list(range(101))}}, "an axis of 101 values is too long"),
        ({"output": {"grid": 1}}, "expected true or false"),
    ],
)
def test_others_are_refused(changes, reason):
    with pytest.raises(UsageError, match=reason):
        job_of_data(JOB | changes)
