"""What is drawn for wildcards, shown before and used for each image."""

import pytest

from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.create.prompting.draws import PromptDraws

pytestmark = pytest.mark.requires_package("PySide6")


@pytest.fixture
def settings(inline, tmp_path, qapp):
    return Stored(tmp_path / "window.json", Settings(wildcard_folder="/w"), inline)


@pytest.fixture
def draws(service, settings):
    return PromptDraws(service, settings)


def test_examples_of_the_latest_prompt(draws, service, settings, qtbot):
    draws.set("an __animal__")
    qtbot.waitUntil(lambda: bool(service.open("draw")))
    assert service.last().params.wildcards == "/w"
    draws.set("one __animal__")
    service.answer(("old",))
    assert draws.examples() == ()
    qtbot.waitUntil(lambda: bool(service.open("draw")))
    service.answer(("one cat", "one dog", "one cat"))
    assert draws.examples() == ("one cat", "one dog")
    settings.change(wildcard_folder="")
    assert draws.examples() == () and not draws.draws("one __animal__")


def test_why_nothing_can_be_drawn(draws, service, qtbot):
    draws.set("__fish__")
    qtbot.waitUntil(lambda: bool(service.open("draw")))
    service.fail("usage", "no file")
    assert draws.problem() == "no file"
    draws.set("a fish")
    assert draws.problem() == ""
