"""Where images go: nothing is kept that the engine would refuse, and no image leaves the gallery."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint_app.settings import DEFAULT_TEMPLATE, Settings
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.gallery.output_folders import OutputFolders


@pytest.fixture
def settings(qapp, tmp_path, inline):
    return Stored(tmp_path / "window.json", Settings(output_folder="/a"), inline)


@pytest.fixture
def places(settings, service):
    return OutputFolders(settings, service)


def test_what_is_asked_is_what_generate_would_ask(places, service, settings):
    settings.change(output_folder="/odd [name]")
    places.set_template("[seed].png")
    assert service.last().method == "check_output"
    assert service.last().params.path == f"/odd [[name]{os.sep}[seed].png"


@given(st.permutations([("usage", "bad"), None, ("gone", "x")]))
def test_only_the_last_answer_counts(qapp, tmp_path_factory, order):
    from fake_service import FakeService, InlineBackground

    settings = Stored(tmp_path_factory.mktemp("s") / "w.json", Settings(), InlineBackground())
    service = FakeService()
    places = OutputFolders(settings, service)
    names = ["one.png", "two.png", "three.png"]
    for name in names:
        places.set_template(name)
    assert service.cancelled == [1, 2]
    for call, outcome in enumerate(order, start=1):
        if outcome is None:
            service.answer(None, call=call)
        else:
            kind, message = outcome
            service.fail(kind, message, call=call)
    refused = order[-1] is not None and order[-1][0] == "usage"
    assert places.problem("template") == ("bad" if refused else "")
    assert settings.value().name_template == (DEFAULT_TEMPLATE if refused else "three.png")


def test_empty_is_the_usual(places, service, settings):
    places.set_template("  ")
    assert service.last().params.path.endswith(DEFAULT_TEMPLATE)
    places.set_folder("")
    assert service.last().params.path.startswith(places.usual_folder())


@pytest.mark.parametrize("folder", ["images", "../x", "a/b", "~nobody-of-that-name/x"])
def test_half_a_path_is_refused(places, service, settings, folder):
    places.set_folder(folder)
    assert folder in places.problem("folder")
    assert service.asked == [] and settings.value().output_folder == "/a"


def test_home_may_be_short(places, service, settings):
    places.set_folder("~/x")
    service.answer(None)
    assert settings.value().output_folder == str(Path("~/x").expanduser())


def test_images_made_before_stay_in_the_gallery(places, service, settings):
    for folder in ("/b", "/c", "/b"):
        places.set_folder(folder)
        service.answer(None)
    assert settings.value().output_folder == "/b"
    assert {"/a", "/c"} <= set(settings.value().gallery_folders)


def test_an_engine_that_is_not_there_refuses_nothing(places, service, settings):
    places.set_folder("/b")
    service.fail("not_running", "the librarian does not run")
    assert settings.value().output_folder == "/b"
