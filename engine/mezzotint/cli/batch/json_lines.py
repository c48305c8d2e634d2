"""A run as JSON lines for the window or another program: `{"kind": K, K: {...}}`, types in batch_protocol.py."""

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

STEP_SECONDS = 0.25  # minimum interval between step lines
PREVIEW_SECONDS = 0.5
_MOST_PROMPT = 200  # characters
_MOST_NOTICE = 2000


class JsonLinesWriter:
    """Thread-safe writer of JSON lines; after the first write error it calls `on_gone` and writes no more."""

    def __init__(
        self, terminal: Terminal, on_gone: Callable[[], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._terminal, self._on_gone, self._clock = terminal, on_gone, clock
        self._lock = threading.Lock()
        self._error: OSError | StorageError | None = None
        self._next = {"step": 0.0, "preview": 0.0}

    def begun(self, begun: BatchBegun) -> None:
        """Report that the run has begun. Raises if the line cannot be written, since no work has started yet."""
        self._write("begun", begun)
        self._raise()

    def settled(self, record: Record) -> None:
        """Report a task that has ended."""
        self._write("settled", row_of(record))

    def progress(self, progress: Progress) -> None:
        """Report the progress of the run."""
        self._write("progress", figures_of(progress))

    def notice(self, code: str, message: str) -> None:
        """Report a notice to the user."""
        self._write("notice", BatchNotice(code=code, message=message[:_MOST_NOTICE]))

    def event(self, task: BatchTask, event: Event) -> None:
        """Report a denoising step and its preview, rate-limited."""
        if not isinstance(event, Step):
            return
        if self._is_time("step", STEP_SECONDS):
            self._write("step", _step_of(task, event))
        if event.preview is not None and self._is_time("preview", PREVIEW_SECONDS):
            self._write("preview", BatchPreview(output=task.output, jpeg=event.preview))

    def ended(self, ended: BatchEnded) -> None:
        """Report that the run is over. Raises the error that kept lines from being written, if any."""
        self._write("ended", ended)
        self._raise()

    def _is_time(self, what: str, seconds: float) -> bool:
        with self._lock:
            now = self._clock()
            if now < self._next[what]:
                return False
            self._next[what] = now + seconds
            return True

    def _write(self, kind: str, what: object) -> None:
        with self._lock:
            if self._error is None:
                try:
                    self._terminal.json({"kind": kind, kind: encode(what)})
                    return
                except (OSError, StorageError) as error:  # raised at the end, so that it is not attributed to an image
                    self._error = error
        self._on_gone()

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error


def figures_of(progress: Progress) -> BatchProgress:
    """Convert `Progress` to its protocol type."""
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
