"""Has the engine drain the queue whenever it may, tells the window what is done there, and passes on what it says."""

from collections.abc import Callable
from typing import Literal, Protocol

from PySide6.QtCore import QObject, Signal, SignalInstance

from mezzotint.jobs.store import JobStore, Recovered, Task, TaskState
from mezzotint.protocol import Decoding, Event, Saved, Step
from mezzotint.queue_protocol import DrainEvent, DrainRequest, DrainResult, DrainSettings, TaskBegun, TaskEnded
from mezzotint_app.clock import Clock, Every, SystemClock
from mezzotint_app.processes.service import GONE, NOT_RUNNING, Failure, Service
from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.queue import runner_work
from mezzotint_app.viewmodel.queue.access import QueueAccess
from mezzotint_app.viewmodel.queue.lease_keeper import LeaseKeeper
from mezzotint_app.viewmodel.queue.runner_work import Look

RunnerState = Literal["idle", "working", "paused", "elsewhere", "stopping"]
States = tuple[TaskState | None, ...]

_LOOK = 1.0  # seconds between looks at what others did to the queue
_AGAIN = 5.0  # seconds until something is tried again that did not go
_ENDING = 20.0  # seconds that an engine has to end after it lost its device
_LEAVING = 15.0  # seconds that it has to stop a job when the window closes


class SupervisedEngine(Service, Protocol):
    """The engine as the runner knows it; `Supervisor` is one."""

    changed: SignalInstance

    def state(self) -> str:
        """starting, ready, restarting, given_up or stopped."""
        ...

    def restart(self) -> None:
        """Start it anew."""
        ...

    def stop(self) -> None:
        """End it."""
        ...


class QueueRunner(QObject):
    """The engine drains while the queue is not paused, something waits, and no other program works at it."""

    started = Signal(object)  # Task
    progressed = Signal(object, object)  # Task, Event
    saved = Signal(object, object)  # Task, GeneratedImage: it is in the queue's store
    ended = Signal(object, object, object)  # Task, GenerateResult | None, Failure | None; decoded alone: neither
    changed = Signal()  # state, held_by(), problem()
    told = Signal(str)  # something a person should read
    over = Signal(str)  # the same, which is true no more
    drained = Signal(int, int)  # the queue is empty: images made, tasks that failed since it was last

    def __init__(
        self,
        queue: QueueAccess,
        engine: SupervisedEngine,
        settings: Stored[Settings],
        clock: Clock | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._queue, self._engine, self._settings = queue, engine, settings
        self._clock = clock or SystemClock(self)
        self._keeper = LeaseKeeper(queue, self._clock, self)
        self._call: int | None = None  # of the drain
        self._owner = ""  # of the lease under which it works
        self._cancelled = False
        self._sent = DrainSettings()
        self._task: Task | None = None
        self._image = 0  # of the task, from 0: that which is being made
        self._paused = self._stops = False
        self._problem = self._told_trouble = self._told_pause = ""
        self._asking = self._again = self._settling = False
        self._leaving: Callable[[], None] | None = None
        self._borrower: Callable[[], None] | None = None
        self._engine_must_end = False
        self._version = 0  # of the store when the drain was asked for
        self._begun = False  # whether it has begun a task since
        self._nothing_at: int | None = None  # the store's version when there was nothing to do for it
        self._made = self._failed = 0
        self._every = Every(self._clock, _LOOK, self._look)
        self._keeper.changed.connect(self.changed)
        self._keeper.recovered.connect(self._on_recovered)
        self._keeper.failed.connect(self._on_trouble)
        settings.changed.connect(self._on_settings)
        queue.opened.connect(lambda _notice: self._begin())
        queue.changed.connect(self._look)
        engine.changed.connect(self._on_engine)

    # ---- what it is

    @property
    def state(self) -> RunnerState:
        """What it does."""
        if self._keeper.held_by():
            return "elsewhere"
        if self._task is not None:
            return "stopping" if self._stops or self._paused else "working"
        return "paused" if self._paused or self._problem else "idle"

    def task(self) -> Task | None:
        """The one that runs."""
        return self._task

    def held_by(self) -> str:
        """Which program works at the queue instead; empty: none."""
        return self._keeper.held_by()

    def is_lent(self) -> bool:
        """Whether a process of this window makes images meanwhile."""
        return self._keeper.is_lent()

    def problem(self) -> str:
        """Why nothing goes on though the queue is not paused; empty: nothing is wrong."""
        return self._problem

    # ---- what a person says

    def pause(self) -> None:
        """Begin nothing more, and put back what runs, within a step: it is begun anew, with the same seed."""
        self._queue.change(JobStore.pause, lambda _: self._cancel(), self._on_trouble)

    def resume(self) -> None:
        """Go on."""
        self._set_problem("")
        self._queue.change(JobStore.resume, None, self._on_trouble)

    def finish_then_stop(self) -> None:
        """Pause when what runs is done."""
        self._queue.change(lambda store: store.stop_after_current(True), None, self._on_trouble)

    def stop_now(self) -> None:
        """Cancel what runs, within a step; the queue goes on with the next."""
        if (running := self._task) is not None:
            task = running.id
            self._queue.change(lambda store: store.cancel_task(task), lambda _: self._stop(task), self._on_trouble)

    def skip_image(self) -> None:
        """Cancel the image that is being made, within a step; the entry goes on with the next."""
        if (running := self._task) is not None:
            task, seed = running.id, (running.request.seed or 0) + self._image
            self._queue.change(lambda store: store.skip_image(task, seed), lambda _: self._stop(task), self._on_trouble)

    def let_go(self, then: Callable[[], None]) -> None:
        """Work no more: what runs is put back, and the lease is released; for the window's end."""
        self._leaving = then
        if self._call is not None:
            self._cancel()
            self._clock.after(_LEAVING, self._stop_engine)
        elif not self._asking and not self._settling:
            self._leave()

    def lend(self, then: Callable[[], None]) -> None:
        """Let a process of this window make images, as soon as nothing is left to do here; `take_back` ends that."""
        self._borrower = then
        self._look()

    def take_back(self) -> None:
        """That process has ended, or is not wanted any more: go on."""
        self._borrower = None
        self._nothing_at = None
        self._keeper.take_back()

    # ---- beginning and end

    def _begin(self) -> None:
        self._keeper.take()
        self._every.start()

    def _on_recovered(self, found: Recovered) -> None:
        if found.set_aside:
            self.told.emit(self._set_aside_words())
        self._queue.changed.emit()

    def _stop_engine(self) -> None:
        if self._leaving is not None:
            self._engine.stop()

    def _leave(self) -> None:
        then, self._leaving = self._leaving, None
        self._every.stop()
        if then is not None:
            self._keeper.give_back(self.tr("the window was closed"), then)

    # ---- looking, and what there is to do

    def _look(self) -> None:
        """One question is under way, however often it is asked."""
        if self._asking or self._keeper.lease() is None:
            self._again = self._asking
            return
        self._asking = True
        self._queue.ask(runner_work.look, self._seen, self._not_seen)

    def _seen(self, now: Look) -> None:
        self._asking = False
        self._note_pause(now)
        if self._leaving is not None and self._call is None and not self._settling:
            self._leave()
        elif self._may_drain(now):
            self._drain(now.version)
        elif self._may_lend():
            self._lend()
        elif self._again:
            self._again = False
            self._look()

    def _note_pause(self, now: Look) -> None:
        resumed = self._paused and not now.paused
        if (now.paused, now.stops) != (self._paused, self._stops):
            self._paused, self._stops = now.paused, now.stops
            self.changed.emit()
        if resumed and self._told_pause:
            told, self._told_pause = self._told_pause, ""
            self.over.emit(told)

    def _not_seen(self, error: Exception) -> None:
        self._asking = self._again = False
        self._on_trouble(error)
        if self._leaving is not None and self._call is None:
            self._leave()

    def _is_free(self) -> bool:
        """Whether the lease is ours, and nothing is under way."""
        return (
            self._keeper.lease() is not None
            and self._call is None
            and not self._settling
            and not self._engine_must_end
            and self._leaving is None
        )

    def _may_drain(self, now: Look) -> bool:
        return (
            self._is_free()
            and (now.waits or now.stops)
            and not now.paused
            and not self._problem
            and now.version != self._nothing_at
            and self._engine.state() == "ready"
        )

    def _may_lend(self) -> bool:
        """An engine that starts is about to work; one that was given up is not waited for."""
        return (
            self._borrower is not None
            and self._is_free()
            and (self._paused or self._engine.state() in ("ready", "given_up", "stopped"))
        )

    def _lend(self) -> None:
        then, self._borrower = self._borrower, None
        if then is not None:
            self._keeper.lend(self.tr("a batch was started"), then)

    # ---- the engine drains

    def _drain(self, version: int) -> None:
        lease = self._keeper.lease()
        if lease is None:
            return
        self._owner, self._version, self._sent = lease.owner, version, self._drain_settings()
        self._begun = self._cancelled = self._again = False
        self._call = self._engine.ask(
            "drain",
            DrainRequest(owner=lease.owner, settings=self._sent),
            answer=DrainResult,
            then=self._on_drained,
            failed=self._on_failed,
            on_event=self._on_event,
        )

    def _drain_settings(self) -> DrainSettings:
        settings = self._settings.value()
        return DrainSettings(device=settings.device, attention=settings.attention, previews=settings.previews)

    def _on_settings(self) -> None:
        if self._call is not None and (settings := self._drain_settings()) != self._sent:
            self._sent = settings
            self._engine.ask("drain_settings", settings)

    def _stop(self, task: int) -> None:
        """It may have ended meanwhile."""
        if self._task is not None and self._task.id == task:
            self._cancel()

    def _cancel(self) -> None:
        """What was said to the queue decides what becomes of the task."""
        if self._call is not None and not self._cancelled:
            self._cancelled = True
            self._engine.cancel(self._call)

    def _on_event(self, event: DrainEvent) -> None:
        match event:
            case TaskBegun(task=task):
                self._on_begun(task)
            case TaskEnded():
                self._on_task_ended(event)
            case _ if self._task is not None:
                self._on_progress(self._task, event)

    def _on_begun(self, task: Task) -> None:
        self._task, self._image, self._begun = task, 0, True
        self._trouble_is_over()
        self.started.emit(task)
        self.changed.emit()
        self._queue.changed.emit()

    def _on_progress(self, task: Task, event: Event) -> None:
        self.progressed.emit(task, event)
        if isinstance(event, Step | Decoding):
            self._image = event.image
        elif isinstance(event, Saved):
            self._image = event.image.index + 1
            self._made += 1
            self.saved.emit(task, event.image)
            self._queue.changed.emit()

    def _on_task_ended(self, told: TaskEnded) -> None:
        failure = None if told.failure is None else Failure(kind=told.failure.kind, message=told.failure.message)
        self._count((told.state,))
        self._end_task(told, failure)
        self._queue.changed.emit()

    def _count(self, states: States) -> None:
        self._failed += sum(state in ("failed", "set_aside") for state in states)
        if "set_aside" in states:
            self.told.emit(self._set_aside_words())

    def _end_task(self, told: TaskEnded | None, failure: Failure | None) -> None:
        task, self._task = self._task, None
        if task is not None:
            self.ended.emit(task, None if told is None else told.result, failure)
        self.changed.emit()

    # ---- the end of a drain

    def _on_drained(self, result: DrainResult) -> None:
        self._call = None
        self._nothing_at = None if self._begun else self._version
        if result.stopped == "disk_full":
            self._told_pause = self.tr("The queue is paused: {reason}").format(reason=result.reason)
            self.told.emit(self._told_pause)
        elif result.stopped == "empty" and (self._made or self._failed):
            made, failed, self._made, self._failed = self._made, self._failed, 0, 0
            self.drained.emit(made, failed)
        self._trouble_is_over()
        self._set_problem("")
        self._look()

    def _on_failed(self, failure: Failure) -> None:
        self._call = None
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
        """The engine has ended, and could not tell the queue; nothing is begun before that knows."""
        owner, because = self._owner, failure.message
        # At a logout the system ends the engine, too: that is not the task's fault.
        died = self._engine.state() in ("restarting", "given_up") and self._leaving is None

        def work(store: JobStore) -> States:
            if died:
                return store.owner_died(owner, because=because)
            store.release(owner, because=because)
            return ()

        self._settle(work, failure)

    def _settle(self, work: Callable[[JobStore], States], failure: Failure) -> None:
        self._settling = True

        def told(states: States) -> None:
            self._settling = False
            self._count(states)
            self._end_task(None, failure)
            self._trouble_is_over()
            self._set_problem("")

        def not_told(error: Exception) -> None:
            self._on_trouble(error)
            self._clock.after(_AGAIN, lambda: self._queue.change(work, told, not_told))

        self._queue.change(work, told, not_told)

    # ---- the engine

    def _on_engine(self) -> None:
        if self._engine.state() != "ready":
            self._engine_must_end = False
        self._nothing_at = None
        self._look()

    def _wait_for_engine(self) -> None:
        """It has said that it will end; what is sent to it now would die with it."""
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

        self._clock.after(_AGAIN, go_on)

    # ---- trouble

    def _on_trouble(self, error: Exception) -> None:
        """Told once, however often it comes again; a moment later it is tried anew."""
        if str(error) != self._told_trouble:
            self._trouble_is_over()
            self._told_trouble = str(error)
            self.told.emit(str(error))
        self._set_problem(str(error))
        if not self._settling:
            self._clock.after(_AGAIN, lambda: self._set_problem(""))

    def _trouble_is_over(self) -> None:
        told, self._told_trouble = self._told_trouble, ""
        if told:
            self.over.emit(told)

    def _set_problem(self, problem: str) -> None:
        if problem != self._problem:
            self._problem = problem
            self.changed.emit()
            if not problem:
                self._look()

    def _set_aside_words(self) -> str:
        return self.tr("A task crashed the engine twice and is skipped; the others continue.")
