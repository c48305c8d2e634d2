"""The versions that are installed: going back, repairing, and looking for newer ones."""

from PySide6.QtWidgets import QCheckBox, QFormLayout, QVBoxLayout, QWidget

from mezzotint_app.amounts import bytes_text
from mezzotint_app.viewmodel.engine_setup.engine_setup import EngineSetup
from mezzotint_app.widgets.flow_layout import FlowLayout
from mezzotint_app.widgets.icon_button import text_button
from mezzotint_app.widgets.inputs.form_rows import align_names
from mezzotint_app.widgets.labels import plain_label


class EngineVersions(QWidget):
    """Shows the versions of an EngineSetup."""

    def __init__(self, model: EngineSetup, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.in_use = plain_label(selectable=True)
        self.before = plain_label(selectable=True)
        self.update_words = plain_label(wrap=True)
        self.back_button = text_button("undo", self.tr("Go back"), self.tr("Switch to the version before"))
        self.repair_button = text_button(
            "retry", self.tr("Repair"), self.tr("Build the version in use again, from files compared with their hashes")
        )
        self.check_button = text_button("search", self.tr("Check now"), self.tr("Ask whether there is a newer version"))
        self.update_button = text_button("download", self.tr("Update"), self.tr("The present version is kept"))
        self.allowed = QCheckBox(self.tr("Look for updates when Mezzotint starts"))
        self.allowed.setToolTip(self.tr("Asks only the release index, and sends nothing about you or your images"))
        self._build()
        self.back_button.clicked.connect(model.go_back)
        self.repair_button.clicked.connect(model.repair)
        self.check_button.clicked.connect(model.check)
        self.update_button.clicked.connect(model.update)
        self.allowed.clicked.connect(model.allow_check)
        model.changed.connect(self._show)
        self._show()

    def _build(self) -> None:
        form = QFormLayout()
        form.setHorizontalSpacing(16)
        form.setVerticalSpacing(8)
        form.addRow(self.tr("In use"), self.in_use)
        form.addRow(self.tr("Before"), self.before)
        align_names(form)
        buttons = FlowLayout()
        for button in (self.back_button, self.repair_button, self.check_button, self.update_button):
            buttons.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        column.addLayout(form)
        column.addWidget(self.allowed)
        column.addWidget(self.update_words)
        column.addLayout(buttons)

    def _show(self) -> None:
        model = self._model
        free = not model.command.is_busy() and not model.ready_version()
        self.in_use.setText(model.version_in_use() or self.tr("no engine"))
        self.before.setText(model.version_before() or self.tr("none"))
        self.back_button.setEnabled(free and bool(model.version_before()))
        self.repair_button.setEnabled(free and bool(model.version_in_use()))
        self.allowed.setChecked(model.may_check())
        self.allowed.setEnabled(not model.command.is_busy())
        self.check_button.setEnabled(free and model.may_check())
        self.update_words.setText(self._update())
        self.update_words.setVisible(bool(self.update_words.text()))
        self.update_button.setVisible(bool(model.update_text()))
        self.update_button.setEnabled(free)

    def _update(self) -> str:
        text, release = self._model.update_text(), self._model.command.release
        if text and release is not None and release.newer:
            size = self.tr("Download: {bytes}").format(bytes=bytes_text(release.download))
            return f"{text} {size}"
        if not text and release is not None:
            return self.tr("This is the newest version.")
        return text
