"""The dialog fetches only what was looked at and agreed to."""

import pytest
from fake_service import FakeService
from PySide6.QtCore import Qt

from mezzotint.library_protocol import KnownModel, KnownModelsRequest, Offer
from mezzotint_app.viewmodel.models.get_model import GetModel
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
def dialog(qtbot, service):
    get = GetModel(service, ModelLibrary(service, FakeService()))
    made = GetModelDialog(get, vram_bytes=4 << 30)
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
    assert dialog.state.text() == "no <i>such</i> model"
    assert not dialog.get_button.isEnabled()
    assert dialog.isVisible()


def test_a_token_goes_with_the_question_and_is_not_shown(dialog, service):
    dialog.token.setText("hf_secret")
    dialog.source.setText("a/b")
    dialog._get.look()
    assert service.last("offer").params.token == "hf_secret"
    assert dialog.token.echoMode() == dialog.token.EchoMode.Password
