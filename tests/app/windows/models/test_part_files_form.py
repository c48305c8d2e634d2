"""The files of a model's components are shown and chosen."""

import pytest
from fake_engine import model_info

from mezzotint.protocol import ModelRef, PartChoice, PartFiles
from mezzotint_app.viewmodel.models.cards import ModelCards
from mezzotint_app.viewmodel.thumbnails import Thumbnails
from mezzotint_app.windows.models.details import ModelDetails

MODELS = (model_info(id="flux", family="flux1"), model_info(id="xl", family="sdxl"))
VAE = PartFiles(component="vae", file="/c/vae/ae.safetensors", chosen=False, fitting=("/c/vae/ae.safetensors",))
WORDS = PartFiles(
    component="text_encoder",
    file="/other/t5.safetensors",
    chosen=True,
    fitting=("/a/t5.safetensors", "/b/clip.safetensors"),
)


@pytest.fixture
def form(qtbot, library, service, inline):
    details = ModelDetails(library, ModelCards(service), Thumbnails(service, inline))
    qtbot.addWidget(details)
    details.show_model("flux")
    return details.part_files


def names(form, component):
    return [choice.name for choice in form.box(component).choices()]


def test_the_file_in_use_and_those_that_fit_are_shown(form, service):
    assert form.isHidden()
    assert service.last("part_files").params == ModelRef(id="flux")
    service.answer((VAE, WORDS), "part_files")
    assert not form.isHidden()
    assert names(form, "vae") == ["Automatic: ae.safetensors", "ae.safetensors"]
    assert form.box("vae").value() is None
    assert names(form, "text_encoder") == ["Automatic", "a/t5.safetensors", "clip.safetensors", "other/t5.safetensors"]
    assert form.box("text_encoder").value() == "/other/t5.safetensors"


@pytest.mark.parametrize("file", ["/c/vae/ae.safetensors", None])
def test_a_file_is_chosen_and_the_models_are_listed_again(form, service, file):
    service.answer((VAE, WORDS), "part_files")
    before = form.box("vae")
    form.box("vae").choose(file)
    assert service.last("choose_part").params == PartChoice(model="flux", component="vae", file=file)
    service.answer((PartFiles(component="vae", file="", chosen=False, fitting=()), WORDS), "choose_part")
    assert names(form, "vae") == ["Automatic"] and form.box("vae") is before
    assert service.open("models")


def test_the_file_in_use_is_shown_again_if_another_is_refused(qtbot, form, library, service):
    service.answer((VAE, WORDS), "part_files")
    with qtbot.waitSignal(library.message) as told:
        form.box("vae").choose("/c/vae/ae.safetensors")
        service.fail(message="it does not fit", method="choose_part")
    assert told.args == ["it does not fit"] and form.box("vae").value() is None


def test_what_was_known_stays_until_the_list_has_been_read(form, library, service):
    service.answer((VAE,), "part_files")
    library.refresh()
    service.answer(MODELS, "models")
    form.show_model("flux")
    assert not form.isHidden() and names(form, "vae")
    form.show_model("xl")
    assert form.isHidden()
    service.answer((WORDS,), "part_files")
    assert form.isHidden()
    service.answer((), "part_files")
    form.show_model(None)
    assert form.isHidden()
