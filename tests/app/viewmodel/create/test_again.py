"""Finished images made again: variations, another model, a remix."""

from dataclasses import replace

import pytest
from create_page import kit_of, model_info
from gallery_made import metadata

from mezzotint.protocol import Cascade, GenerateRequest, LoraRef, ModelRef, Sampling, Stage, Transition
from mezzotint_app.viewmodel.create.again import STRENGTH, VARIATIONS, ImagesAgain, with_model

HOW = Sampling(steps=9, sampler="euler", prediction_type="epsilon")
FIRST = Stage(model=ModelRef(id="base", sha256="0"), width=64, height=64, sampling=HOW)
MADE = GenerateRequest(prompt="a boat", seed=7, cascade=Cascade(stages=(FIRST,)), vae_tile=0, dtype="bfloat16")


@pytest.fixture
def kit(tmp_path, qapp):
    yield from kit_of(tmp_path)


@pytest.fixture
def again(kit):
    return ImagesAgain(kit.create, kit.librarian, draw=lambda _below: 100)


@pytest.fixture
def told(again):
    found = []
    again.message.connect(found.append)
    return found


def test_variations_have_the_seed_and_settings_of_the_image(kit, again, told):
    again.vary(["/a.png"])
    kit.librarian.answer(metadata(request=MADE), method="metadata")
    requests = [task.request for task in kit.tasks(kit.entries[0])]
    how = [one.cascade.stages[0].sampling for one in requests]
    assert len(requests) == VARIATIONS and {one.seed for one in requests} == {7}
    assert {(one.variation_seed, one.variation_strength, one.steps) for one in how} == {(100, STRENGTH, 9)}
    assert requests[0].output.path.startswith(str(kit.folder / "out")) and len(told) == 1


def test_images_of_other_programs_are_varied_by_the_model_of_the_page(kit, again):
    again.vary(["/a.png"])
    kit.librarian.answer(metadata(program="a1111", prompt="a boat", seed=3, steps=4), method="metadata")
    request = kit.tasks(kit.entries[0])[0].request
    assert (request.prompt, request.seed, request.cascade.stages[0].model.id) == ("a boat", 3, "base")


def test_an_image_without_a_seed_is_told(kit, again, told):
    again.vary(["/a.png"])
    kit.librarian.answer(metadata(program="unknown"), method="metadata")
    assert not kit.entries and "no seed" in told[0]


def test_another_model_keeps_the_seed_and_what_suits_it():
    hires, refiner = Transition(scale=2, strength=0.5), Transition()
    stages = (FIRST, replace(FIRST, width=None, height=None), Stage(model=ModelRef(id="refiner")))
    request = replace(
        MADE, cascade=Cascade(stages=stages, transitions=(hires, refiner)), loras=(LoraRef(path="a.safetensors"),)
    )
    info = model_info("other")
    alike, unlike = with_model(request, info, "sdxl"), with_model(request, info, "pixart")
    for made in (alike, unlike):
        assert (made.seed, made.vae_tile, made.dtype, made.cascade.transitions) == (7, None, "auto", (hires,))
        assert [stage.model and stage.model.id for stage in made.cascade.stages] == ["other", None]
        assert made.cascade.stages[0].sampling.prediction_type is None and made.cascade.stages[0].width == 64
    assert (alike.cascade.stages[0].sampling.steps, len(alike.loras)) == (9, 1)
    assert (unlike.cascade.stages[0].sampling.steps, len(unlike.loras)) == (None, 0)


def test_another_model_is_queued(kit, again):
    info = next(one for one in again.models() if one.id != "base")
    again.with_model(["/a.png"], info)
    kit.librarian.answer(metadata(request=MADE), method="metadata")
    assert kit.tasks(kit.entries[0])[0].request.cascade.stages[0].model.id == info.id


def test_a_remix_fills_the_page_and_draws_seeds(kit, again, qtbot, told):
    again.remix("/a.png")
    with qtbot.waitSignal(again.loaded):
        kit.librarian.answer(metadata(request=MADE), method="metadata")
    assert (kit.create.prompts.prompt(), kit.create.chosen.settings().steps) == ("a boat", 9)
    assert kit.create.seed.value() is None
    again.remix("/a.png")
    kit.librarian.answer(metadata(program="unknown"), method="metadata")
    assert "no generation metadata" in told[-1]
