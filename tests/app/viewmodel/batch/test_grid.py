"""A grid of the Create page's image: its axes, its count and its job."""

import pytest

from mezzotint.batch.job.reading import job_of_data
from mezzotint.protocol import Cascade, GenerateRequest, LoraRef, Sampling, Stage
from mezzotint_app.viewmodel.batch.grid import AXES, MOST_IMAGES, MOST_VALUES, GridModel

pytestmark = [pytest.mark.requires_package("PySide6"), pytest.mark.usefixtures("qapp")]

REQUEST = GenerateRequest(
    prompt="a house",
    cascade=Cascade(stages=(Stage(sampling=Sampling(steps=10)),)),
    count=3,
    loras=(LoraRef(path="/l/a.safetensors", weight=0.5),),
)


def grid(*axes, request=REQUEST, wildcards=""):
    model = GridModel(lambda: request, lambda _prompt: wildcards)
    for number in range(AXES):
        model.set_axis(number, *(axes[number] if number < len(axes) else ("", "")))
    return model


def test_it_begins_with_the_steps_of_the_page():
    model = GridModel(lambda: REQUEST)
    assert model.axes()[0].values == "5, 10, 20" and model.count() == 3 and not model.problem()


def test_every_setting_has_a_name_and_the_job_is_one():
    model = grid(("steps", "5, 10"), ("lora", "/l/a.safetensors:0.4,/l/a.safetensors:0.8"), ("prompt", "a, b|c"))
    names = dict(model.settings())
    assert all(names.values()) and not {"init", "count", "mask"} & names.keys()
    assert (model.count(), model.shape(), model.problem()) == (8, "2 × 2 × 2", "")
    assert model.title() == "a house: Steps, LoRA, Prompt"
    job = model.job() | {"output": {"folder": "/o", "grid": True}}
    assert job["settings"].keys() == {"seed"}
    read = job_of_data(job)
    assert read.matrix == (("steps", (5, 10)), ("lora", ("/l/a.safetensors:0.4", "/l/a.safetensors:0.8")))
    assert read.prompts.list == ("a, b", "c")
    assert "seed" not in grid(("seed", "1,2")).job()["settings"]


def test_alternatives_count_unless_they_are_drawn():
    request = GenerateRequest(prompt="{a|b} __c__")
    every = grid(("steps", "1,2"), request=request)
    assert (every.count(), every.shape()) == (4, "2 × 2")
    drawn = grid(("steps", "1,2"), request=request, wildcards="/w")
    assert drawn.count() == 2
    assert drawn.job()["prompts"] == {"list": ["{a|b} __c__"], "wildcards": "/w", "choices": "one"}


@pytest.mark.parametrize(
    ("axes", "prompt", "problem"),
    [
        ((), "a", "Choose a setting"),
        ((("steps", "1,2"), ("steps", "3")), "a", "A setting is chosen twice"),
        ((("steps", "1,2"),), "", "Write a prompt first"),
        ((("steps", "1,,2"),), "a", "Steps: write values"),
        ((("steps", "1,1"),), "a", "Steps: a value is there twice"),
        ((("steps", "1,many"),), "a", "Steps: 'many' is invalid"),
        ((("steps", "1,2"), ("seed", "1"), ("guidance", "1")), "{a|b}", "are an axis, too"),
        ((("seed", ",".join(map(str, range(MOST_VALUES + 1)))),), "a", f"At most {MOST_IMAGES} images"),
        ((("steps", "1"),), "{a|b}" * 20, "expand to"),
    ],
)
def test_what_cannot_be_made(axes, prompt, problem):
    model = grid(*axes, request=GenerateRequest(prompt=prompt))
    assert problem in model.problem()
