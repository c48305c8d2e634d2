"""Which models are offered."""

from dataclasses import replace

import pytest
from create_page import MODELS, model_info
from fake_service import FakeService

from mezzotint_app.viewmodel.models.choices import ModelChoices


@pytest.fixture
def choices(service, qapp):
    found = ModelChoices(service)
    found.use(MODELS)
    return found


def test_models_that_cannot_begin_an_image_are_told_why(choices):
    assert choices.problem_of(choices.find("base")) is None
    assert choices.problem_of(choices.find("broken")) == "The file is damaged: it ends too early."
    assert "Refiner" in choices.problem_of(choices.find("refiner"))


@pytest.mark.parametrize(
    ("model", "refiners"),
    [("base", ["refiner"]), ("turbo", ["refiner"]), ("dit", []), (None, [])],
)
def test_refiners_go_with_a_model_of_their_kind_and_size(choices, model, refiners):
    info = None if model is None else choices.find(model)
    assert [one.id for one in choices.refiners_for(info)] == refiners


def test_conditional_refiners_go_with_models_of_their_family_and_begin_no_image(choices):
    enlarger = replace(choices.find("dit"), id="enlarger", conditional_refiner=True)
    choices.use((enlarger, replace(enlarger, id="damaged", problem="x"), *MODELS))
    assert choices.problem_of(enlarger).endswith("Choose it under Refine with.")
    assert [one.id for one in choices.conditional_refiners_for(choices.find("dit"))] == ["enlarger"]
    assert choices.conditional_refiners_for(choices.find("base")) == choices.conditional_refiners_for(None) == ()
    assert choices.default().id == "base"


def test_a_small_refiner_goes_with_a_small_model(choices):
    choices.use((*MODELS, model_info("small", side=128)))
    assert [one.id for one in choices.refiners_for(choices.find("small"))] == ["small-refiner"]


def test_a_damaged_refiner_goes_with_none(choices):
    choices.use(tuple(replace(one, problem="x") if one.variant == "refiner" else one for one in MODELS))
    assert choices.refiners_for(choices.find("base")) == ()


def test_a_bundled_model_is_begun_with_and_hidden_ones_are_not_there(choices):
    assert choices.default().id == "base"
    choices.use(tuple(replace(one, hidden=one.id == "base") for one in MODELS))
    assert choices.find("base") is None
    assert choices.default().id == "dit"
    choices.use(())
    assert choices.default() is None


def test_images_are_edited_with_a_bundled_model_only_if_there_is_no_other(choices):
    assert choices.editing() is None
    bundled = replace(model_info("starter"), source="bundled", references=1)
    choices.use((bundled, replace(model_info("klein"), source="folder", references=4)))
    assert choices.editing().id == "klein"
    choices.use((bundled,))
    assert choices.editing().id == "starter"


def test_models_are_found_by_the_name_that_others_give_them(choices):
    assert choices.named("C:\\x\\BASE.safetensors").id == "base"
    assert choices.named("broken") is None
    assert choices.named("") is None
    assert choices.find("/models/dit").id == "dit"


def test_one_list_is_asked_for_at_a_time(qapp):
    service = FakeService()
    choices = ModelChoices(service)
    said = []
    choices.failed.connect(said.append)
    choices.refresh()
    choices.refresh()
    choices.refresh()
    assert service.methods() == ["models"]
    assert not choices.known()
    service.fail(message="the librarian ended")
    assert said == ["the librarian ended"]
    assert service.methods() == ["models", "models"]
    service.answer(MODELS)
    assert choices.known()
    assert service.methods() == ["models", "models"]
