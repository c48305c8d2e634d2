"""Makes the engine drain the queue whenever possible, and relays its events to the window."""

from collections.abc import Callable
from functools import partial
from typing import Literal

from PySide6.QtCore import QObject, Signal

from mezzotint.jobs.store import JobStore, Recovered, Task
from mezzotint.protocol import Decoding, Event, Saved, Step
from mezzotint.queue_protocol import DrainResult, TaskEnded
from mezzotint_app.clock import Clock, RepeatingTimer, SystemClock
from mezzotint_app.processes.service import GONE, NOT_RUNNING, Failure
from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.queue.access import QueueAccess
from mezzotint_app.viewmodel.queue.engine_drain import EngineDrain, SupervisedEngine
from mezzotint_app.viewmodel.queue.lease_keeper import LeaseKeeper
from mezzotint_app.viewmodel.queue.runner_work import QueueStatus, States, engine_ended, read_status
from mezzotint_app.viewmodel.queue.trouble import RETRY_DELAY, QueueTrouble

RunnerState = Literal["idle", "working", "paused", "elsewhere", "stopping"]

_LOOK = 1.0  # seconds between checks for changes by other programs
_ENDING = 20.0  # seconds the engine gets to exit after losing its device
_LEAVING = 15.0  # seconds it gets to stop a task when the window closes


class QueueRunner(QObject):
    """The engine drains while the queue is not paused, has waiting tasks, and no other program holds its lease."""

    started = Signal(object)  # Task
    progressed = Signal(object, object)  # Task, Event
    saved = Signal(object, object)  # Task, GeneratedImage: already in the queue's store
    ended = Signal(object, object, object)  # Task, GenerateResult | None, Failure | None; if only decoded, both None
    changed = Signal()  # state, held_by(), problem()
    message = Signal(str)  # message for the user
    resolved = Signal(str)  # the message no longer applies
    drained = Signal(int, int)  # the queue is empty: images generated and tasks failed since the last time

    def __init__(
        self,
        queue: QueueAccess,
        engine: SupervisedEngine,
        settings: Stored[Settings],
        clock: Clock | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._queue, self._engine = queue, engine
        self._clock = clock or SystemClock(self)
        self._keeper = LeaseKeeper(queue, self._clock, self)
        self._trouble = QueueTrouble(self._clock, self)
        self._drain = EngineDrain(engine, settings, self)
        self._owner = ""  # owner of the lease it works under
        self._task: Task | None = None
        self._image = 0  # index of the current image within the task, from 0
        self._paused = self._stops = False
        self._pause_message = ""
        self._asking = self._again = self._settling = False
        self._leaving: Callable[[], None] | None = None
        self._borrower: Callable[[], None] | None = None
        self._who = self._because = ""  # the borrower, and why the queue waits for it
        self._engine_must_end = False
        self._version = 0  # store version when the drain was requested
        self._begun = False  # whether a task has begun since
        self._nothing_at: int | None = None  # store version at which the drain found nothing to do
        self._made = self._failed = 0
        self._every = RepeatingTimer(self._clock, _LOOK, self._look)
        self._trouble.message.connect(self.message)
        self._trouble.resolved.connect(self.resolved)
        self._trouble.changed.connect(self._on_problem)
        self._keeper.changed.connect(self.changed)
        self._keeper.recovered.connect(self._on_recovered)
        self._keeper.failed.connect(self._on_trouble)
        self._drain.task_begun.connect(self._on_begun)
        self._drain.progressed.connect(self._on_progress)
        self._drain.task_ended.connect(self._on_task_ended)
        self._drain.ended.connect(self._on_drained)
        self._drain.failed.connect(self._on_failed)
        queue.opened.connect(lambda _notice: self._begin())
        queue.changed.connect(self._look)
        engine.changed.connect(self._on_engine)

    # ---- state

    @property
    def state(self) -> RunnerState:
        """The runner's state."""
        if self._keeper.held_by():
            return "elsewhere"
        if self._task is not None:
            return "stopping" if self._stops or self._paused else "working"
        return "paused" if self._paused or self._trouble.problem() else "idle"

    def task(self) -> Task | None:
        """Return the running task, or None."""
        return self._task

    def held_by(self) -> str:
        """Return which other program holds the queue, or "" if none does."""
        return self._keeper.held_by()

    def is_lent(self) -> bool:
        """Whether the lease is lent to another process of this window."""
        return self._keeper.is_lent()

    def problem(self) -> str:
        """Return why the queue is stalled although it is not paused, or "" if it is not."""
        return self._trouble.problem()

    # ---- user actions

    def pause(self) -> None:
        """Pause the queue and requeue the running task within one step; it starts over later with the same seed."""
        self._queue.change(JobStore.pause, lambda _: self._drain.cancel(), self._on_trouble)

    def resume(self) -> None:
        """Resume the queue."""
        self._trouble.try_again()
        self._queue.change(JobStore.resume, None, self._on_trouble)

    def pause_after_current(self) -> None:
        """Pause after the current task."""
        self._queue.change(lambda store: store.stop_after_current(True), None, self._on_trouble)

    def stop_now(self) -> None:
        """Cancel the running task within one step; the queue continues with the next one."""
        if (running := self._task) is not None:
            task = running.id
            self._queue.change(lambda store: store.cancel_task(task), lambda _: self._stop(task), self._on_trouble)

    def skip_image(self) -> None:
        """Cancel the current image within one step; the entry continues with the next one."""
        if (running := self._task) is not None:
            task, seed = running.id, (running.request.seed or 0) + self._image
            self._queue.change(lambda store: store.skip_image(task, seed), lambda _: self._stop(task), self._on_trouble)

    def shut_down(self, then: Callable[[], None]) -> None:
        """Requeue the running task, release the lease, then call `then`; for closing the window."""
        self._leaving = then
        if self._drain.runs():
            self._drain.cancel()
            self._clock.after(_LEAVING, self._stop_engine)
        elif not self._asking and not self._settling:
            self._leave()

    def lend(self, then: Callable[[], None], who: str = "", because: str = "") -> None:
        """Lend the lease to a process of this window as soon as nothing is in progress here, until `take_back`."""
        self._borrower, self._who, self._because = then, who, because
        self._look()

    def take_back(self) -> None:
        """Continue, because the borrowing process has ended or is no longer wanted."""
        self._borrower = None
        self._nothing_at = None
        self._keeper.take_back()

    # ---- start and end

    def _begin(self) -> None:
        self._keeper.take()
        self._every.start()

    def _on_recovered(self, found: Recovered) -> None:
        if found.set_aside:
            self.message.emit(self._set_aside_words())
        self._queue.changed.emit()

    def _stop_engine(self) -> None:
        if self._leaving is not None:
            self._engine.stop()

    def _leave(self) -> None:
        then, self._leaving = self._leaving, None
        self._every.stop()
        if then is not None:
            self._keeper.give_back(self.tr("the window was closed"), then)

    # ---- polling the store

    def _look(self) -> None:
        """Query the store, with at most one query in flight."""
        if self._asking or self._keeper.lease() is None:
            self._again = self._asking
            return
        self._asking = True
        self._queue.ask(read_status, self._seen, self._not_seen)

    def _seen(self, now: QueueStatus) -> None:
        self._asking = False
        self._note_pause(now)
        if self._leaving is not None and not self._drain.runs() and not self._settling:
            self._leave()
        elif self._may_drain(now):
            self._begin_drain(now.version)
        elif self._may_lend():
            self._lend()
        elif self._again:
            self._again = False
            self._look()

    def _note_pause(self, now: QueueStatus) -> None:
        resumed = self._paused and not now.paused
        if (now.paused, now.stops_after_current) != (self._paused, self._stops):
            self._paused, self._stops = now.paused, now.stops_after_current
            self.changed.emit()
        if resumed and self._pause_message:
            message, self._pause_message = self._pause_message, ""
            self.resolved.emit(message)

    def _not_seen(self, error: Exception) -> None:
        self._asking = self._again = False
        self._on_trouble(error)
        if self._leaving is not None and not self._drain.runs():
            self._leave()

    def _is_free(self) -> bool:
        """Whether we hold the lease and nothing is in progress."""
        return (
            self._keeper.lease() is not None
            and not self._drain.runs()
            and not self._settling
            and not self._engine_must_end
            and self._leaving is None
        )

    def _may_drain(self, now: QueueStatus) -> bool:
        return (
            self._is_free()
            and (now.has_waiting or now.stops_after_current)
            and not now.paused
            and not self._trouble.problem()
            and now.version != self._nothing_at
            and self._engine.state() == "ready"
        )

    def _may_lend(self) -> bool:
        """A starting engine is about to work, so it is waited for; one that was given up is not."""
        return (
            self._borrower is not None
            and self._is_free()
            and (self._paused or self._engine.state() in ("ready", "given_up", "stopped"))
        )

    def _lend(self) -> None:
        then, self._borrower = self._borrower, None
        if then is not None:
            self._keeper.lend(self._because or self.tr("a batch was started"), then, self._who)

    # ---- draining

    def _begin_drain(self, version: int) -> None:
        lease = self._keeper.lease()
        if lease is not None:
            self._owner, self._version = lease.owner, version
            self._begun = self._again = False
            self._drain.begin(lease.owner)

    def _stop(self, task: int) -> None:
        """Stop the task unless it has ended meanwhile."""
        if self._task is not None and self._task.id == task:
            self._drain.cancel()

    def _on_begun(self, task: Task) -> None:
        self._end_unreported()
        self._task, self._image, self._begun = task, 0, True
        self._trouble.resolve()
        self.started.emit(task)
        self.changed.emit()
        self._queue.changed.emit()

    def _on_progress(self, event: Event) -> None:
        task = self._task
        if task is None:
            return
        self.progressed.emit(task, event)
        if isinstance(event, Step | Decoding):
            self._image = event.image
        elif isinstance(event, Saved):
            self._image = event.image.index + 1
            self._made += 1
            self.saved.emit(task, event.image)
            self._queue.changed.emit()

    def _on_task_ended(self, ended: TaskEnded) -> None:
        failure = None if ended.failure is None else Failure(kind=ended.failure.kind, message=ended.failure.message)
        self._count((ended.state,))
        self._end_task(ended, failure)
        self._queue.changed.emit()

    def _count(self, states: States) -> None:
        self._failed += sum(state in ("failed", "set_aside") for state in states)
        if "set_aside" in states:
            self.message.emit(self._set_aside_words())

    def _end_task(self, ended: TaskEnded | None, failure: Failure | None) -> None:
        task, self._task = self._task, None
        if task is not None:
            self.ended.emit(task, None if ended is None else ended.result, failure)
        self.changed.emit()

    def _end_unreported(self) -> None:
        """End a task whose TaskEnded never arrived: output of a library may corrupt a line of the engine."""
        if self._task is not None:
            self._end_task(None, None)

    # ---- end of a drain

    def _on_drained(self, result: DrainResult) -> None:
        self._end_unreported()
        self._nothing_at = None if self._begun else self._version
        if result.stopped == "disk_full":
            self._pause_message = self.tr("The queue is paused: {reason}").format(reason=result.reason)
            self.message.emit(self._pause_message)
        elif result.stopped == "empty" and (self._made or self._failed):
            made, failed, self._made, self._failed = self._made, self._failed, 0, 0
            self.drained.emit(made, failed)
        self._trouble.resolve()
        self._look()

    def _on_failed(self, failure: Failure) -> None:
        if failure.kind in (GONE, NOT_RUNNING):
            self._settle_lost(failure)
            return
        if failure.kind == "device_lost":
            self._wait_for_engine()
        elif failure.kind == "busy":
            self._pause_for_a_moment()
        elif failure.kind != "cancelled":
            self._on_trouble(RuntimeError(failure.message))
        self._end_task(None, failure)
        self._look()

    def _settle_lost(self, failure: Failure) -> None:
        """Requeue the task of an engine that died and could not update the queue; until then nothing is started."""
        # On logout the system also kills the engine, which is not the task's fault.
        died = self._engine.state() in ("restarting", "given_up") and self._leaving is None
        self._settle(partial(engine_ended, owner=self._owner, because=failure.message, died=died), failure)

    def _settle(self, work: Callable[[JobStore], States], failure: Failure) -> None:
        self._settling = True

        def settled(states: States) -> None:
            self._settling = False
            self._count(states)
            self._end_task(None, failure)
            self._trouble.resolve()

        def not_settled(error: Exception) -> None:
            self._on_trouble(error)
            self._clock.after(RETRY_DELAY, lambda: self._queue.change(work, settled, not_settled))

        self._queue.change(work, settled, not_settled)

    # ---- engine

    def _on_engine(self) -> None:
        if self._engine.state() != "ready":
            self._engine_must_end = False
        self._nothing_at = None
        self._look()

    def _wait_for_engine(self) -> None:
        """The engine has announced its exit; anything sent to it now would be lost."""
        self._engine_must_end = True

        def still_there() -> None:
            if self._engine_must_end:
                self._engine_must_end = False
                self._engine.restart()

        self._clock.after(_ENDING, still_there)

    def _pause_for_a_moment(self) -> None:
        self._engine_must_end = True

        def go_on() -> None:
            self._engine_must_end = False
            self._look()

        self._clock.after(RETRY_DELAY, go_on)

    # ---- problems

    def _on_trouble(self, error: Exception) -> None:
        self._trouble.report(error, waits=not self._settling)

    def _on_problem(self) -> None:
        self.changed.emit()
        if not self._trouble.problem():
            self._look()

    def _set_aside_words(self) -> str:
        return self.tr("A task crashed the engine twice and is skipped; the others continue.")
