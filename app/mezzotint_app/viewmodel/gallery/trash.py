"""Moves images to the system's trash and restores them."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QDir, QFile, QObject, QStandardPaths, Signal

from mezzotint.trouble import shown
from mezzotint_app.background import Executor
from mezzotint_app.processes.service import Failure, Service

MAX_PER_REQUEST = 1000  # images per request

translate = QCoreApplication.translate


@dataclass(frozen=True, slots=True, kw_only=True)
class Trashed:
    """The result of moving a file to the trash."""

    path: str
    place: str = ""  # path in the trash; empty if unknown or not moved
    problem: str = ""  # why it was not moved


class SystemTrash:
    """The desktop's trash, for use in worker threads."""

    def move(self, path: str) -> Trashed:
        """Move a file to the trash."""
        file = QFile(path)
        home = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.GenericDataLocation)
        QDir().mkpath(home)  # missing in a new home directory, and Qt creates only the trash folder in it
        if not file.exists():
            return Trashed(path=path)  # already gone
        if not file.moveToTrash():
            return Trashed(path=path, problem=file.errorString() or _no_reason())
        place = file.fileName()
        return Trashed(path=path, place="" if place == path else place)

    def restore(self, trashed: Trashed) -> str:
        """Restore a file; returns the error, or "". Never overwrites a file."""
        file = QFile(trashed.place)
        QDir().mkpath(str(Path(trashed.path).parent))
        if not file.rename(trashed.path):
            return file.errorString() or _no_reason()
        place = Path(trashed.place)
        with contextlib.suppress(OSError):  # a leftover .trashinfo file is harmless
            (place.parent.parent / "info" / f"{place.name}.trashinfo").unlink(missing_ok=True)
        return ""


class GalleryTrash(QObject):
    """Moves images to the trash, with step-by-step undo."""

    changed = Signal()  # what `undo` would restore
    moved = Signal(tuple)  # paths of moved images
    restored = Signal(tuple)  # paths of restored images
    settled = Signal()  # the index is up to date
    failed = Signal(str)

    def __init__(
        self,
        librarian: Service,
        background: Executor,
        parent: QObject | None = None,
        *,
        trash: SystemTrash | None = None,
    ) -> None:
        super().__init__(parent)
        self._librarian, self._background, self._trash = librarian, background, trash or SystemTrash()
        self._steps: list[tuple[Trashed, ...]] = []

    def undoable(self) -> int:
        """Return how many images `undo` would restore."""
        return len(self._steps[-1]) if self._steps else 0

    def move(self, paths: Sequence[str]) -> None:
        """Move images to the trash; failures are reported."""
        trash = self._trash
        self._background.run(
            lambda: [trash.move(path) for path in paths],
            self._moved,
            lambda error: self._not_moved([Trashed(path=paths[0], problem=str(error))]) if paths else None,
        )

    def undo(self) -> None:
        """Restore the images moved last."""
        if not self._steps:
            return
        step, trash = self._steps.pop(), self._trash
        self.changed.emit()
        self._background.run(
            lambda: [(one, trash.restore(one)) for one in step],
            self._restored,
            lambda error: self._not_restored([(step[0], str(error))]),
        )

    def _moved(self, results: Sequence[Trashed]) -> None:
        gone = tuple(one for one in results if not one.problem)
        left = [one for one in results if one.problem]
        if restorable := tuple(one for one in gone if one.place):
            self._steps.append(restorable)
        if gone:
            self.changed.emit()
            self.moved.emit(tuple(one.path for one in gone))
            self._forget(tuple(one.path for one in gone))
        if left:
            self._not_moved(left)

    def _forget(self, paths: tuple[str, ...]) -> None:
        for first in range(0, len(paths), MAX_PER_REQUEST):
            self._librarian.ask(
                "gallery.forget",
                {"paths": paths[first : first + MAX_PER_REQUEST]},
                then=lambda _none: self.settled.emit(),
                failed=self._refused,
            )

    def _not_moved(self, left: Sequence[Trashed]) -> None:
        line = translate("GalleryActions", "{path} could not be moved to the trash: {why}")
        more = self.tr("%n more could not be moved", "", len(left) - 1)
        self._fail(line, left[0].path, left[0].problem, more if len(left) > 1 else "")

    def _restored(self, results: Sequence[tuple[Trashed, str]]) -> None:
        left = [(one, problem) for one, problem in results if problem]
        if back := tuple(one.path for one, problem in results if not problem):
            self.restored.emit(back)
        if left:
            self._not_restored(left)

    def _not_restored(self, left: Sequence[tuple[Trashed, str]]) -> None:
        line = translate("GalleryActions", "{path} could not be restored from the trash: {why}")
        more = self.tr("%n more could not be restored", "", len(left) - 1)
        self._fail(line, left[0][0].path, left[0][1], more if len(left) > 1 else "")

    def _fail(self, line: str, path: str, why: str, more: str) -> None:
        message = line.format(path=shown(path), why=why.rstrip("."))
        self.failed.emit(f"{message}. {more}" if more else message)
        self.settled.emit()

    def _refused(self, failure: Failure) -> None:
        self.failed.emit(failure.message)


def _no_reason() -> str:
    return translate("GalleryActions", "the system gave no reason")
