"""A small document that is kept: changed at once, written a moment later and off the window's thread."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QObject, QTimer, Signal

from mezzotint.atomic import atomic_write
from mezzotint.codec import from_json, to_json
from mezzotint.errors import MezzotintError, ProtocolError
from mezzotint.trouble import shown
from mezzotint_app.background import Runs

T = TypeVar("T")

MOST = 8 << 20  # bytes of a document
_DELAY = 400  # milliseconds in which changes are gathered


class Stored(QObject, Generic[T]):
    """A frozen dataclass of the boundary's types in a JSON file."""

    changed = Signal()
    failed = Signal(str)  # it could not be written: what happened, and that nothing old was lost

    def __init__(self, path: Path, value: T, background: Runs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path, self._value, self._background = path, value, background
        self._waiting = QTimer(self)
        self._waiting.setSingleShot(True)
        self._waiting.setInterval(_DELAY)
        self._waiting.timeout.connect(self.save)

    def value(self) -> T:
        """As it is now."""
        return self._value

    def change(self, **fields: Any) -> None:  # noqa: ANN401
        """Other values for these fields; nothing happens where they are the same."""
        value = replace(self._value, **fields)  # type: ignore[type-var]
        if value != self._value:
            self._value = value
            self._waiting.start()
            self.changed.emit()

    def save(self) -> None:
        """Write it soon, whatever has changed."""
        self._waiting.stop()
        path, value = self._path, self._value
        self._background.run(lambda: write(path, value), None, lambda error: self.failed.emit(str(error)))

    def unsaved(self) -> bool:
        """Whether a change waits to be written."""
        return self._waiting.isActive()


def write(path: Path, value: object) -> None:
    """The whole document, or the old one stays. Raises a StorageError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(path, to_json(value).encode("ascii"), overwrite=True)


def read(kind: type[T], path: Path, *, now: Callable[[], float] = time.time) -> tuple[T, str | None]:
    """The document; a damaged one is moved aside for the defaults, and the second value says so."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST + 1)
        if len(data) > MOST:
            raise ProtocolError(f"it is larger than {MOST >> 20} MB")
        return from_json(kind, data), None
    except FileNotFoundError:
        return kind(), None
    except (OSError, MezzotintError) as error:
        return kind(), _moved_aside(path, error, now())


def _moved_aside(path: Path, error: Exception, now: float) -> str:
    aside = path.with_name(f"{path.name}.{time.strftime('%Y%m%d-%H%M%S', time.localtime(now))}")
    try:
        path.replace(aside)
        kept = f"it was kept as {shown(aside)}"
    except OSError:
        kept = "it could not be moved aside and will be replaced"
    return f"{shown(path)} could not be read ({error}); {kept}, and the usual settings are used"
