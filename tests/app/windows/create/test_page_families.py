"""The Create page offers what the chosen model's family has, and nothing else."""

from dataclasses import replace

import pytest
from create_page import MODELS, kit_of, model_info, page_of

from mezzotint.protocol import ImageInput

FLUX = replace(model_info("flux", "flux1", "dev", guidance=3.5), guidance="embedded")
KLEIN = model_info("klein", "flux2-klein", guidance=1.0, references=4)


@pytest.fixture
def kit(tmp_path, qapp):
    yield from kit_of(tmp_path)


@pytest.fixture
def page(kit, qtbot):
    kit.create.models.use([*MODELS, FLUX, KLEIN])
    return page_of(kit, qtbot)


def choose(kit, page, model):
    kit.create.chosen.set_model(model)
    page.show_model()


def negative(page):
    return page.prompts.fields()["negative_prompt"]


def sampling(page, name):
    return page.sections.sampling.fields()[name]


def test_models_with_cfg_have_a_negative_prompt_and_everything_of_cfg(kit, page):
    choose(kit, page, "base")
    assert negative(page).isVisibleTo(page) and negative(page).hint() == ""
    assert sampling(page, "guidance_scale").name() == "CFG scale"
    assert sampling(page, "cfg_interval").isVisibleTo(page.sections.sampling)
    kit.create.chosen.change(guidance_scale=1.0)
    page.show_model()
    assert negative(page).isVisibleTo(page), "the person has set this, and can undo it"
    assert "CFG scale of 1" in negative(page).hint()


def test_embedded_guidance_is_called_guidance_and_has_no_negative_prompt(kit, page):
    choose(kit, page, "flux")
    assert not negative(page).isVisibleTo(page)
    assert sampling(page, "guidance_scale").name() == "Guidance"
    assert "guidance 3.5" in page.sections.sampling.summary()
    for name in ("cfg_interval", "guidance_rescale"):
        assert not sampling(page, name).isVisibleTo(page.sections.sampling)
    kit.create.prompts.set_negative_prompt("fog")
    page.show_model()
    assert negative(page).isVisibleTo(page) and "ignores the negative prompt" in negative(page).hint()
    assert sampling(page, "true_cfg_scale").isVisibleTo(page.sections.sampling)
    kit.create.chosen.change(true_cfg_scale=2.0)
    page.show_model()
    assert negative(page).hint() == "" and sampling(page, "cfg_interval").isVisibleTo(page.sections.sampling)


def test_distilled_models_show_the_negative_prompt_once_there_is_guidance(kit, page):
    choose(kit, page, "klein")
    assert not negative(page).isVisibleTo(page)
    kit.create.chosen.change(guidance_scale=4.0)
    page.show_model()
    assert negative(page).isVisibleTo(page) and negative(page).hint() == ""


def test_reference_images_are_offered_where_they_are_taken_or_given(kit, page):
    section = page.sections.sections()["references"]
    choose(kit, page, "base")
    assert not section.isVisibleTo(page)
    choose(kit, page, "klein")
    assert section.isVisibleTo(page)
    kit.create.references.add(["/a.png"])
    page.show_model()
    assert section.is_open()
    assert "first reference image decides the size" in page.basics.fields()["size"].hint()
    choose(kit, page, "base")
    assert section.isVisibleTo(page), "what is given is seen, and can be removed"
    assert "takes no reference images" in page.fields()["references"].problem()
    page.generate()
    assert kit.entries == []
    assert kit.create.request().images == (ImageInput(path="/a.png", role="reference"),)


def test_an_unknown_model_has_all_controls(kit, page):
    kit.create.models.use([replace(MODELS[0], id="other")])
    page.show_model()
    assert negative(page).isVisibleTo(page)


def test_speed_options_are_those_of_the_architecture(kit, page):
    shown = page.sections.speed.fields()
    for model, names in (
        ("base", {"tokens", "sparse_attention", "deep_shrink", "step_cache", "denoise_tile"}),
        ("flux", {"tokens", "sparse_attention", "step_cache", "denoise_tile"}),
    ):
        choose(kit, page, model)
        assert {name for name, field in shown.items() if field.isVisibleTo(page.sections.speed)} == names
