"""The full-screen viewer, in which everything has a keyboard shortcut."""

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QGuiApplication, QImage, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSplitter, QToolButton, QVBoxLayout, QWidget

from mezzotint_app.background import Executor
from mezzotint_app.viewmodel.gallery.viewer import ViewerModel
from mezzotint_app.widgets.icon_button import icon_button
from mezzotint_app.widgets.images.image_bar import ImageBar
from mezzotint_app.widgets.images.image_view import ImageView
from mezzotint_app.widgets.images.star_row import StarRow
from mezzotint_app.widgets.labels import ElidedLabel, plain_label
from mezzotint_app.windows.gallery.viewer_info import ViewerInfo

_MESSAGE_TIME = 4000  # milliseconds that a message is shown
_SLIDE_TIME = 4000  # milliseconds that each image of a slideshow is shown
_CONTROL_SHIFT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
_KEYS: dict[Qt.Key, str] = {
    Qt.Key.Key_Right: "next",
    Qt.Key.Key_Down: "next",
    Qt.Key.Key_PageDown: "next",
    Qt.Key.Key_Space: "next",
    Qt.Key.Key_Left: "previous",
    Qt.Key.Key_Up: "previous",
    Qt.Key.Key_PageUp: "previous",
    Qt.Key.Key_Backspace: "previous",
    Qt.Key.Key_Home: "first",
    Qt.Key.Key_End: "last",
    Qt.Key.Key_C: "mark",
    Qt.Key.Key_I: "info",
    Qt.Key.Key_Z: "size",
    Qt.Key.Key_S: "slideshow",
    Qt.Key.Key_V: "variations",
    Qt.Key.Key_Period: "star",
    Qt.Key.Key_Delete: "delete",
    Qt.Key.Key_Escape: "close",
}


class Viewer(QWidget):
    """A window of its own; `open_at` shows it."""

    variations_asked = Signal(str)  # path
    closed = Signal(str)  # path of the image shown last

    def __init__(self, model: ViewerModel, parent: QWidget | None = None, *, pool: Executor | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self._model = model
        self._image: QImage | None = None
        self._path = ""
        self.setWindowTitle(self.tr("Images"))
        self.view = ImageView(pool=pool)
        self.view.leave_digits()
        self.view.activated.connect(self.view.toggle_size)
        self.info = ViewerInfo(model)
        self.info.hide()
        self._message_timer = QTimer(self)
        self._message_timer.setSingleShot(True)
        self._message_timer.timeout.connect(lambda: self._say(""))
        self.slides = QTimer(self)
        self.slides.setInterval(_SLIDE_TIME)
        self.slides.timeout.connect(self._next_slide)
        self._actions = self._list_actions()
        self._build()
        model.changed.connect(self._show)
        model.emptied.connect(self.close)
        model.copied.connect(self._copy_text)
        model.message.connect(self._say)

    def open_at(self, paths: Sequence[str], index: int) -> None:
        """Show these images in full screen, starting with the one at `index`."""
        self._model.open(paths, index)
        self.showFullScreen()
        self.raise_()
        self.activateWindow()
        self.view.setFocus()

    # ---- setup

    def _build(self) -> None:
        middle = QSplitter(Qt.Orientation.Horizontal)
        middle.setChildrenCollapsible(False)
        middle.addWidget(self.view)
        middle.addWidget(self.info)
        middle.setStretchFactor(0, 1)
        middle.setSizes([1000, 340])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(middle, 1)
        layout.addWidget(self._build_bar())

    def _build_bar(self) -> QFrame:
        bar = QFrame()
        bar.setProperty("role", "bar")
        row = QHBoxLayout(bar)
        row.setContentsMargins(12, 6, 12, 6)
        row.setSpacing(4)
        row.addWidget(self._button("left", self.tr("Previous image (Left, Page Up)"), "previous"))
        row.addWidget(self._button("right", self.tr("Next image (Right, Page Down)"), "next"))
        self._slideshow = self._button("play", self.tr("Slideshow (S)"), "slideshow")
        self._slideshow.setCheckable(True)
        row.addWidget(self._slideshow)
        self._place = plain_label(role="muted")
        self._name = ElidedLabel()
        row.addSpacing(8)
        row.addWidget(self._place)
        row.addSpacing(8)
        row.addWidget(self._name, 1)
        self._message = plain_label(role="muted")
        row.addWidget(self._message)
        row.addSpacing(8)
        self._stars = StarRow()
        self._stars.chosen.connect(self._model.star)
        row.addWidget(self._stars)
        row.addSpacing(8)
        self._compare = self._button("compare", self.tr("Compare: mark this image, then go to another (C)"), "mark")
        self._compare.setCheckable(True)
        self._about = self._button("info", self.tr("Show image details (I)"), "info")
        self._about.setCheckable(True)
        row.addWidget(self._compare)
        row.addWidget(self._about)
        row.addWidget(self._button("layers", self.tr("Queue variations (V)"), "variations"))
        row.addWidget(self._button("copy", self.tr("Copy image (Ctrl+C)"), "copy"))
        row.addWidget(self._button("settings", self.tr("Copy settings as text (Ctrl+Shift+C)"), "copy settings"))
        row.addWidget(self._button("trash", self.tr("Move to trash (Del)"), "delete"))
        row.addWidget(self._button("undo", self.tr("Restore what was last moved to the trash (Ctrl+Z)"), "undo"))
        row.addSpacing(8)
        row.addWidget(ImageBar(self.view))
        row.addWidget(self._button("cancel", self.tr("Close (Esc)"), "close"))
        return bar

    def _button(self, name: str, words: str, action: str) -> QToolButton:
        button = icon_button(name, words)
        button.clicked.connect(self._actions[action])
        return button

    def _list_actions(self) -> dict[str, Callable[[], object]]:
        model = self._model
        return {
            "next": lambda: model.step(1),
            "previous": lambda: model.step(-1),
            "first": lambda: model.go_to(0),
            "last": lambda: model.go_to(model.count() - 1),
            "mark": model.mark,
            "info": self._toggle_info,
            "size": self.view.toggle_size,
            "slideshow": self._toggle_slides,
            "variations": self._vary,
            "star": model.toggle_star,
            "copy": self._copy_image,
            "copy settings": model.copy_settings,
            "delete": model.delete,
            "undo": model.undo_delete,
            "close": self.close,
        }

    # ---- display

    def _show(self) -> None:
        model = self._model
        self._place.setText(self.tr("{0} of {1}").format(model.index() + 1, model.count()) if model.count() else "")
        self._name.setText(Path(model.path()).name)
        self._stars.show_stars(model.rating())
        self._compare.setChecked(bool(model.marked()))
        self._show_image()

    def _show_image(self) -> None:
        model, image = self._model, self._model.image()
        if image is None:
            self._image = None
            self.view.clear(model.problem() or self.tr("Loading…"))
        elif image is not self._image or self._path != model.path():
            keep = bool(model.marked()) and self._image is not None  # so that the same area is compared
            self._image = image
            self.view.show_image(image, keep_view=keep)
        self._path = model.path()
        before = model.before() if image is not None else None
        self.view.compare(before, (self.tr("A"), self.tr("B")))

    def _say(self, words: str) -> None:
        self._message.setText(words)
        if words:
            self._message_timer.start(_MESSAGE_TIME)

    # ---- actions

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802, D102
        if event.matches(QKeySequence.StandardKey.Copy):
            self._copy_image()
        elif event.matches(QKeySequence.StandardKey.Undo):
            self._model.undo_delete()
        elif event.key() == Qt.Key.Key_C and event.modifiers() == _CONTROL_SHIFT:
            self._model.copy_settings()
        elif event.text() and event.text() in "012345":
            self._model.star(int(event.text()))
        elif event.key() in _KEYS and not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._actions[_KEYS[Qt.Key(event.key())]]()
        else:
            super().keyPressEvent(event)

    def _toggle_slides(self) -> None:
        if self.slides.isActive():
            self.slides.stop()
        else:
            self.slides.start()
        self._slideshow.setChecked(self.slides.isActive())

    def _next_slide(self) -> None:
        if self._model.image() is not None or self._model.problem():  # otherwise it is still being read
            self._model.go_to((self._model.index() + 1) % max(1, self._model.count()))

    def _vary(self) -> None:
        if self._model.path():
            self.variations_asked.emit(self._model.path())

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802, D102
        self.closed.emit(self._model.path())
        self._model.close()
        self._image = None
        self.slides.stop()
        self._slideshow.setChecked(False)
        super().closeEvent(event)

    def _toggle_info(self) -> None:
        shown = self.info.isHidden()
        self.info.setVisible(shown)
        self._about.setChecked(shown)
        self._model.set_metadata_wanted(shown)

    def _copy_image(self) -> None:
        image = self._model.image()
        if image is not None:
            QGuiApplication.clipboard().setImage(image)
            self._say(self.tr("Image copied."))

    def _copy_text(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self._say(self.tr("Settings copied."))
