"""The dialog fetches only what was looked at and agreed to."""

import pytest
from fake_service import FakeService
from PySide6.QtCore import Qt

from mezzotint.library_protocol import KnownModel, KnownModelsRequest, Offer
from mezzotint.protocol import HubModel, HubSearch
from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.models.get_model import GetModel
from mezzotint_app.viewmodel.models.hub_search import HubSearchModel
from mezzotint_app.viewmodel.models.models import ModelLibrary
from mezzotint_app.windows.models.get_model_dialog import GetModelDialog


def known(identity, **changes):
    values = {
        "id": identity,
        "title": f"The model {identity}",
        "good_at": "landscapes <b>",
        "licence": "Apache-2.0",
        "licence_url": "https://example.org",
        "family": "sdxl",
        "bytes": 7 << 30,
        "smallest_vram_bytes": 3 << 30,
        "gated": False,
        "runs": True,
        "how_it_runs": "well",
    }
    return KnownModel(**values | changes)


OFFER = Offer(
    source="a/b",
    revision="abc",
    title="B",
    licence="MIT",
    files=tuple(f"{number}.safetensors" for number in range(60)),
    bytes=7 << 30,
    bytes_left=2 << 30,
    free_bytes=90 << 30,
    target="/models/b",
    problem=None,
)


@pytest.fixture
def settings(tmp_path, inline):
    return Stored(tmp_path / "settings.json", Settings(hub_endpoint="https://mirror.example"), inline)


@pytest.fixture
def dialog(qtbot, service, settings):
    get = GetModel(service, ModelLibrary(service, FakeService()))
    made = GetModelDialog(get, HubSearchModel(service, settings), vram_bytes=4 << 30)
    qtbot.addWidget(made)
    assert service.last("known_models").params == KnownModelsRequest(vram_bytes=4 << 30)
    listed = (known("a/b"), known("c/d", how_it_runs="not"), known("e/f", runs=False))
    service.answer((*listed, known("g/h", how_it_runs="slower"), known("i/j", how_it_runs=None)), "known_models")
    made.show()
    return made


def rows(dialog):
    return [dialog.list.item(row).text() for row in range(dialog.list.count())]


def about(dialog):
    form = dialog.about
    return "\n".join(form.itemAt(row, form.ItemRole.FieldRole).widget().text() for row in range(form.rowCount()))


def test_the_list_tells_what_fits(dialog):
    told = ["runs well", "does not fit", "not supported", "runs slower", "from 3.0 GB of VRAM"]
    assert [row.rpartition(" · ")[2] for row in rows(dialog)] == told


def test_opening_and_choosing_fetch_nothing(dialog, service):
    dialog.list.setCurrentRow(0)
    assert dialog.source.text() == "a/b"
    assert set(service.methods()) == {"known_models"}
    assert not dialog.get_button.isEnabled()
    assert "landscapes <b>" in about(dialog)


def test_an_offer_is_shown_before_it_can_be_taken(qtbot, dialog, service):
    dialog.list.setCurrentRow(0)
    qtbot.mouseClick(dialog.look_button, Qt.MouseButton.LeftButton)
    service.answer(OFFER, "offer")
    for part in ("MIT", "/models/b", "and 20 more"):
        assert part in about(dialog)
    assert dialog.get_button.isEnabled()
    with qtbot.waitSignal(dialog.begun):
        qtbot.mouseClick(dialog.get_button, Qt.MouseButton.LeftButton)
    assert service.last("get").params.revision == "abc"
    assert not dialog.isVisible()


def test_a_problem_is_told_and_nothing_can_be_got(qtbot, dialog, service):
    dialog.source.setText("a/b")
    qtbot.keyClick(dialog.source, Qt.Key.Key_Return)
    service.fail(message="no <i>such</i> model", method="offer")
    assert dialog.state.text() == "No <i>such</i> model"
    assert not dialog.get_button.isEnabled()
    assert dialog.isVisible()


def test_a_token_goes_with_the_question_and_is_not_shown(dialog, service):
    dialog.token.setText("hf_secret")
    dialog.source.setText("a/b")
    dialog._get.look()
    assert service.last("offer").params.token == "hf_secret"
    assert dialog.token.echoMode() == dialog.token.EchoMode.Password


def hub_model(identity, **changes):
    values = {"family": "sdxl", "runs": True, "licence": "mit", "downloads": 1234, "bytes": 3 << 30, "gated": False}
    return HubModel(id=identity, **values | changes)


def searched(qtbot, dialog, words="turbo"):
    dialog.choices.allow.click()
    dialog.choices.words.setText(words)
    qtbot.keyClick(dialog.choices.words, Qt.Key.Key_Return)


def test_nothing_is_searched_for_before_it_is_allowed(qtbot, dialog, service, settings):
    assert not dialog.choices.words.isEnabled() and not dialog.choices.search_button.isEnabled()
    searched(qtbot, dialog)
    assert settings.value().hub_search
    assert service.last("search_hub").params == HubSearch(words="turbo", endpoint="https://mirror.example")
    dialog.choices.words.setText("turbo and more")
    assert service.methods().count("search_hub") == 1


def test_found_models_are_got_as_any_other(qtbot, dialog, service):
    searched(qtbot, dialog)
    unsure = hub_model("u/v", family="", runs=None, downloads=None, bytes=None, gated=True)
    service.answer((hub_model("s/t"), unsure, hub_model("e/f", runs=False)), "search_hub")
    assert rows(dialog) == [
        "s/t\nsdxl · mit · 1234 downloads",
        "u/v\nfamily not stated · mit · gated",
        "e/f\nnot supported · mit · 1234 downloads",
    ]
    dialog.list.setCurrentRow(0)
    assert "3.0 GB, of which a part is needed" in about(dialog)
    dialog.list.setCurrentRow(1)
    assert "Gated" in about(dialog) and not dialog.get_button.isEnabled()
    dialog.look_button.click()
    assert service.last("offer").params.source == "u/v"


def test_without_words_the_recommended_models_are_listed_again(qtbot, dialog, service):
    searched(qtbot, dialog)
    service.answer((), "search_hub")
    assert rows(dialog) == [] and "fewer words" in dialog.choices.state.text()
    dialog.choices.words.clear()
    assert len(rows(dialog)) == 5 and dialog.choices.title.text() == "Recommended models"


def test_a_search_that_fails_or_is_no_longer_wanted(qtbot, dialog, service):
    searched(qtbot, dialog)
    service.fail(message="no <i>connection</i>", method="search_hub")
    assert dialog.choices.state.text() == "No <i>connection</i>"
    assert dialog.choices.title.text() == "Recommended models" and len(rows(dialog)) == 5
    qtbot.keyClick(dialog.choices.words, Qt.Key.Key_Return)
    dialog.choices.allow.click()
    service.answer((hub_model("a/b"),), "search_hub")
    assert service.cancelled and len(rows(dialog)) == 5
