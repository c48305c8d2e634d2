"""First-stage results of cascades, for comparison with the finished images."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage

from mezzotint.protocol import Event, Saved, StageShown
from mezzotint_app.background import Executor

MOST_KEPT = 24  # JPEG previews, a few hundred kB each


class FirstStages(QObject):
    """Stores the encoded previews; the one to be shown is decoded in a worker thread."""

    changed = Signal()

    def __init__(self, pool: Executor, decode: Callable[[str], QImage], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool, self._decode = pool, decode
        self._paths: dict[int, str] = {}  # image index within the task -> path of the finished image
        self._kept: dict[str, str] = {}  # path of the finished image -> base64 JPEG
        self._wanted = ""
        self._image = QImage()

    def begin(self) -> None:
        """Start a new task."""
        self._paths.clear()

    def hear(self, event: Event) -> None:
        """Process an event of the task."""
        if isinstance(event, Saved):
            self._paths[event.image.index] = event.image.path
        elif isinstance(event, StageShown) and event.stage == 0 and event.image in self._paths:
            self._keep(self._paths[event.image], event.jpeg)

    def show(self, path: str) -> None:
        """Select the finished image being viewed."""
        self._wanted, self._image = path, QImage()
        if path in self._kept:
            self._read(path)

    def image(self) -> QImage:
        """Return the selected image's first-stage result; null if there is none or it is not yet decoded."""
        return self._image

    def _keep(self, path: str, jpeg: str) -> None:
        self._kept.pop(path, None)
        self._kept[path] = jpeg
        while len(self._kept) > MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        if path == self._wanted:
            self._read(path)

    def _read(self, path: str) -> None:
        data = self._kept[path]

        def read(image: QImage) -> None:
            if path == self._wanted and not image.isNull():
                self._image = image
                self.changed.emit()

        self._pool.run(lambda: self._decode(data), read, _is_none)


def _is_none(_error: Exception) -> None:
    """Ignored: without an image there is no comparison."""
