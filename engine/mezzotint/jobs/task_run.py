"""Run one task, from latents left by an earlier run or from the start, and report everything to the queue."""

import contextlib
import logging
import threading
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mezzotint import paths
from mezzotint.errors import (
    Cancelled,
    DeviceLost,
    ImageRefused,
    MezzotintError,
    ModelRefused,
    OutOfMemory,
    StorageError,
    UsageError,
)
from mezzotint.jobs.leftover_latents import leftover
from mezzotint.jobs.pace import StepPace
from mezzotint.jobs.space import is_for_want_of_space
from mezzotint.jobs.store import JobStore, Task, TaskState, seconds_of
from mezzotint.protocol import (
    DecodeRequest,
    Decoding,
    Event,
    Failure,
    GeneratedImage,
    GenerateRequest,
    GenerateResult,
    IsCancelled,
    OnEvent,
    Saved,
    Step,
)
from mezzotint.queue_protocol import DrainSettings

if TYPE_CHECKING:
    from mezzotint.engine import Engine

LOOK = 0.25  # seconds between polls of the queue
# Errors of the latents file or of its output location, and not of the task.
_OF_LATENTS = (ImageRefused, ModelRefused, UsageError, StorageError)

_log = logging.getLogger("mezzotint.jobs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The outcome of one task; without a result and an error, one of its images was finished from latents."""

    task: Task
    state: TaskState | None  # None: it was removed meanwhile
    result: GenerateResult | None
    error: Exception | None


def failure_of(error: Exception) -> Failure:
    """Return an error in the form that is shown to users."""
    if isinstance(error, MezzotintError):
        return Failure(kind=error.kind, message=str(error))
    if isinstance(error, MemoryError):
        return Failure(kind=OutOfMemory.kind, message="the machine's memory is used up; a smaller size needs less")
    return Failure(kind="bug", message=f"unexpected {type(error).__name__}: this is a bug, please report it")


@dataclass(slots=True, kw_only=True)
class DrainControl:
    """The callbacks of a drain, and its settings while it runs."""

    on_event: OnEvent
    cancelled: IsCancelled
    abandoned: IsCancelled = lambda: False  # the client has died: the user is asked about the images
    settings: DrainSettings = field(default_factory=DrainSettings)


class TaskRun:
    """One run of a task."""

    def __init__(self, store: JobStore, task: Task, control: DrainControl, refused_latents: set[str]) -> None:
        self._store, self._task, self._control, self._refused = store, task, control, refused_latents
        self._thread = threading.get_ident()
        self._asked, self._next_look = False, 0.0
        self._seed = task.request.seed or 0  # of the current image
        self._pace = StepPace()
        self._untold: list[GeneratedImage] = []

    def run(self, engine: "Engine") -> Ended:
        """Run the task, and report the outcome to the queue."""
        try:
            result = self._decode(engine) or engine.generate(self._request(), self._event, self._is_to_stop)
        except BrokenPipeError:  # the listener is gone: the command ends, and the task is not at fault
            self._store.requeue(self._task.id, because="the client disconnected")
            raise
        except Exception as error:  # noqa: BLE001  a failing task must not stop the others
            self._learn()
            self._tell_untold()
            return Ended(task=self._task, state=self._settle(error), result=None, error=error)
        except BaseException:
            self._store.requeue(self._task.id, because="the program was stopped")
            raise
        return self._finished(result)

    def _finished(self, result: GenerateResult | GeneratedImage) -> Ended:
        self._tell_untold()
        if isinstance(result, GeneratedImage):  # the others are still to be made
            state = self._store.requeue(self._task.id, because="")
            return Ended(task=self._task, state=state, result=None, error=None)
        state = self._store.finish(self._task.id, seconds_of(result))
        return Ended(task=self._task, state=state, result=result, error=None)

    def _decode(self, engine: "Engine") -> GeneratedImage | None:
        """Finish an image that an earlier run left undecoded; None if there is none."""
        path = self._leftover()
        if path is None:
            return None
        asked = DecodeRequest(path=path, device=self._request().device)
        try:
            return engine.decode(asked, self._event, self._is_to_stop)
        except _OF_LATENTS as error:
            if isinstance(error, StorageError) and is_for_want_of_space(error, self._task.request):
                raise
            self._refused.add(path)
            return None

    def _leftover(self) -> str | None:
        begun = self._store.row(self._task.entry).started
        if begun is None:
            return None
        return leftover(paths.undecoded_folder(), self._task.request, begun, self._refused)

    def _request(self) -> GenerateRequest:
        """Apply settings changed by the user since queueing, such as to use the CPU after the GPU failed."""
        request, settings = self._task.request, self._control.settings
        return replace(
            request,
            attention=settings.attention if request.attention == "auto" else request.attention,
            device=settings.device if request.device == "auto" else request.device,
            previews=request.previews or settings.previews,
        )

    # ---- events

    def _event(self, event: Event) -> None:
        self._pace.on_event(event, time.monotonic())
        first = self._task.request.seed or 0
        if isinstance(event, Step | Decoding):
            self._seed = first + event.image
        if isinstance(event, Saved):
            self._seed = event.image.seed + 1
            self._saved(event.image)
        self._control.on_event(event)

    def _saved(self, image: GeneratedImage) -> None:
        try:
            self._store.saved(self._task.id, image)
        except StorageError:  # reported again when the task ends
            self._untold.append(image)

    def _tell_untold(self) -> None:
        while self._untold:
            self._store.saved(self._task.id, self._untold[0])
            del self._untold[0]

    def _is_to_stop(self) -> bool:
        """Called between any two blocks, from any thread; polls the queue only now and then, and on its own thread."""
        now = time.monotonic()
        if not self._asked and now >= self._next_look and threading.get_ident() == self._thread:
            self._next_look = now + LOOK
            self._asked = self._store.is_cancel_requested(self._task.id) or self._is_to_wait()
        return self._asked or self._control.cancelled()

    def _is_to_wait(self) -> bool:
        return self._store.paused() or self._store.is_skipped(self._task.id, self._seed)

    # ---- outcome

    def _settle(self, error: Exception) -> TaskState | None:
        task = self._task.id
        if isinstance(error, Cancelled):
            return self._stopped(error)
        if isinstance(error, DeviceLost):
            return self._store.on_engine_death(task, because=str(error))
        if isinstance(error, StorageError) and is_for_want_of_space(error, self._task.request):
            self._store.pause()
            return self._store.requeue(task, because=str(error))
        failure = failure_of(error)
        if failure.kind == "bug":
            _log.error("a bug in task %s", task, exc_info=error)
        return self._store.fail(task, failure.kind, failure.message)

    def _stopped(self, error: Cancelled) -> TaskState | None:
        if self._store.is_cancel_requested(self._task.id):
            return self._store.fail(self._task.id, "cancelled", str(error))
        if self._control.abandoned():
            return self._store.interrupt(self._task.id)
        return self._store.requeue(self._task.id, because="" if self._is_to_wait() else str(error))

    def _learn(self) -> None:
        """Record the step time of a run that did not finish."""
        if self._pace.seconds is not None:
            with contextlib.suppress(StorageError):  # best effort
                self._store.learn_pace(self._task.request, self._pace.seconds)
