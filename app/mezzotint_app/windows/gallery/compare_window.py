"""A window with up to four images side by side, which zoom and move together."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QCloseEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from mezzotint_app.background import Executor
from mezzotint_app.viewmodel.foreign_text import in_one_line
from mezzotint_app.viewmodel.gallery.comparison import ComparisonModel
from mezzotint_app.widgets.icon_button import icon_button
from mezzotint_app.widgets.images.image_bar import ImageBar
from mezzotint_app.widgets.images.image_view import ImageView
from mezzotint_app.widgets.images.star_row import StarRow
from mezzotint_app.widgets.labels import ElidedLabel, plain_label

_VALUE = 60  # characters of a setting that are shown
_COLUMNS = {1: 1, 2: 2, 3: 3, 4: 2}


class ComparedImage(QWidget):
    """One of the images, with its name, stars and what is different about it."""

    def __init__(self, model: ComparisonModel, index: int, pool: Executor | None) -> None:
        super().__init__()
        self._model, self._index = model, index
        self._shown = False
        self.view = ImageView(pool=pool)
        self.view.leave_digits()
        self.stars = StarRow()
        self.stars.chosen.connect(lambda stars: model.star(index, stars))
        self._name = ElidedLabel()
        self.about = plain_label(role="muted", wrap=True)
        row = QHBoxLayout()
        row.addWidget(self._name, 1)
        row.addWidget(self.stars)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self.view, 1)
        column.addLayout(row)
        column.addWidget(self.about)
        self.show_now()

    def show_now(self) -> None:
        """Show what is known of the image."""
        model, index = self._model, self._index
        image, name = model.image(index), Path(model.paths()[index]).name
        if image is None:
            self.view.clear(model.problem(index) or self.tr("Loading…"))
        elif not self._shown:
            self._shown = True
            self.view.show_image(image)
        self.view.setAccessibleName(self.tr("Image {number}: {name}").format(number=index + 1, name=name))
        self._name.setText(name)
        self.stars.show_stars(model.rating(index))
        shown = [f"{name}: {in_one_line(value, _VALUE)}" for name, value in model.differences(index)]
        self.about.setText(" · ".join(shown))
        self.about.setVisible(bool(shown))


class CompareWindow(QWidget):
    """A window of its own; `open` shows it."""

    def __init__(self, model: ComparisonModel, parent: QWidget | None = None, *, pool: Executor | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self._model, self._pool = model, pool
        self._following = False
        self.images: list[ComparedImage] = []
        self.setWindowTitle(self.tr("Compare images"))
        self.slider = icon_button("compare", self.tr("Before and after with a divider (C)"), checkable=True)
        self.slider.toggled.connect(self._overlay)
        self._close = icon_button("cancel", self.tr("Close (Esc)"))
        self._close.clicked.connect(self.close)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._content: QWidget | None = None
        model.changed.connect(self._show)

    def open(self, paths: Sequence[str]) -> None:
        """Compare these images, two to four."""
        self._model.open(paths)
        self._build()
        self.showMaximized()
        self.raise_()
        self.activateWindow()
        self.images[0].view.setFocus()

    def _build(self) -> None:
        if self._content is not None:
            self.slider.setParent(None)
            self._close.setParent(None)
            self._content.hide()
            self._content.deleteLater()
        count = len(self._model.paths())
        self.images = [ComparedImage(self._model, index, self._pool) for index in range(count)]
        grid = QGridLayout()
        grid.setContentsMargins(8, 8, 8, 4)
        grid.setSpacing(8)
        for index, image in enumerate(self.images):
            grid.addWidget(image, *divmod(index, _COLUMNS[count]))
            image.view.view_changed.connect(lambda view=image.view: self._follow(view))
            image.view.activated.connect(image.view.toggle_size)
        self._content = QWidget()
        column = QVBoxLayout(self._content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(grid, 1)
        column.addWidget(self._bar())
        self._column.addWidget(self._content)
        self.slider.setChecked(False)
        self.slider.setVisible(count == 2)

    def _bar(self) -> QFrame:
        bar = QFrame()
        bar.setProperty("role", "bar")
        row = QHBoxLayout(bar)
        row.setContentsMargins(12, 6, 12, 6)
        row.setSpacing(8)
        row.addWidget(plain_label(self.tr("Zoom and position are those of all images."), role="muted"))
        row.addStretch(1)
        row.addWidget(self.slider)
        row.addWidget(ImageBar(self.images[0].view))
        row.addWidget(self._close)
        return bar

    def _show(self, index: int) -> None:
        if index < len(self.images):
            self.images[index].show_now()
            if self.slider.isChecked():
                self._overlay(True)

    def _follow(self, view: ImageView) -> None:
        """Show the same part in all views."""
        if self._following or not view.has_image():
            return
        self._following = True
        for other in self.images:
            if other.view is not view and other.view.has_image() and other.isVisible():
                other.view.show_part_of(view)
        self._following = False

    def _overlay(self, on: bool) -> None:
        """Show the first of two images over the second, up to a divider, or both beside each other."""
        first, second = self.images[0], self.images[-1]
        first.setVisible(not on)
        if not on:
            self._follow(second.view)
        before = first.view.image() if on and first.view.has_image() else None
        names = (Path(self._model.paths()[0]).name, Path(self._model.paths()[-1]).name)
        second.view.compare(before, names)
        second.view.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802, D102
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        elif event.key() == Qt.Key.Key_C and not event.modifiers() and len(self.images) == 2:
            self.slider.toggle()
        elif event.text() and event.text() in "012345":
            self._star(int(event.text()))
        else:
            super().keyPressEvent(event)

    def _star(self, stars: int) -> None:
        focused = [index for index, image in enumerate(self.images) if image.isAncestorOf(self.focusWidget())]
        if focused:
            self._model.star(focused[0], stars)

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802, D102
        self._model.close()
        self.images = []
        super().closeEvent(event)
