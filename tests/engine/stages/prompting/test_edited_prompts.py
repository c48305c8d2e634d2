"""Prompts that change from step to step, from the text to the image."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from many_requests import images, run_many

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.errors import UsageError
from mezzotint.families.family import Conditioning
from mezzotint.protocol import Cascade, GenerateRequest, ModelRef, Output, Sampling, Stage
from mezzotint.stages.prompting import edited_prompts as module
from mezzotint.stages.prompting.edited_prompts import changing, edited_prompts


def stage(prompt, negative="", regions=()):
    return SimpleNamespace(
        prompt=prompt, negative_prompt=negative, regions=[SimpleNamespace(prompt=one) for one in regions]
    )


def cascade(monkeypatch, stages, counts, *, orders=(1, 1, 1), strengths=(None, None)):
    """A setup of stages with so many evaluations each."""
    schedules = [
        SimpleNamespace(timesteps=[0] * count, scheduler=SimpleNamespace(order=order))
        for count, order in zip(counts, orders, strict=False)
    ]
    monkeypatch.setattr(module, "plan_schedules", lambda *_: schedules)
    transitions = [SimpleNamespace(strength=strength) for strength in strengths[: len(stages) - 1]]
    return SimpleNamespace(stages=stages, transitions=transitions)


def encode(prompts):
    tokens = len(prompts.regions[0]) if prompts.regions else 1
    words = torch.tensor([float(len(prompts.prompt))])
    return Conditioning(guided=False, tensors={"text": words}, spans=(tokens,))


def test_stages_of_one_schedule_share_its_steps(monkeypatch):
    one = stage("a [red:blue:0.75] [x|y]")
    setup = cascade(monkeypatch, [one, one, one], (6, 2, 4), strengths=(None, 0.5))
    parts = [edited_prompts(setup, index, one).parts for index in range(3)]
    assert {part.prompts[0] for part in parts[0]} == {"a red x", "a red y"}
    assert [(part.first, part.prompts[0]) for part in parts[1]] == [(6, "a blue x"), (7, "a blue y")]
    assert [part.prompts[0] for part in parts[2]] == ["a red x", "a red y", "a red x", "a blue y"]


def test_steps_of_samplers_with_two_evaluations(monkeypatch):
    one = stage("[a:bb:3]", "[c:d:4]")
    setup = cascade(monkeypatch, [one], (9,), orders=(2,))
    edited = edited_prompts(setup, 0, one)
    made = changing(edited, encode)
    assert [first for first, _ in made.later] == [6, 8] and edited.steps == 5
    assert [message for _, message in edited.notices()] == [
        "the prompt is read as 'a' from step 1, 'bb' from step 4, of 5 steps",
        "the negative prompt is read as 'c' from step 1, 'd' from step 5, of 5 steps",
    ]


def test_each_text_is_encoded_once_and_regions_keep_their_lengths(monkeypatch):
    asked = []
    one = stage("[a|b]", regions=["r"])
    setup = cascade(monkeypatch, [one], (10,))
    changing(edited_prompts(setup, 0, one), lambda prompts: asked.append(prompts.prompt) or encode(prompts))
    assert asked == ["a", "b"]
    other = stage("x", regions=["[a:bcd:2]"])
    with pytest.raises(UsageError, match="regions change to texts of another length"):
        changing(edited_prompts(cascade(monkeypatch, [other], (4,)), 0, other), encode)
    plain = changing(edited_prompts(setup, 0, stage("[weak]")), encode)
    assert plain.later == ()


def test_the_image_follows_the_prompt_of_each_step(tmp_path, tiny_pixart_folder):
    def request(number, prompt):
        sampling = Sampling(steps=2, guidance_scale=3.0)
        one = Stage(model=ModelRef(id=str(tiny_pixart_folder)), width=64, height=64, sampling=sampling)
        output = Output(path=str(Path(tmp_path) / f"{number}.png"))
        return GenerateRequest(cascade=Cascade(stages=(one,)), prompt=prompt, seed=3, output=output)

    prompts = (
        "a red house",
        "a blue boat",
        "a [red house:blue boat:0]",
        "a [red house:blue boat:2]",
        "a [red house|blue boat]",
    )
    outcomes = run_many(Engine(Catalog.standard()), [request(*one) for one in enumerate(prompts)])
    red, blue, at_once, never, mixed = (image.sha256 for image in images(outcomes))
    assert (at_once, never) == (blue, red) and mixed not in (red, blue)
    assert outcomes[4].result.notices == (
        "the prompt is read as 'a red house' from step 1, 'a blue boat' from step 2, of 2 steps",
    )
    assert outcomes[4].result.stages[0].prompt == "a [red house|blue boat]"
