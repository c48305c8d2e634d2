"""The live preview, the finished images, and the progress of the current task."""

import base64
import binascii
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage

from mezzotint.jobs.store import Expected, PhaseSeconds, Task
from mezzotint.protocol import Event, GeneratedImage, GenerateResult, Notice, Step
from mezzotint_app import strips
from mezzotint_app.amounts import left_text
from mezzotint_app.background import Executor
from mezzotint_app.processes.service import Failure
from mezzotint_app.viewmodel.create.first_stages import FirstStages
from mezzotint_app.viewmodel.create.state import Result
from mezzotint_app.viewmodel.create.timeline import Span, spans_of
from mezzotint_app.viewmodel.models.made_pictures import is_made, makes
from mezzotint_app.viewmodel.queue.access import QueueAccess
from mezzotint_app.viewmodel.queue.progress import TaskProgress
from mezzotint_app.viewmodel.queue.running import QueueRunning, Runner

MOST_RESULTS = 24
MOST_NOTICES = 5
LARGEST_PREVIEW = 2 << 20  # characters of base64
_SAID_ELSEWHERE = ("memory_plan",)  # already reported before the task
_JPEG = b"\xff\xd8\xff"
_LARGEST_SIDE = 4096  # pixels of a preview
SHOWN_SIDE = 4096  # maximum pixels of a finished image


class LoadsPixels(Protocol):
    """Loads images from disk, decoded in another process."""

    def load(
        self,
        path: str,
        max_side: int | None,
        then: Callable[[QImage], None],
        failed: Callable[[Failure], None] | None = None,
        *,
        slot: str = "",
    ) -> int:
        """Load an image; in each slot the newest request wins."""
        ...


class StoppableRunner(Runner, Protocol):
    """A runner that can also stop at once."""

    def stop_now(self) -> None:
        """Cancel the running task."""
        ...

    def skip_image(self) -> None:
        """Cancel the current image and continue with the next."""
        ...


class Preview(QObject):
    """Follows the runner; images are decoded in worker threads, and the newest one wins."""

    image_changed = Signal()
    changed = Signal()  # text and progress
    results_changed = Signal()
    ended = Signal()
    failed = Signal(str)  # error message of a failed task

    def __init__(
        self,
        queue: QueueAccess,
        runner: StoppableRunner,
        pixels: LoadsPixels,
        pool: Executor,
        parent: QObject | None = None,
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(parent)
        self._queue, self._runner, self._pixels, self._pool, self._now = queue, runner, pixels, pool, now
        self._image, self._before = QImage(), QImage()
        self._first_stages = FirstStages(pool, decoded, self)
        self._first_stages.changed.connect(self.image_changed)
        self._step_shown: Step | None = None
        self._waiting: Step | None = None
        self._decoding = False
        self._task: Task | None = None
        self._progress = TaskProgress()
        self._phases: PhaseSeconds | None = None
        self._results: tuple[Result, ...] = ()
        self._removed: dict[str, tuple[int, Result]] = {}  # by path, with their places
        self._running: QueueRunning | None = None
        self._shown_path = ""
        self._loading = ""
        self._pinned = self._stopping = False
        self._failure = ""
        self._notices: tuple[str, ...] = ()
        self._spans: tuple[Span, ...] = ()
        runner.started.connect(self._started)
        runner.progressed.connect(self._progressed)
        runner.saved.connect(self._saved)
        runner.ended.connect(self._ended)
        if (task := runner.task()) is not None:
            self._started(task)

    # ---- displayed state

    def image(self) -> QImage:
        """Return the latest image; null if there is none."""
        return self._image

    def before(self) -> QImage:
        """Return the result of a cascade's first stage, for comparison; null if there is none."""
        whole = self._first_stages.image() if self._shown_path else QImage()
        return self._before if whole.isNull() else whole

    def path(self) -> str:
        """Return the path of the displayed finished image; "" while a preview is shown."""
        return self._shown_path

    def is_working(self) -> bool:
        """Whether a task is running."""
        return self._task is not None

    def fraction(self) -> float | None:
        """Return the fraction of the task that is done, or None if unknown."""
        return None if self._task is None else self._progress.fraction(self._phases)

    def line(self) -> str:
        """Return the current activity and the remaining time."""
        if self._task is None:
            return self._failure
        if self._stopping:
            return self.tr("Cancelling…")
        left = left_text(self._seconds_left())
        words = self._progress.words() if self._running is None else self._running.words()
        return self.tr("{words}, {left}").format(words=words, left=left) if left else words

    def notices(self) -> tuple[str, ...]:
        """Return the adjustments made in the last task, in order; untrusted text."""
        return self._notices

    def spans(self) -> tuple[Span, ...]:
        """Return where the time of the last job went; empty while one is running, or if it failed."""
        return () if self.is_working() else self._spans

    def _seconds_left(self) -> float | None:
        """Of the task, or of loading if the rest is unknown."""
        whole = None if self._running is None else self._running.entry_seconds_left()
        left = self._progress.seconds_left(self._phases) if whole is None else whole
        return self._progress.load_left if left is None and self._progress.phase == "loading" else left

    def is_beginning(self) -> bool:
        """Whether the engine has not yet reported anything on the task."""
        return self._task is not None and self._progress.phase == "starting"

    def results(self) -> tuple[Result, ...]:
        """Return the latest finished images, the newest first."""
        return self._results

    def restore(self, results: Sequence[Result]) -> None:
        """Restore the results of the last session whose files still exist."""
        self._pool.run(lambda: [one for one in results if Path(one.path).is_file()], self._restored)

    def _restored(self, found: Sequence[Result]) -> None:
        known = {one.path for one in self._results}
        self._results = (*self._results, *(one for one in found if one.path not in known))[:MOST_RESULTS]
        self.results_changed.emit()
        if found and self._task is None and self._image.isNull():
            self._load(found[0].path, lambda _failure: None)  # not requested by the user, so failures are ignored

    def show_result(self, path: str) -> None:
        """Show a finished image, and keep it while another is being generated."""
        self._pinned = self.is_working()
        self._before = QImage()
        self._load(path)
        self.changed.emit()

    def count_as(self, running: QueueRunning) -> None:
        """Show progress and time of the whole queue entry, as the queue does."""
        self._running = running
        running.changed.connect(self.changed)

    def is_following(self) -> bool:
        """Whether previews of the current task are shown."""
        return not self._pinned

    def follow(self) -> None:
        """Show previews of the current task again, from the next step on."""
        self._pinned = False
        self.changed.emit()

    def forget_result(self, path: str) -> None:
        """Remove a result that was deleted or moved."""
        self._removed |= {one.path: (at, one) for at, one in enumerate(self._results) if one.path == path}
        self._results = tuple(one for one in self._results if one.path != path)
        self.results_changed.emit()

    def bring_back(self, path: str) -> None:
        """Show a removed result again, where it was."""
        at, result = self._removed.pop(path, (0, None))
        if result is not None:
            self._results = (*self._results[:at], result, *self._results[at:])[:MOST_RESULTS]
            self.results_changed.emit()

    def forget_failure(self) -> None:
        """Clear the last error, because something new was requested."""
        if self._failure:
            self._failure = ""
            self.changed.emit()

    def stop(self) -> None:
        """Cancel the running task; saved images are kept."""
        if self.is_working():
            self._stops()
            self._runner.stop_now()

    def can_skip(self) -> bool:
        """Whether there is a next image in the task."""
        return self._task is not None and not self._stopping and self._progress.images - self._progress.saved > 1

    def skip(self) -> None:
        """Cancel the current image and continue with the next one of its entry."""
        if self.can_skip():
            self._stops()
            self._runner.skip_image()

    def is_stopping(self) -> bool:
        """Whether cancellation was requested and the engine has not stopped yet."""
        return self._stopping

    def _stops(self) -> None:
        """Show it at once: the engine reacts only between steps, which may take long."""
        self._stopping = True
        self.changed.emit()

    # ---- event handling

    def _started(self, task: Task) -> None:
        self._task, self._phases, self._failure = task, None, ""
        self._progress = TaskProgress(images=task.request.count)
        self._step_shown = self._waiting = None
        self._pinned = self._stopping = False
        self._notices = ()
        self._first_stages.begin()
        request = task.request
        self._queue.ask(lambda store: store.expected(request), lambda found: self._expect(task, found), _not_known)
        self.changed.emit()

    def _expect(self, task: Task, found: Expected) -> None:
        if self._task is not None and self._task.id == task.id:
            self._phases = found.phases
            self.changed.emit()

    def _progressed(self, task: Task, event: Event) -> None:
        if self._task is None or self._task.id != task.id:
            self._started(task)
        self._progress = self._progress.after(event, self._now())
        self._first_stages.hear(event)
        if isinstance(event, Notice) and event.code not in _SAID_ELSEWHERE and event.message not in self._notices:
            self._notices = (*self._notices, event.message)[-MOST_NOTICES:]
        if isinstance(event, Step) and event.preview is not None and not makes(task.request):
            self._waiting = event
            self._decode()
        self.changed.emit()

    def _saved(self, _task: Task, image: GeneratedImage) -> None:
        self._waiting = None
        if is_made(image.path):
            return
        result = Result(path=image.path, seed=image.seed, width=image.width, height=image.height)
        others = tuple(one for one in self._results if one.path != image.path)
        self._results = (result, *others)[:MOST_RESULTS]
        if not self._pinned:
            self._load(image.path)
        self.results_changed.emit()

    def _ended(self, task: Task, result: object, failure: Failure | None) -> None:
        if not makes(task.request):
            self._spans = spans_of(result) if isinstance(result, GenerateResult) else ()
        self._task, self._phases, self._waiting = None, None, None
        self._pinned = self._stopping = False
        self._progress = TaskProgress()
        self._failure = ""
        if failure is not None:
            self._failure = self.tr("Cancelled.") if failure.kind == "cancelled" else failure.message
            if failure.kind != "cancelled":
                self.failed.emit(failure.message)
        self.changed.emit()
        self.ended.emit()

    # ---- decoding

    def _decode(self) -> None:
        step = self._waiting
        if self._decoding or step is None or step.preview is None:
            return
        self._decoding, self._waiting = True, None
        data = step.preview
        self._pool.run(lambda: decoded(data), lambda image: self._decoded(step, image), lambda _: self._undecodable())

    def _decoded(self, step: Step, image: QImage) -> None:
        self._decoding = False
        wanted = self._task is not None and not self._pinned and not self._finished(step)
        if wanted and not image.isNull():
            self._keep_stage(step)
            self._image, self._shown_path, self._loading, self._step_shown = image, "", "", step
            self.image_changed.emit()
        self._decode()

    def _finished(self, step: Step) -> bool:
        """Whether the image of a late preview has been saved meanwhile."""
        return self._progress.saved > step.image

    def _undecodable(self) -> None:
        self._decoding = False
        self._decode()

    def _keep_stage(self, step: Step) -> None:
        """Keep the last preview of the first stage for comparison."""
        shown = self._step_shown
        if shown is None or shown.image != step.image:
            self._before = QImage()
        elif shown.stage == 0 < step.stage:
            self._before = self._image

    def _load(self, path: str, failed: Callable[[Failure], None] | None = None) -> None:
        self._loading = path
        self._first_stages.show(path)
        not_loaded = failed or self._not_loaded
        self._pixels.load(path, SHOWN_SIDE, lambda image: self._loaded(path, image), not_loaded, slot="create")

    def _loaded(self, path: str, image: QImage) -> None:
        if path != self._loading:
            return  # something newer is shown
        self._image, self._shown_path = image, path
        self.image_changed.emit()

    def _not_loaded(self, failure: Failure) -> None:
        if self._task is None:
            self._failure = failure.message
            self.changed.emit()


def decoded(data: str) -> QImage:
    """Decode a preview; null if it is invalid or too large."""
    if len(data) > LARGEST_PREVIEW:
        return QImage()
    try:
        written = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return QImage()
    if not written.startswith(_JPEG):
        return QImage()  # only the JPEG decoder may process this data
    image = strips.decoded(written, "jpg")
    return QImage() if max(image.width(), image.height()) > _LARGEST_SIDE else image


def _not_known(_error: Exception) -> None:
    """Ignored: a missing time estimate needs no message."""
