"""The batches started in this window: those listed, the running one, and those waiting for it."""

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from PySide6.QtCore import QObject, Signal

from mezzotint.batch_protocol import (
    BatchFolder,
    BatchStatus,
    BatchTaskPage,
    BatchTaskRow,
    BatchTasks,
    BatchWrite,
    BatchWritten,
)
from mezzotint_app.background import Executor
from mezzotint_app.clock import Clock, SystemClock, TimerHandle
from mezzotint_app.processes.batch_process import COMMAND, MakeProcess, command
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.batch.form import Job
from mezzotint_app.viewmodel.batch.run import BatchRun, Outcome
from mezzotint_app.viewmodel.batch.state import MAX_BATCHES, Batch, BatchesState, KnownBatch
from mezzotint_app.viewmodel.batch.turn import GpuTurn

_NAMED = 3  # failures shown with their reasons
_LEAVING = 15.0  # seconds an image gets to finish when the window is closed


class Batches(QObject):
    """Runs one batch at a time; never accesses images itself."""

    changed = Signal()  # the list of batches
    batch_changed = Signal(str)  # id of a batch
    added = Signal(str)
    refused = Signal(str)  # why a batch could not be started
    settled = Signal(str, object)  # id, BatchTaskRow: an image was generated or has failed
    ended = Signal(str)  # id of a batch whose run has ended

    def __init__(
        self,
        librarian: Service,
        files: Executor,
        state: Stored[BatchesState],
        turn: GpuTurn,
        make: MakeProcess,
        folder: Path,
        parent: QObject | None = None,
        *,
        clock: Clock | None = None,
        run_command: tuple[str, ...] = COMMAND,
    ) -> None:
        super().__init__(parent)
        self._librarian, self._files, self._state = librarian, files, state
        self._turn, self._make, self._folder = turn, make, folder
        self._clock = clock or SystemClock(self)
        self._base = run_command
        self._batches = {one.id: Batch(known=one) for one in state.value().batches[:MAX_BATCHES]}
        self._waiting: deque[tuple[str, bool]] = deque()  # ids, and whether failed tasks are retried
        self._run: BatchRun | None = None
        self._asked: set[str] = set()  # ids whose status request is in flight
        self._again: set[str] = set()
        self._logs: dict[str, tuple[str, ...]] = {}
        self._leaving: Callable[[], None] | None = None
        self._last_wait: TimerHandle | None = None
        turn.changed.connect(self._turn_changed)

    # ---- queries

    def all(self) -> tuple[Batch, ...]:
        """Return all batches, the newest first."""
        return tuple(self._batches[one.id] for one in self._state.value().batches if one.id in self._batches)

    def get(self, identity: str) -> Batch | None:
        """Return the batch with this id, or None."""
        return self._batches.get(identity)

    def of_folder(self, folder: str) -> Batch | None:
        """Return the batch that saves to this folder, or None."""
        return next((one for one in self.all() if Path(one.known.folder) == Path(folder)), None)

    def words_of_waiting(self, identity: str) -> str:
        """Return why a waiting batch has not started."""
        if self._run is None and self._waiting and self._waiting[0][0] == identity:
            return self._turn.words()
        return self.tr("Waiting for the previous batch.")

    def log(self, identity: str) -> tuple[str, ...]:
        """Return the log of the batch's last run in this session."""
        return self._run.log() if self._run is not None and self._run.id == identity else self._logs.get(identity, ())

    def runs(self) -> bool:
        """Whether a batch is running."""
        return self._run is not None

    def work_left(self) -> bool:
        """Whether a batch is running or waiting."""
        return self._run is not None or bool(self._waiting)

    # ---- user actions

    def add(self, job: Job, title: str, folder: str, how: tuple[str, ...] = ()) -> None:
        """Save a job and run it as soon as it is its turn."""
        before = self.of_folder(folder)
        if before is not None and before.stage != "resting":
            self.refused.emit(self.tr("A batch for this folder is already running: stop it first."))
            return
        identity = before.known.id if before is not None else uuid4().hex[:12]
        path = self._folder / f"{identity}.toml"
        output = job.get("output")
        grid = isinstance(output, dict) and output.get("grid") is True
        known = KnownBatch(id=identity, title=title, folder=folder, job=str(path), how=how, grid=grid)
        self._files.run(
            lambda: self._folder.mkdir(parents=True, exist_ok=True),
            lambda _none: self._write(job, known),
            lambda error: self.refused.emit(str(error)),
        )

    def resume(self, identity: str, *, retry_failed: bool = False) -> None:
        """Run the remaining tasks; with `retry_failed`, also those that failed."""
        batch = self._batches.get(identity)
        if batch is None or batch.stage != "resting" or self._leaving is not None:
            return
        self._waiting.append((identity, retry_failed))
        self._set(identity, stage="waiting", problem="", notice="", progress=None, step=None, silent=False)
        self._next()

    def stop(self, identity: str, *, now: bool = False) -> None:
        """Stop after the current image, or with `now` at once; a waiting batch does not start."""
        if self._run is not None and self._run.id == identity:
            self._run.stop(now=now)
            self._set(identity, stage="stopping")
            return
        self._waiting = deque(one for one in self._waiting if one[0] != identity)
        batch = self._batches.get(identity)
        if batch is not None and batch.stage == "waiting":
            self._set(identity, stage="resting")
            self._next()

    def remove(self, identity: str) -> None:
        """Remove a batch and its copy of the job from the list; images and manifest are kept."""
        batch = self._batches.get(identity)
        if batch is None or batch.stage in ("running", "stopping"):
            return
        self.stop(identity)
        del self._batches[identity]
        self._keep(tuple(one for one in self._state.value().batches if one.id != identity))
        if Path(batch.known.job).parent == self._folder:
            self._files.run(lambda: Path(batch.known.job).unlink(missing_ok=True), None, lambda _error: None)

    def refresh(self, identity: str) -> None:
        """Request the status of the batch's folder, one request at a time; a call meanwhile queues one more."""
        batch = self._batches.get(identity)
        if batch is None:
            return
        if identity in self._asked:
            self._again.add(identity)
            return

        def answered(**fields: object) -> None:
            self._asked.discard(identity)
            if self._run is None or self._run.id != identity:  # a run reports itself, and is queried at its end
                self._set(identity, **fields)
                self._name_failures(identity)
            if identity in self._again:
                self._again.discard(identity)
                self.refresh(identity)

        def unknown(failure: Failure) -> None:
            # Without a manifest there is no error.
            answered(status=None, unknown="" if failure.kind == "storage" else failure.message)

        self._asked.add(identity)
        self._librarian.ask(
            "batch_status",
            BatchFolder(folder=batch.known.folder),
            answer=BatchStatus,
            then=lambda status: answered(status=status, unknown=""),
            failed=unknown,
        )

    def is_asking(self, identity: str) -> bool:
        """Whether a request for the folder's status is in flight."""
        return identity in self._asked

    def refresh_all(self) -> None:
        """Request the status of all batches; for a running one, the reply is ignored."""
        for batch in self.all():
            self.refresh(batch.known.id)

    def shut_down(self, then: Callable[[], None]) -> None:
        """Stop after the current image, or at once if that takes long, then call `then`; for closing the window."""
        self._leaving = then
        for identity, _ in list(self._waiting):
            self._set(identity, stage="resting")
        self._waiting.clear()
        if self._run is None:
            self._gone()
            return
        run = self._run
        self.stop(run.id)
        self._last_wait = self._clock.after(_LEAVING, lambda: run.stop(now=True))

    def finish(self, milliseconds: int) -> None:
        """Terminate a running process; only for when the last window has been closed."""
        if self._run is not None:
            self._run.finish(milliseconds)

    # ---- internals

    def _name_failures(self, identity: str) -> None:
        """Request the last failures, if there are any."""
        batch = self._batches.get(identity)
        if batch is None or not batch.failed:
            self._set(identity, failures=())
            return
        self._librarian.ask(
            "batch_tasks",
            BatchTasks(folder=batch.known.folder, which="failed", limit=_NAMED, newest_first=True),
            answer=BatchTaskPage,
            then=lambda page: self._set(identity, failures=page.rows),
            failed=lambda _failure: None,  # the list opened by "Failed" reports the reason
        )

    def _write(self, job: Job, known: KnownBatch) -> None:
        self._librarian.ask(
            "batch_write",
            BatchWrite(job=job, path=known.job, overwrite=True),
            answer=BatchWritten,
            then=lambda _written: self._written(known),
            failed=lambda failure: self.refused.emit(failure.message),
        )

    def _written(self, known: KnownBatch) -> None:
        others = tuple(one for one in self._state.value().batches if one.id != known.id)
        self._batches[known.id] = replace(self._batches.get(known.id) or Batch(known=known), known=known)
        self._keep((known, *others)[:MAX_BATCHES])
        self.added.emit(known.id)
        self.resume(known.id)

    def _keep(self, batches: tuple[KnownBatch, ...]) -> None:
        self._state.change(batches=batches)
        self.changed.emit()

    def _set(self, identity: str, **fields: object) -> None:
        batch = self._batches.get(identity)
        if batch is None:
            return
        now = replace(batch, **fields)  # type: ignore[arg-type]
        if now != batch:
            self._batches[identity] = now
            self.batch_changed.emit(identity)

    def _next(self) -> None:
        if self._run is not None:
            return
        if not self._waiting:
            self._turn.give_back()
        elif self._turn.is_acquired():
            self._begin()
        else:
            self._turn.take(self._begin)

    def _begin(self) -> None:
        if self._run is not None or not self._waiting:
            self._next()
            return
        identity, retry = self._waiting.popleft()
        known = self._batches[identity].known
        words = command(known.job, extra_args=known.how, retry_failed=retry, base=self._base)
        run = self._run = BatchRun(identity, self._make(words), self)
        run.changed.connect(lambda: self._set(identity, **run.shown()))
        run.settled.connect(lambda row: self._settled(identity, row))
        run.ended.connect(lambda outcome: self._ended(run, outcome))
        self._set(identity, stage="running", progress=None, step=None, silent=False)
        for waiting, _ in self._waiting:
            self.batch_changed.emit(waiting)
        run.start()

    def _settled(self, identity: str, row: BatchTaskRow) -> None:
        self.settled.emit(identity, row)

    def _ended(self, run: BatchRun, outcome: Outcome) -> None:
        self._logs[run.id] = run.log()
        self._run = None
        run.deleteLater()
        self._set(run.id, stage="resting", step=None, notice="", silent=False, problem=outcome.problem)
        self.refresh(run.id)
        self.ended.emit(run.id)
        if self._leaving is not None:
            self._gone()
        else:
            self._next()

    def _gone(self) -> None:
        if self._last_wait is not None:
            self._last_wait.stop()
        then = self._leaving
        if then is not None:
            self._leaving = _nothing  # call it only once, and start nothing more
            then()

    def _turn_changed(self) -> None:
        if self._waiting and self._run is None:
            self.batch_changed.emit(self._waiting[0][0])


def _nothing() -> None:
    """Placeholder after the callback has been called."""
