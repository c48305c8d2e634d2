"""What the first stages of cascades made, beside the finished images."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage

from mezzotint.protocol import Event, Saved, StageShown
from mezzotint_app.background import Runs

MOST_KEPT = 24  # as they came, a few hundred kB each


class FirstStages(QObject):
    """Keeps them as they came; the one that is asked for is decoded off the window's thread."""

    changed = Signal()

    def __init__(self, pool: Runs, decode: Callable[[str], QImage], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool, self._decode = pool, decode
        self._paths: dict[int, str] = {}  # of the finished images of the job, by their place in it
        self._kept: dict[str, str] = {}  # by the path of the finished image
        self._wanted = ""
        self._image = QImage()

    def begin(self) -> None:
        """Another job begins."""
        self._paths.clear()

    def hear(self, event: Event) -> None:
        """Something happened in the job."""
        if isinstance(event, Saved):
            self._paths[event.image.index] = event.image.path
        elif isinstance(event, StageShown) and event.stage == 0 and event.image in self._paths:
            self._keep(self._paths[event.image], event.jpeg)

    def show(self, path: str) -> None:
        """The finished image that is looked at now."""
        self._wanted, self._image = path, QImage()
        if path in self._kept:
            self._read(path)

    def image(self) -> QImage:
        """What it was after its first stage; null: there is nothing, or it is not decoded yet."""
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
    """What cannot be decoded is not there to be compared with."""
