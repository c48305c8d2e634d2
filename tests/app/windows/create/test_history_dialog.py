"""Earlier prompts are found by words, and used."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.create.prompting.prompts import Prompts
from mezzotint_app.viewmodel.create.state import CreateState
from mezzotint_app.windows.create.history_dialog import HistoryDialog

HISTORY = ("a red house\nby the sea", "two Boats", "a red boat")


@pytest.fixture
def dialog(service, inline, tmp_path, qtbot):
    kept = Stored(tmp_path / "create.json", CreateState(history=HISTORY), inline)
    made = HistoryDialog(Prompts(service, Stored(tmp_path / "window.json", Settings(), inline), kept, inline))
    qtbot.addWidget(made)
    made.show()
    return made


def shown(dialog):
    return [dialog.found.item(row).text() for row in range(dialog.found.count())]


def test_words_in_any_order(dialog, qtbot):
    assert shown(dialog) == ["a red house by the sea", "two Boats", "a red boat"]
    QTest.keyClicks(dialog.search, "boat")
    assert shown(dialog) == ["two Boats", "a red boat"]
    dialog.search.setText("sea red")
    QTest.keyClick(dialog.search, Qt.Key.Key_Down)
    with qtbot.waitSignal(dialog.chosen) as chosen:
        dialog.accept()
    assert chosen.args == [HISTORY[0]]


def test_nothing_is_used_if_nothing_is_found(dialog):
    dialog.search.setText("whale")
    assert shown(dialog) == [] and not dialog.use.isEnabled()
    dialog.accept()
    assert dialog.isVisible()
