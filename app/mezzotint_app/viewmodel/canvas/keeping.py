"""Keeps the canvas between sessions: written to the state folder a while after a change, read at the start."""

from pathlib import Path

from PySide6.QtCore import QObject, QRect, QTimer

from mezzotint.atomic import atomic_write
from mezzotint_app.background import Executor
from mezzotint_app.viewmodel.canvas import open_raster
from mezzotint_app.viewmodel.canvas.canvas import CanvasModel
from mezzotint_app.viewmodel.canvas.opening import Layers

_DELAY = 15_000  # milliseconds without a change until it is written


class CanvasKeeping(QObject):
    """Work on the canvas survives a crash up to its last pause."""

    def __init__(self, model: CanvasModel, path: Path, pool: Executor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model, self._path, self._pool = model, path, pool
        self._is_read = self._changed = False
        self._waiting = QTimer(self)
        self._waiting.setSingleShot(True)
        self._waiting.setInterval(_DELAY)
        self._waiting.timeout.connect(self.save)
        document = model.document
        for signal in (document.changed, document.layers_changed, document.frame_changed):
            signal.connect(self._later)

    def restore(self) -> None:
        """Read the canvas of the last session, unless something has been painted already."""
        self._pool.run(self._path.is_file, self._found, self._not_restored)

    def _found(self, is_there: bool) -> None:
        if is_there:
            self._model.opener.open(self._path, self._restored, self._not_restored)
        else:
            self._is_read = True

    def save(self) -> None:
        """Write the canvas now, in the background, if it has changed; nothing is kept of an empty one."""
        self._waiting.stop()
        if not self._changed or not self._is_read:
            return
        self._changed = False
        path, document, layers = self._path, self._model.document, self._model.snapshot()
        if document.is_empty():
            self._pool.run(lambda: path.unlink(missing_ok=True), None, self._not_saved)
            return

        def write(frame: QRect) -> None:
            path.parent.mkdir(parents=True, exist_ok=True)
            atomic_write(path, open_raster.written(layers, frame, for_others=False), overwrite=True)

        frame = document.frame()
        self._pool.run(lambda: write(frame), None, self._not_saved)

    def _later(self, *_: object) -> None:
        self._changed = True
        self._waiting.start()

    def _restored(self, layers: Layers, frame: QRect | None) -> None:
        self._is_read = True
        if self._model.document.is_empty():
            self._model.document.reset(layers, frame)
            self._model.show_everything()
            self._changed = False

    def _not_restored(self, error: Exception) -> None:
        """Keep the file under another name, as this one will be written again."""
        self._is_read = True
        path, aside = self._path, self._path.with_name("canvas-unread.ora")
        self._pool.run(lambda: path.replace(aside), None, lambda _error: None)
        words = self.tr("The canvas of the last session could not be read, and is kept in {file}: {error}")
        self._model.message.emit(words.format(file=aside, error=error))

    def _not_saved(self, error: Exception) -> None:
        self._changed = True
        self._model.message.emit(self.tr("The canvas could not be kept: {0}").format(error))
