"""A path is written, chosen or dropped, and told once."""

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from mezzotint_app.viewmodel.dropped.data import DropData
from mezzotint_app.widgets.inputs.batch_path import BatchPath

pytestmark = pytest.mark.requires_package("PySide6")


@pytest.fixture
def path(qtbot):
    made: Any = BatchPath("Folder", "Where images are", "folder")
    made.told = []
    made.edited.connect(made.told.append)
    qtbot.addWidget(made)
    made.show()
    return made


def test_what_is_written_is_told_at_its_end_and_once(qtbot, path):
    qtbot.keyClicks(path.line, "/photos")
    assert path.told == []
    qtbot.keyClick(path.line, Qt.Key.Key_Return)
    qtbot.keyClick(path.line, Qt.Key.Key_Return)
    assert path.told == ["/photos"]


def test_showing_tells_nothing_and_foreign_names_are_plain(path):
    path.show_path("/<b>photos</b>", "choose it")
    assert path.told == [] and path.line.text() == "/<b>photos</b>"
    assert "&lt;b&gt;" in path.line.toolTip() and path.line.placeholderText() == "choose it"


def test_what_is_dropped_is_taken(path):
    path.dropped.emit(DropData(paths=("/a", "/b")))
    path.dropped.emit(DropData())
    assert path.told == ["/a"] and path.line.text() == "/a"


@pytest.mark.parametrize(
    ("kind", "mode"), [("folder", QFileDialog.FileMode.Directory), ("file", QFileDialog.FileMode.ExistingFile)]
)
def test_a_dialog_asks_for_the_right_thing(qtbot, kind, mode):
    made: Any = BatchPath("Folder", "Where", kind)
    qtbot.addWidget(made)
    told = []
    made.edited.connect(told.append)
    dialog = made.choose()
    assert dialog.fileMode() == mode
    dialog.fileSelected.emit("/chosen")
    dialog.reject()
    assert told == ["/chosen"]
