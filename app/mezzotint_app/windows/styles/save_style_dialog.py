"""The dialog that saves settings as a style."""

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from mezzotint.library_protocol import MOST_STYLE_NAME, Style
from mezzotint_app.viewmodel.create.styles import value_text
from mezzotint_app.viewmodel.foreign_text import plain_tooltip
from mezzotint_app.widgets.labels import plain_label

_NAME = int(Qt.ItemDataRole.UserRole)
_RARELY = ("seed", "count", "model", "size")  # not part of most styles

Save = Callable[[Style, bool, Callable[[str], None]], None]


class SaveStyleDialog(QDialog):
    """Asks for a name, texts, and which settings belong to the style."""

    def __init__(self, draft: Style, save: Save, parent: QWidget | None = None) -> None:
        """`save` gets the style, whether it may replace one, and what to call with the reason if it fails."""
        super().__init__(parent)
        self.setWindowTitle(self.tr("Save as style"))
        self._draft, self._save = draft, save
        self.name = QLineEdit()
        self.name.setMaxLength(MOST_STYLE_NAME)
        self._named(self.name, self.tr("Name"), self.tr("The name in the list, and for --style"))
        self.prompt = self._text(self.tr("Prompt"), self.tr("{prompt} stands for the prompt that you write later"))
        self.prompt.setPlaceholderText(self.tr("{prompt}, …"))
        self.negative = self._text(
            self.tr("Negative prompt"), self.tr("Added to the negative prompt that you write later")
        )
        self.negative.setPlainText(draft.negative)
        self.settings = self._settings_list()
        self.replaces = QCheckBox(self.tr("Replace the style of that name"))
        self.replaces.setToolTip(self.tr("Overwrites the style that is there"))
        self.replaces.setVisible(False)
        self._problem = plain_label(role="error", wrap=True)
        self._build()
        self.name.textChanged.connect(self._changed)
        self._changed()

    def style_to_save(self) -> Style:
        """What was entered."""
        kept = {
            item.data(_NAME)
            for row in range(self.settings.count())
            if (item := self.settings.item(row)).checkState() == Qt.CheckState.Checked
        }
        return replace(
            self._draft,
            name=self.name.text(),
            prompt=self.prompt.toPlainText().strip(),
            negative=self.negative.toPlainText().strip(),
            settings={name: value for name, value in self._draft.settings.items() if name in kept},
        )

    def accept(self) -> None:
        """Save; the dialog stays open if that fails."""
        self._problem.setText("")
        self._save(self.style_to_save(), self.replaces.isChecked(), self._failed)

    def close_saved(self, name: str) -> None:
        """Close if this style was saved."""
        if name == " ".join(self.name.text().split()):
            self.done(QDialog.DialogCode.Accepted)

    def _failed(self, why: str) -> None:
        self._problem.setText(why)
        self.replaces.setVisible(True)

    def _named(self, widget: QWidget, name: str, tip: str) -> None:
        widget.setAccessibleName(name)
        widget.setToolTip(tip)

    def _text(self, name: str, tip: str) -> QPlainTextEdit:
        edit = QPlainTextEdit()
        edit.setTabChangesFocus(True)
        edit.setFixedHeight(72)
        self._named(edit, name, tip)
        return edit

    def _settings_list(self) -> QListWidget:
        settings = QListWidget()
        self._named(settings, self.tr("Settings"), self.tr("Which settings are part of the style"))
        settings.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        settings.setWordWrap(True)
        settings.ensurePolished()  # rows have their final height only then
        for name, value in self._draft.settings.items():
            item = QListWidgetItem(f"{name}: {value_text(value)}")
            item.setToolTip(plain_tooltip(value_text(value)))
            item.setData(_NAME, name)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Unchecked if name in _RARELY else Qt.CheckState.Checked)
            settings.addItem(item)
        return settings

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 16, 24, 16)
        column.setSpacing(6)
        for name, widget in (
            (self.tr("Name"), self.name),
            (self.tr("Prompt"), self.prompt),
            (self.tr("Negative prompt"), self.negative),
            (self.tr("Settings"), self.settings),
        ):
            column.addWidget(plain_label(name))
            column.addWidget(widget)
        column.addWidget(self.replaces)
        column.addWidget(self._problem)
        buttons = QDialogButtonBox()
        self.save_button = buttons.addButton(self.tr("Save"), QDialogButtonBox.ButtonRole.AcceptRole)
        self.save_button.setProperty("role", "primary")
        self.save_button.setToolTip(self.tr("Save the style in the settings folder"))
        cancel = buttons.addButton(self.tr("Cancel"), QDialogButtonBox.ButtonRole.RejectRole)
        cancel.setToolTip(self.tr("Close without saving"))
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column.addWidget(buttons)
        self.resize(460, 520)

    def _changed(self) -> None:
        self.save_button.setEnabled(bool(self.name.text().strip()))
