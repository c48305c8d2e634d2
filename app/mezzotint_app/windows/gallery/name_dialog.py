"""Asks for a line of text without blocking the window."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCompleter, QInputDialog, QLineEdit, QWidget


def ask_name(
    parent: QWidget,
    title: str,
    label: str,
    then: Callable[[str], object],
    text: str = "",
    known: Sequence[str] = (),
    *,
    may_be_empty: bool = False,
) -> QInputDialog:
    """Call `then` with what was written; `known` completes it."""
    dialog = QInputDialog(parent)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setWindowTitle(title)
    dialog.setLabelText(label)
    dialog.setTextValue(text)
    edit = dialog.findChild(QLineEdit)
    if edit is not None:
        edit.setAccessibleName(label)
        edit.setToolTip(label)
        edit.selectAll()
        if known:
            edit.setCompleter(QCompleter(list(known), edit))
    dialog.textValueSelected.connect(lambda said: then(said.strip()) if said.strip() or may_be_empty else None)
    dialog.open()
    return dialog
