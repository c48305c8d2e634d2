"""Zoom buttons for an image."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QWidget

from mezzotint_app.widgets.icon_button import icon_button
from mezzotint_app.widgets.images.image_view import STEP, ImageView
from mezzotint_app.widgets.labels import plain_label


class ImageBar(QWidget):
    """Zoom out, zoom in, fit, actual size, and the current zoom."""

    def __init__(self, view: ImageView, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = view
        smaller = icon_button("zoom-out", self.tr("Zoom out (-)"))
        larger = icon_button("zoom-in", self.tr("Zoom in (+)"))
        whole = icon_button("fit", self.tr("Fit to window (0)"))
        actual = icon_button("full-size", self.tr("Actual size (1)"))
        self._zoom = plain_label(role="muted")
        self._zoom.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self._zoom.setMinimumWidth(self._zoom.fontMetrics().horizontalAdvance("6400 %"))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        for widget in (smaller, larger, whole, actual, self._zoom):
            layout.addWidget(widget)
        smaller.clicked.connect(lambda: view.zoom_by(1 / STEP))
        larger.clicked.connect(lambda: view.zoom_by(STEP))
        whole.clicked.connect(view.fit)
        actual.clicked.connect(view.actual_size)
        view.view_changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        percent = round(self._view.zoom() * 100)
        self._zoom.setText(self.tr("{0} %").format(percent) if self._view.has_image() else "")
        self.setEnabled(self._view.has_image())
