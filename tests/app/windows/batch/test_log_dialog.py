"""The log of a batch is plain text that can be copied."""

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton

from mezzotint_app.windows.batch.log_dialog import BatchLogDialog

pytestmark = pytest.mark.requires_package("PySide6")


def test_lines_are_shown_and_copied(qtbot):
    dialog = BatchLogDialog("<b>Rome</b>", ("<i>one</i>", "two"))
    qtbot.addWidget(dialog)
    next(one for one in dialog.findChildren(QPushButton) if one.text() == "Copy").click()
    assert QGuiApplication.clipboard().text() == dialog.lines.toPlainText() == "<i>one</i>\ntwo"
