"""Shows how the image in the viewer was generated, as plain text."""

from PySide6.QtWidgets import QFormLayout, QFrame, QVBoxLayout, QWidget

from mezzotint.protocol import ImageMetadata
from mezzotint_app.viewmodel.dropped.settings_text import shown_settings
from mezzotint_app.viewmodel.foreign_text import in_full, in_lines, in_one_line
from mezzotint_app.viewmodel.gallery.viewer import ViewerModel
from mezzotint_app.widgets.inputs.plain_box import PlainBox
from mezzotint_app.widgets.labels import plain_label

_VALUE = 200  # characters that are shown


class ViewerInfo(QFrame):
    """The prompt, negative prompt and settings of a ViewerModel's current image."""

    def __init__(self, model: ViewerModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._metadata: ImageMetadata | None = None
        self.setMinimumWidth(220)
        self._state = plain_label(role="muted", wrap=True)
        self._prompt, self._negative = PlainBox(self.tr("Prompt")), PlainBox(self.tr("Negative prompt"))
        self._negative_name = plain_label(self.tr("Negative prompt"), role="heading")
        self._prompt_name = plain_label(self.tr("Prompt"), role="heading")
        self._values = QFormLayout()
        self._values.setHorizontalSpacing(12)
        self._values.setVerticalSpacing(6)
        self._values.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(8)
        layout.addWidget(self._state)
        layout.addWidget(self._prompt_name)
        layout.addWidget(self._prompt)
        layout.addWidget(self._negative_name)
        layout.addWidget(self._negative)
        layout.addLayout(self._values)
        layout.addStretch()
        model.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        metadata = self._model.metadata()
        if metadata is not None and metadata is self._metadata:
            return
        self._metadata = metadata
        said = metadata is not None and (metadata.program != "unknown" or metadata.prompt is not None)
        self._state.setVisible(not said)
        self._state.setText(
            self.tr("Loading…") if metadata is None else self.tr("This image has no generation metadata.")
        )
        for name, reader, text in (
            (self._prompt_name, self._prompt, metadata.prompt if metadata else None),
            (self._negative_name, self._negative, metadata.negative_prompt if metadata else None),
        ):
            name.setVisible(bool(text))
            reader.setVisible(bool(text))
            shown, left_out = in_full(text or "")
            reader.show_text(shown + ("…" if left_out else ""))
        self._show_values(metadata)

    def _show_values(self, metadata: ImageMetadata | None) -> None:
        while self._values.rowCount():
            self._values.removeRow(0)
        for name, value in shown_settings(metadata) if metadata is not None else []:
            label = plain_label(in_lines(value, _VALUE), wrap=True, selectable=True)
            label.setAccessibleName(f"{name}: {in_one_line(value, _VALUE)}")
            self._values.addRow(plain_label(name, role="muted"), label)
