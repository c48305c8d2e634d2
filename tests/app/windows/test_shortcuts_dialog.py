"""Every key is one that Qt knows, and is named once in its group."""

from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QLabel

from mezzotint_app.windows.shortcuts_dialog import ShortcutsDialog, shortcuts


def test_every_key_is_a_key():
    for name, keys in shortcuts():
        assert name
        assert len({meaning for _, meaning in keys}) == len(keys)
        for sequence, meaning in keys:
            assert meaning
            assert all(not QKeySequence(one).isEmpty() for one in sequence.split(", "))


def test_all_are_shown(qtbot):
    dialog = ShortcutsDialog()
    qtbot.addWidget(dialog)
    shown = {label.text() for label in dialog.findChildren(QLabel)}
    assert {meaning for _, keys in shortcuts() for _, meaning in keys} <= shown
