"""A run as lines of JSON, for a window or another program: `{"kind": K, K: {...}}`, types in batch_protocol.py."""

import threading
import time
from collections.abc import Callable

from mezzotint.batch.manifest.record import Record
from mezzotint.batch.manifest.rows import row_of
from mezzotint.batch.run.progress import Progress
from mezzotint.batch.tasks.tasks import BatchTask
from mezzotint.batch_protocol import BatchBegun, BatchEnded, BatchNotice, BatchPreview, BatchProgress, BatchStep
from mezzotint.cli.terminal import Terminal
from mezzotint.codec import encode
from mezzotint.errors import StorageError
from mezzotint.protocol import Event, Step

STEP_SECONDS = 0.25  # between two lines about steps
PREVIEW_SECONDS = 0.5
_MOST_PROMPT = 200  # characters
_MOST_NOTICE = 2000


class Lines:
    """Safe from every thread. When nobody reads any more, that is told, and nothing is written after."""

    def __init__(
        self, terminal: Terminal, on_gone: Callable[[], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._terminal, self._on_gone, self._clock = terminal, on_gone, clock
        self._lock = threading.Lock()
        self._error: OSError | StorageError | None = None
        self._next = {"step": 0.0, "preview": 0.0}

    def begun(self, begun: BatchBegun) -> None:
        """The folder is ours. Raises what keeps its lines from being written: nothing is begun yet."""
        self._tell("begun", begun)
        self._raise()

    def settled(self, record: Record) -> None:
        """A task has ended."""
        self._tell("settled", row_of(record))

    def progress(self, progress: Progress) -> None:
        """The figures."""
        self._tell("progress", figures_of(progress))

    def notice(self, code: str, message: str) -> None:
        """Something that a person should know."""
        self._tell("notice", BatchNotice(code=code, message=message[:_MOST_NOTICE]))

    def event(self, task: BatchTask, event: Event) -> None:
        """A step of an image that is being made; most of them are left out."""
        if not isinstance(event, Step):
            return
        if self._is_time("step", STEP_SECONDS):
            self._tell("step", _step_of(task, event))
        if event.preview is not None and self._is_time("preview", PREVIEW_SECONDS):
            self._tell("preview", BatchPreview(output=task.output, jpeg=event.preview))

    def ended(self, ended: BatchEnded) -> None:
        """The run is over. Raises what kept its lines from being written."""
        self._tell("ended", ended)
        self._raise()

    def _is_time(self, what: str, seconds: float) -> bool:
        with self._lock:
            now = self._clock()
            if now < self._next[what]:
                return False
            self._next[what] = now + seconds
            return True

    def _tell(self, kind: str, what: object) -> None:
        with self._lock:
            if self._error is None:
                try:
                    self._terminal.json({"kind": kind, kind: encode(what)})
                    return
                except (OSError, StorageError) as error:  # raised at the end: no image is to blame
                    self._error = error
        self._on_gone()

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error


def figures_of(progress: Progress) -> BatchProgress:
    """The figures, as they are told."""
    return BatchProgress(
        done=progress.done,
        failed=progress.failed,
        set_aside=progress.set_aside,
        skipped=progress.skipped,
        already=progress.already,
        left_failed=progress.left_failed,
        total=progress.total,
        per_second=progress.per_second,
        seconds_left=progress.seconds_left,
        vram_bytes=progress.vram_bytes,
    )


def _step_of(task: BatchTask, step: Step) -> BatchStep:
    return BatchStep(
        output=task.output,
        input=task.input,
        prompt=task.request.prompt[:_MOST_PROMPT],
        stage=step.stage,
        stages=step.stages,
        step=step.step,
        steps=step.steps,
    )
