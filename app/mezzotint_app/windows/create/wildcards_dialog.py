"""The wildcard editor: files of texts, one of which is drawn for each image."""

from collections.abc import Callable

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QInputDialog,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from mezzotint_app.resources import icon
from mezzotint_app.viewmodel.create.prompting.wildcard_editor import WildcardEditor
from mezzotint_app.viewmodel.foreign_text import in_lines, in_one_line
from mezzotint_app.widgets.confirm import confirm
from mezzotint_app.widgets.inputs.batch_path import BatchPath
from mezzotint_app.widgets.labels import plain_label

_NAME = int(Qt.ItemDataRole.UserRole)
_EXAMPLE = 120  # characters


class WildcardsDialog(QDialog):
    """Names on the left; the text of one, and what would be drawn, on the right."""

    insert_asked = Signal(str)  # a wildcard as it is written in a prompt

    def __init__(self, model: WildcardEditor, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.setWindowTitle(self.tr("Wildcards"))
        self._make_parts()
        self._build()
        self._connect()
        self.resize(760, 520)
        model.refresh()
        self._load()
        self._show()
        if model.folder():
            self.list.setFocus()  # not in the folder, which each key would change

    def _make_parts(self) -> None:
        name, tip = self.tr("Wildcard folder"), self.tr("NAME.txt has a line for each text that __NAME__ can become")
        self.folder = BatchPath(name, tip, "folder")
        self.list = QListWidget()
        self.list.setAccessibleName(self.tr("Wildcards"))
        self.list.setToolTip(self.tr("A dot marks unsaved changes"))
        self.new = QPushButton(icon("add"), self.tr("New…"))
        self.new.setToolTip(self.tr("Begin a wildcard; a / in its name makes a folder"))
        self.text = QPlainTextEdit()
        self.text.setAccessibleName(self.tr("Texts"))
        self.text.setToolTip(self.tr("One text per line; lines with # are comments, and other wildcards are allowed"))
        self.text.setTabChangesFocus(True)
        self.examples = plain_label(role="muted", wrap=True, selectable=True)
        self.problem = plain_label(role="warning", wrap=True)
        self.save = QPushButton(icon("save"), self.tr("Save"))
        self.save.setToolTip(self.tr("Write the file (Ctrl+S)"))
        self.save.setShortcut("Ctrl+S")
        self.insert = QPushButton(self.tr("Insert in prompt"))
        self.insert.setToolTip(self.tr("Add this wildcard to the end of the prompt"))
        for button in (self.new, self.save, self.insert):
            button.setAutoDefault(False)

    def _build(self) -> None:
        left, right = QVBoxLayout(), QVBoxLayout()
        left.addWidget(self.list, 1)
        left.addWidget(self.new)
        for widget in (self.text, self.examples, self.problem):
            right.addWidget(widget, 1 if widget is self.text else 0)
        middle = QHBoxLayout()
        middle.setSpacing(12)
        middle.addLayout(left, 1)
        middle.addLayout(right, 2)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.button(QDialogButtonBox.StandardButton.Close).setToolTip(self.tr("Close the editor"))
        buttons.button(QDialogButtonBox.StandardButton.Close).setAutoDefault(False)
        buttons.addButton(self.insert, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.addButton(self.save, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 16)
        column.setSpacing(12)
        column.addWidget(self.folder)
        column.addLayout(middle, 1)
        column.addWidget(buttons)

    def _connect(self) -> None:
        model = self._model
        self.folder.edited.connect(lambda path: self._unless_unsaved(lambda: model.set_folder(path)))
        self.list.currentItemChanged.connect(self._chosen)
        self.new.clicked.connect(self.ask_name)
        self.text.textChanged.connect(lambda: model.edit(self.text.toPlainText()))
        self.save.clicked.connect(model.save)
        self.insert.clicked.connect(lambda: self.insert_asked.emit(f"__{model.name()}__"))
        model.loaded.connect(self._load)
        model.changed.connect(self._show)
        model.message.connect(self._tell)

    # ---- actions

    def ask_name(self) -> QInputDialog:
        """Let the user name a new wildcard."""
        dialog = QInputDialog(self)
        dialog.setWindowTitle(self.tr("New wildcard"))
        dialog.setLabelText(self.tr("Name, as between underscores in a prompt"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.textValueSelected.connect(self._model.add)
        dialog.open()
        return dialog

    def reject(self) -> None:
        """Close; unsaved changes are asked about."""
        self._unless_unsaved(super().reject)

    def _unless_unsaved(self, act: Callable[[], object]) -> None:
        def agreed(_do_not_ask: bool) -> None:
            self._model.drop()
            act()

        if not self._model.is_unsaved():
            act()
            return
        words = self.tr("Changes of wildcards have not been saved, and would be lost.")
        confirm(self, self.windowTitle(), words, self.tr("Discard them"), agreed)
        self._show()

    def _chosen(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self._model.choose(item.data(_NAME))

    def _tell(self, message: str) -> None:
        self.problem.setText(in_lines(message))
        self.problem.show()

    # ---- updates

    def _load(self) -> None:
        text = self._model.text()
        with QSignalBlocker(self.text):
            self.text.setPlainText(text or "")
        self.text.setEnabled(text is not None)

    def _show(self) -> None:
        model = self._model
        self.folder.show_path(model.folder(), self.tr("none"))
        self._show_names()
        shown = "\n".join(one[:_EXAMPLE] for one in model.examples())
        start = "" if model.folder() else self.tr("Choose a folder for wildcards first; it may be empty.")
        self.examples.setText(self.tr("Drawn, for example:") + f"\n{shown}" if shown else start)
        self.examples.setVisible(bool(self.examples.text()))
        self.problem.setText(in_lines(model.problem()))
        self.problem.setVisible(bool(model.problem()))
        self.new.setEnabled(bool(model.folder()))
        self.save.setEnabled(model.is_unsaved(model.name()))
        self.insert.setEnabled(bool(model.name()))

    def _show_names(self) -> None:
        model, names = self._model, self._model.names()
        with QSignalBlocker(self.list):
            if [self.list.item(row).data(_NAME) for row in range(self.list.count())] != list(names):
                self.list.clear()
                for name in names:
                    item = QListWidgetItem()
                    item.setData(_NAME, name)
                    self.list.addItem(item)
            for row, name in enumerate(names):
                mark = " •" if model.is_unsaved(name) else ""
                self.list.item(row).setText(in_one_line(name) + mark)
                if name == model.name():
                    self.list.setCurrentRow(row)
