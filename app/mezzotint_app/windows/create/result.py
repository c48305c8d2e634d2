"""The right side of the Create page: the image, its progress and the latest results."""

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QMenu, QProgressBar, QPushButton, QVBoxLayout, QWidget

from mezzotint_app.background import Executor
from mezzotint_app.resources import icon
from mezzotint_app.viewmodel.create.create import CreateModel
from mezzotint_app.viewmodel.engine_state import EngineState
from mezzotint_app.viewmodel.foreign_text import in_one_line
from mezzotint_app.viewmodel.thumbnails import Thumbnails
from mezzotint_app.widgets.icon_button import icon_button
from mezzotint_app.widgets.images.image_bar import ImageBar
from mezzotint_app.widgets.images.image_view import ImageView
from mezzotint_app.widgets.images.result_strip import ResultStrip
from mezzotint_app.widgets.labels import plain_label
from mezzotint_app.widgets.time_bar import TimeBar

_NOTICE = 400  # characters of a notice that are shown
_PARTS = 1000  # steps of the progress bar


class CreateResult(QWidget):
    """Shows a Preview."""

    full_screen_wanted = Signal(tuple, int)  # paths, and index of the one to show
    settings_wanted = Signal(str)
    canvas_wanted = Signal(str)
    menu_opening = Signal(object, str)  # QMenu, and path: others may add to it

    def __init__(
        self,
        model: CreateModel,
        thumbnails: Thumbnails,
        pool: Executor | None = None,
        engine: EngineState | None = None,
    ) -> None:
        super().__init__()
        self._engine = engine
        self._model, self._preview = model, model.preview
        self._image = QImage()
        self._was_image = False
        self.view = ImageView(pool=pool)
        self.view.clear(self.tr("Write a prompt and press Generate. The image appears here."))
        self.view.activated.connect(self._open_shown)
        self.view.customContextMenuRequested.connect(self._view_menu)
        self.strip = ResultStrip(thumbnails)
        self.strip.chosen.connect(self._preview.show_result)
        self.strip.opened.connect(self._open)
        self.strip.menu_wanted.connect(self._menu)
        self.strip.setVisible(False)
        self._build_bar()
        self._build_progress()
        self._build()
        self._preview.image_changed.connect(self._show_image)
        self._preview.changed.connect(self._show_progress)
        self._preview.results_changed.connect(self._show_results)
        if engine is not None:
            engine.changed.connect(self._show_progress)
        self._show_results()
        self._show_image()
        self._show_progress()

    def add_notice(self, notice: QWidget) -> None:
        """Show a notice above the recent images while it has something to say."""
        self._layout.insertWidget(self._layout.indexOf(self.strip), notice)

    def cancel_button(self) -> QPushButton:
        """The button that stops the job."""
        return self._cancel

    def skip_button(self) -> QPushButton:
        """The button that skips to the next image."""
        return self._skip

    def compare_button(self) -> QWidget:
        """The button that compares the first stage with the last."""
        return self._compare

    def follow_button(self) -> QPushButton:
        """The button that returns to the image being generated."""
        return self._follow

    def notices(self) -> str:
        """The adjustments to the settings; empty if they are hidden."""
        return "" if self._notices.isHidden() else self._notices.text()

    def progress_words(self) -> str:
        """The text about the job's progress."""
        return self._words.text()

    def _build_bar(self) -> None:
        self._zoom = ImageBar(self.view)
        self._compare = icon_button("compare", self.tr("Compare with the first stage"), checkable=True)
        self._compare.toggled.connect(self._show_comparison)
        self._whole = icon_button("full-screen", self.tr("Full screen"))
        self._whole.clicked.connect(self._open_shown)

    def _build_progress(self) -> None:
        self._words = plain_label(wrap=True, selectable=True)
        self._notices = plain_label(wrap=True, role="warning", selectable=True)
        self._notices.setAccessibleName(self.tr("Adjustments"))
        self._times = TimeBar()  # in the place of the progress
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(self.tr("Progress of the image"))
        self._bar.setFixedHeight(8)
        self._follow = QPushButton(icon("eye"), self.tr("Show the current image"))
        self._follow.setToolTip(self.tr("Back to the image being generated"))
        self._follow.setAccessibleName(self._follow.text())
        self._follow.clicked.connect(self._preview.follow)
        self._cancel = QPushButton(icon("cancel"), self.tr("Cancel"))
        self._cancel.clicked.connect(self._stop)
        self._skip = QPushButton(icon("right"), self.tr("Skip this image"))
        self._skip.setObjectName("skip_image")
        self._skip.setAccessibleName(self._skip.text())
        self._skip.setToolTip(self.tr("Cancel only this image and continue with the next"))
        self._skip.clicked.connect(self._preview.skip)

    def _build(self) -> None:
        tools = QHBoxLayout()
        tools.setSpacing(4)
        tools.addWidget(self._zoom)
        tools.addStretch(1)
        tools.addWidget(self._compare)
        tools.addWidget(self._whole)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self._words, 1)
        row.addWidget(self._follow)
        row.addWidget(self._skip)
        row.addWidget(self._cancel)
        bars = QGridLayout()
        for bar in (self._bar, self._times):
            bars.addWidget(bar, 0, 0)
        layout = self._layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 12, 16, 12)
        layout.setSpacing(8)
        layout.addWidget(self.view, 1)
        layout.addLayout(tools)
        layout.addLayout(bars)
        layout.addLayout(row)
        for part in (self._bar, self._cancel):
            _keep_room(part)
        layout.addWidget(self._notices)
        layout.addWidget(self.strip)

    def _show_image(self) -> None:
        image = self._preview.image()
        is_image = bool(self._preview.path())
        self._whole.setEnabled(is_image)
        has_before = not self._preview.before().isNull()
        self._compare.setEnabled(has_before)
        if image.isNull():
            return
        self.view.show_image(image, keep_view=self._was_image == is_image and image.size() == self._image.size())
        self._image, self._was_image = image, is_image
        if not has_before:
            self._compare.setChecked(False)
        self._show_comparison()

    def _show_comparison(self) -> None:
        before = self._preview.before()
        self.view.compare(before if self._compare.isChecked() and not before.isNull() else None)

    def _show_progress(self) -> None:
        preview = self._preview
        working, starting = preview.is_working(), self._starting_line()
        self._times.show_spans(() if starting else preview.spans())
        line = starting or preview.line() or self._times.words()
        self._words.setText(line)
        self._words.setVisible(bool(line))
        self._bar.setVisible(working or bool(starting))
        self._show_cancel(working=working, starting=bool(starting))
        self._notices.setText("\n".join(in_one_line(one, _NOTICE) for one in preview.notices()))
        self._notices.setVisible(bool(preview.notices()))
        self._follow.setVisible(working and not preview.is_following())
        fraction = preview.fraction()
        self._bar.setRange(0, 0 if fraction is None else _PARTS)
        if fraction is not None:
            self._bar.setValue(round(fraction * _PARTS))

    def _starting_line(self) -> str:
        """What the engine is doing while it cannot generate yet; empty otherwise."""
        engine = self._engine
        if engine is None or not engine.is_starting():
            return ""
        return engine.text() if self._preview.is_beginning() or not self._preview.is_working() else ""

    def _show_cancel(self, *, working: bool, starting: bool) -> None:
        self._cancel.setVisible(working or starting)
        self._cancel.setEnabled(not self._preview.is_stopping())
        self._skip.setVisible(self._preview.can_skip())
        if working:
            self._cancel.setAccessibleName(self.tr("Cancel the current job"))
            self._cancel.setToolTip(self.tr("Stop now; saved images are kept"))
        else:
            self._cancel.setAccessibleName(self.tr("Do not start the engine now"))
            self._cancel.setToolTip(self.tr("Images wait in the queue until the engine is started"))

    def _stop(self) -> None:
        if self._preview.is_working():
            self._preview.stop()
        elif self._engine is not None:
            self._engine.cancel()

    def _show_results(self) -> None:
        self.strip.show_results(self._preview.results())

    def _open_shown(self) -> None:
        if self._preview.path():
            self._open(self._preview.path())

    def _open(self, path: str) -> None:
        paths = self.strip.paths()
        self.full_screen_wanted.emit(paths if path in paths else (path,), paths.index(path) if path in paths else 0)

    def _view_menu(self, at: QPoint) -> None:
        self._menu(self._preview.path(), self.view.mapToGlobal(at))

    def _menu(self, path: str, where: QPoint) -> None:
        if path:
            self.menu_for(path).popup(where)

    def menu_for(self, path: str) -> QMenu:
        """The context menu of a finished image."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(icon("full-screen"), self.tr("Full screen"), lambda: self._open(path))
        menu.addAction(icon("image"), self.tr("Use as init image"), lambda: self._model.images.set_image(path))
        menu.addAction(icon("edit"), self.tr("Edit this image"), lambda: self._model.edit_image(path))
        menu.addAction(icon("canvas"), self.tr("Open in canvas"), lambda: self.canvas_wanted.emit(path))
        result = next((one for one in self._preview.results() if one.path == path), None)
        if result is not None:
            menu.addAction(icon("reuse"), self.tr("Reuse seed"), lambda: self._model.seed.set(result.seed))
        menu.addAction(icon("info"), self.tr("Load settings…"), lambda: self.settings_wanted.emit(path))
        self.menu_opening.emit(menu, path)
        return menu


def _keep_room(part: QWidget) -> None:
    """Keep the widget's space while it is hidden, so that the image does not change its size."""
    policy = part.sizePolicy()
    policy.setRetainSizeWhenHidden(True)
    part.setSizePolicy(policy)
