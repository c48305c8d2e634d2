"""Folders of models."""

import pytest
from fake_engine import model_info
from fake_service import FakeService
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from mezzotint.library_protocol import ModelPlace
from mezzotint_app.viewmodel.models.models import ModelLibrary
from mezzotint_app.windows.models.model_folders_dialog import ModelFoldersDialog


@pytest.fixture
def dialog(qtbot, service):
    library = ModelLibrary(service, FakeService())
    library.refresh()
    service.answer(
        (
            ModelPlace(path="/data/<b>", source="folder", own=True),
            ModelPlace(path="/home/hub", source="huggingface", own=False, problem="it is gone"),
        ),
        "places",
    )
    made = ModelFoldersDialog(library)
    qtbot.addWidget(made)
    made.show()
    return made


def test_folders_are_listed_with_what_is_wrong(dialog):
    rows = [dialog.list.item(row).text() for row in range(dialog.list.count())]
    assert "/data/<b>" in rows[0]
    assert "added by you" in rows[0]
    assert "it is gone" in rows[1]


def test_only_what_the_person_added_can_be_taken_off(qtbot, dialog, service):
    dialog.list.setCurrentRow(1)
    assert not dialog.remove_button.isEnabled()
    dialog.list.setCurrentRow(0)
    qtbot.mouseClick(dialog.remove_button, Qt.MouseButton.LeftButton)
    assert service.last("remove_place").params == {"path": "/data/<b>"}
    service.answer((), "remove_place")
    assert dialog.list.count() == 0


def test_a_folder_is_added(qtbot, dialog, service, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: "/more")
    qtbot.mouseClick(dialog.add_button, Qt.MouseButton.LeftButton)
    assert service.last("add_place").params == {"path": "/more"}


def test_models_off_the_list_can_be_listed_again(qtbot, dialog, service):
    assert dialog.hidden.isHidden() or not dialog.hidden.isVisible()
    service.answer((model_info(id="mine <b>", path="/m/mine"), model_info(id="other")), "hidden_models")
    assert dialog.hidden.isVisible() and not dialog.list_again_button.isEnabled()
    assert "mine <b>" in dialog.hidden.item(0).text() and "/m/mine" in dialog.hidden.item(0).text()
    dialog.hidden.setCurrentRow(0)
    qtbot.mouseClick(dialog.list_again_button, Qt.MouseButton.LeftButton)
    assert service.last("remember_model").params == {"id": "mine <b>"}
    service.answer(None, "remember_model")
    service.answer((), "hidden_models")
    assert not dialog.hidden.isVisible()
