"""The log grows at its end and no further than it may."""

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton

from mezzotint_app.windows.log_dialog import LogDialog


def button(dialog, text):
    return next(one for one in dialog.findChildren(QPushButton) if one.text() == text)


def test_lines_are_plain_and_bounded(qtbot):
    dialog = LogDialog(["<b>first</b>"])
    qtbot.addWidget(dialog)
    assert dialog.lines.toPlainText() == "<b>first</b>"
    for number in range(2000):
        dialog.add(str(number))
    lines = dialog.lines.toPlainText().splitlines()
    assert len(lines) <= 400
    assert lines[-1] == "1999"


def test_it_can_be_copied_and_the_engine_started_again(qtbot):
    dialog = LogDialog(["a", "b"])
    qtbot.addWidget(dialog)
    dialog.show_state("The engine runs.")
    button(dialog, "Copy").click()
    assert QGuiApplication.clipboard().text() == "a\nb"
    with qtbot.waitSignal(dialog.restart_asked):
        button(dialog, "Restart engine").click()
