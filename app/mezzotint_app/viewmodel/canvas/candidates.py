"""Candidates: images generated for a frame, to step through and accept or discard."""

from dataclasses import dataclass
from typing import Protocol

from PySide6.QtCore import QObject, QRect, Qt, Signal, SignalInstance
from PySide6.QtGui import QImage

from mezzotint.jobs.store import Task
from mezzotint.protocol import GeneratedImage
from mezzotint_app.processes.service import Failure
from mezzotint_app.viewmodel.canvas.document import CanvasDocument
from mezzotint_app.viewmodel.pixels import PixelLoader

MOST = 64  # the oldest are dropped; their files stay
MOST_BYTES = 512 << 20


class Saves(Protocol):
    """What tells of finished images: a QueueRunner."""

    saved: SignalInstance
    ended: SignalInstance

    def task(self) -> Task | None:
        """Return the running task, or None."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An image for a frame, in the frame's size."""

    path: str
    seed: int
    frame: QRect
    image: QImage


class Candidates(QObject):
    """Collects the images of entries that were queued from the canvas."""

    changed = Signal()
    message = Signal(str)

    def __init__(
        self, document: CanvasDocument, runner: Saves, pixels: PixelLoader, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._document, self._runner, self._pixels = document, runner, pixels
        self._frames: dict[int, QRect] = {}  # of entries
        self._all: list[Candidate] = []
        self._at = 0
        self._before = False
        document.changed.connect(self._show_change)
        runner.saved.connect(self._saved)
        runner.ended.connect(self._ended)

    def expect(self, entry: int, frame: QRect) -> None:
        """Collect the images of an entry."""
        self._frames[entry] = frame

    def running_frame(self) -> QRect | None:
        """Return the frame that is being generated into, or None."""
        task = self._runner.task()
        return None if task is None else self._frames.get(task.entry)

    def all(self) -> tuple[Candidate, ...]:
        """Return the candidates, oldest first."""
        return tuple(self._all)

    def index(self) -> int:
        """Return the index of the current candidate."""
        return self._at

    def current(self) -> Candidate | None:
        """Return the current candidate."""
        return self._all[self._at] if self._all else None

    def shown(self) -> Candidate | None:
        """Return the candidate to display over the canvas; None while what was there before is shown."""
        return None if self._before else self.current()

    def show_before(self, before: bool) -> None:
        """Show what was there before, or the candidate."""
        self._before = before
        self.changed.emit()

    def step(self, by: int) -> None:
        """Go to another candidate, from the last to the first."""
        if self._all:
            self._at, self._before = (self._at + by) % len(self._all), False
            self.changed.emit()

    def accept(self, name: str) -> bool:
        """Put the current candidate on a layer of its own, above what would cover it, and drop all of its frame."""
        found = self.current()
        if found is None:
            return False
        above = [one for one in self._document.layers() if one.kind in ("image", "sketch", "reference")]
        if above:
            self._document.set_active(above[-1].id)
        if not self._document.add_layer("image", name, found.image, (found.frame.x(), found.frame.y())):
            self.message.emit(self.tr("The canvas has too many layers. Remove one, then accept."))
            return False
        self._drop([one for one in self._all if one.frame == found.frame])
        return True

    def discard(self) -> None:
        """Drop the current candidate; its file stays in the gallery."""
        found = self.current()
        if found is not None:
            self._drop([found])

    def clear(self) -> None:
        """Drop all candidates, and do not collect those that are still being made."""
        self._frames.clear()
        self._drop(self._all)

    def _drop(self, gone: list[Candidate]) -> None:
        self._all = [one for one in self._all if not any(one is other for other in gone)]
        self._at, self._before = min(self._at, max(len(self._all) - 1, 0)), False
        self.changed.emit()

    def _show_change(self, where: QRect) -> None:
        """Show what is painted or undone beneath the candidate."""
        found = self.shown()
        if found is not None and where.intersects(found.frame):
            self.show_before(before=True)

    # ---- the runner's events

    def _saved(self, task: Task, image: GeneratedImage) -> None:
        frame = self._frames.get(task.entry)
        if frame is None:
            return

        def loaded(pixels: QImage) -> None:
            if task.entry in self._frames or frame in self._frames.values():
                self._add(Candidate(path=image.path, seed=image.seed, frame=frame, image=_fitted(pixels, frame)))

        def failed(failure: Failure) -> None:
            self.message.emit(failure.message)

        self._pixels.load(image.path, None, loaded, failed, slot=f"candidate {image.path}")

    def _add(self, candidate: Candidate) -> None:
        self._all = [*self._all, candidate][-MOST:]
        while len(self._all) > 1 and sum(one.image.sizeInBytes() for one in self._all) > MOST_BYTES:
            del self._all[0]
        self._at, self._before = len(self._all) - 1, False
        self.changed.emit()

    def _ended(self, task: Task, _result: object, failure: Failure | None) -> None:
        if task.entry in self._frames and failure is not None and failure.kind != "cancelled":
            self.message.emit(failure.message)


def _fitted(image: QImage, frame: QRect) -> QImage:
    if image.size() == frame.size():
        return image
    smooth = Qt.TransformationMode.SmoothTransformation
    return image.scaled(frame.size(), Qt.AspectRatioMode.IgnoreAspectRatio, smooth)
