"""A small document in a file: changes apply at once and are written shortly after, off the window's thread."""

import contextlib
import time
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Generic, TypeVar, cast, get_type_hints

from PySide6.QtCore import QCoreApplication, QObject, QTimer, Signal

from mezzotint.atomic import atomic_write
from mezzotint.codec import decode, from_json, parse_json, to_json
from mezzotint.errors import MezzotintError, ProtocolError
from mezzotint.trouble import meaning, shown, storage_error
from mezzotint_app.background import Executor

translate = QCoreApplication.translate
T = TypeVar("T")

MAX_BYTES = 8 << 20  # bytes of a document
_DELAY = 400  # milliseconds over which changes are collected
_RETRY_DELAY = 10_000  # milliseconds until a failed write is retried


class Stored(QObject, Generic[T]):
    """A frozen dataclass of protocol types, stored in a JSON file."""

    changed = Signal()
    failed = Signal(str)  # writing failed: what happened, and that nothing is lost
    resolved = Signal(str)  # the message of an earlier `failed` no longer applies: writing succeeded

    def __init__(self, path: Path, value: T, background: Executor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path, self._value, self._background = path, value, background
        self._reported = ""  # why the last write failed
        self._waiting = QTimer(self)
        self._waiting.setSingleShot(True)
        self._waiting.timeout.connect(self.save)

    def value(self) -> T:
        """The current value."""
        return self._value

    def change(self, **fields: Any) -> None:  # noqa: ANN401
        """Change these fields; does nothing if the values stay the same."""
        value = replace(self._value, **fields)  # type: ignore[type-var]
        if value != self._value:
            self._value = value
            self._waiting.start(_DELAY)
            self.changed.emit()

    def save(self) -> None:
        """Write the document now, in the background, even if it has not changed."""
        self._waiting.stop()
        path, value = self._path, self._value
        self._background.run(lambda: write(path, value), lambda _none: self._written(), self._not_written)

    def unsaved(self) -> bool:
        """Whether a change has not been written yet, or a failed write is to be retried."""
        return self._waiting.isActive()

    def _written(self) -> None:
        reported, self._reported = self._reported, ""
        if reported:
            self.resolved.emit(reported)

    def _not_written(self, error: Exception) -> None:
        """Report the error, but only once while it is repeated."""
        if not self._waiting.isActive():
            self._waiting.start(_RETRY_DELAY)
        words = self.tr("{0}. Your changes are kept in this window, and saving is retried.").format(error)
        if words != self._reported:
            self._reported = words
            self.failed.emit(words)


def write(path: Path, value: object) -> None:
    """Write the document atomically. Raises StorageError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error("write", path, error) from error
    atomic_write(path, to_json(value).encode("ascii"), overwrite=True)


def read(kind: type[T], path: Path, *, now: Callable[[], float] = time.time) -> tuple[T, str | None]:
    """Read a document; a damaged or newer one is moved aside and read as far as possible. Returns a notice, too."""
    data = b""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise ProtocolError(f"it is larger than {MAX_BYTES >> 20} MB")
        return from_json(kind, data), None
    except FileNotFoundError:
        return kind(), None
    except (OSError, MezzotintError) as error:
        reason = meaning(error) if isinstance(error, OSError) else str(error).rstrip(".")
        return _readable(kind, data), _moved_aside(path, reason, now())


def _readable(kind: type[T], data: bytes) -> T:
    """Decode the fields one by one, so that an invalid or unknown field does not affect the others."""
    values: dict[str, object] = {}
    with contextlib.suppress(MezzotintError):
        found = parse_json(data[:MAX_BYTES])
        hints = get_type_hints(kind)
        for field in fields(cast(Any, kind)):
            if isinstance(found, dict) and field.name in found:
                with contextlib.suppress(MezzotintError):
                    values[field.name] = decode(hints[field.name], found[field.name])
    return kind(**values)


def _moved_aside(path: Path, reason: str, now: float) -> str:
    aside = path.with_name(f"{path.name}.{time.strftime('%Y%m%d-%H%M%S', time.localtime(now))}")
    try:
        path.replace(aside)
        kept = translate("Stored", "it was renamed to {path}").format(path=shown(aside))
    except OSError:
        kept = translate("Stored", "it could not be renamed and will be replaced")
    message = translate(
        "Stored", "{path} could not be read ({reason}); {kept}, and defaults are used for what is missing."
    )
    return message.format(path=shown(path), reason=reason, kept=kept)
