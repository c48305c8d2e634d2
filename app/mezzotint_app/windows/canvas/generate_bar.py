"""Generate, the number of images and the progress: always visible, below the scrolling column."""

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSpinBox, QVBoxLayout, QWidget

from mezzotint_app.resources import icon_in
from mezzotint_app.viewmodel.canvas.generation import CanvasGeneration
from mezzotint_app.widgets.icon_button import icon_button
from mezzotint_app.widgets.inputs.spin_room import indent
from mezzotint_app.widgets.labels import plain_label

_MOST_IMAGES = 64


class GenerateBar(QWidget):
    """Below the settings of GeneratePanel."""

    def __init__(self, model: CanvasGeneration) -> None:
        super().__init__()
        self._model = model
        self._count = QSpinBox()
        self._count.setRange(1, _MOST_IMAGES)
        self._count.setAccessibleName(self.tr("Images"))
        self._count.setToolTip(self.tr("Number of candidates"))
        self._count.setFixedWidth(64)
        indent(self._count)
        self._button = QPushButton(icon_in("play", "accent_text"), self.tr("Generate"))
        self._button.setProperty("role", "primary")
        self._button.setToolTip(self.tr("Generate into the frame (Ctrl+Enter); mask layers limit what changes"))
        self._cancel = icon_button("cancel", self.tr("Cancel what is being generated"))
        self._line = plain_label(role="muted", wrap=True)
        self._problem = plain_label(role="warning", wrap=True)
        self._build()
        self._connect()
        self.show_model()

    def _build(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(self._count)
        row.addWidget(self._button, 1)
        row.addWidget(self._cancel)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 6, 12, 12)
        column.setSpacing(6)
        column.addWidget(self._line)
        column.addWidget(self._problem)
        column.addLayout(row)

    def _connect(self) -> None:
        model, document = self._model, self._model.document
        self._count.valueChanged.connect(lambda value: model.create.chosen.change(count=value))
        self._button.clicked.connect(lambda: model.generate())
        self._cancel.clicked.connect(model.create.preview.stop)
        model.changed.connect(self.show_model)
        model.create.preview.changed.connect(self._show_progress)
        self._soon = QTimer(self)  # the frame follows the mouse; its words need not
        self._soon.setSingleShot(True)
        self._soon.setInterval(100)
        self._soon.timeout.connect(self.show_model)
        for signal in (document.frame_changed, document.layers_changed, document.history_changed):
            signal.connect(self._soon.start)

    def show_model(self) -> None:
        """Show the number of images, and what prevents generating or is left out."""
        problem, count = self._model.problem(), self._model.create.chosen.settings().count
        self._count.blockSignals(True)
        self._count.setValue(count)
        self._count.blockSignals(False)
        words = problem or self._model.note()
        self._problem.setText(words)
        self._problem.setVisible(bool(words))
        self._button.setEnabled(not problem)  # while images are prepared, too: it keeps the focus
        self._show_progress()

    def _show_progress(self) -> None:
        preview, frame = self._model.create.preview, self._model.document.frame()
        name = self._model.create.chosen.model()
        size = f"{name}, {frame.width()} × {frame.height()}" if name else ""
        self._line.setText(preview.line() if preview.is_working() else size)
        self._cancel.setEnabled(preview.is_working() and not preview.is_stopping())
