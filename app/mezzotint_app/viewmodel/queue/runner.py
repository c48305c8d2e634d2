"""Drains the queue: gives the engine one task after the other, and tells the store what became of each."""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, Protocol, TypeVar

from PySide6.QtCore import QObject, Signal, SignalInstance

from mezzotint import paths
from mezzotint.jobs.store import JobStore, Recovered, Task, TaskState
from mezzotint.protocol import (
    DecodeRequest,
    Decoding,
    Event,
    GeneratedImage,
    GenerateRequest,
    GenerateResult,
    Saved,
    Step,
)
from mezzotint_app.clock import Clock, Every, SystemClock
from mezzotint_app.errors import is_for_want_of_space
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.queue import runner_work
from mezzotint_app.viewmodel.queue.access import QueueAccess
from mezzotint_app.viewmodel.queue.lease_keeper import LeaseKeeper
from mezzotint_app.viewmodel.queue.runner_work import Claimed, Look

T = TypeVar("T")

RunnerState = Literal["idle", "working", "paused", "elsewhere", "stopping"]

_LOOK = 1.0  # seconds between looks at what others did to the queue
_AGAIN = 5.0  # seconds until something is tried again that did not go
_ENDING = 20.0  # seconds that an engine has to end after it lost its device
_LEAVING = 15.0  # seconds that it has to stop a job when the window closes
_OF_THE_LATENTS = ("image_refused", "unknown_model", "storage", "usage")  # not of the task


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
    """Works whenever the queue is not paused, the engine is there, and no other program works at it."""

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
        self._task: Task | None = None
        self._call: int | None = None
        self._image = 0  # of the task, from 0: that which is being made
        self._latents: str | None = None
        self._refused_latents: set[str] = set()
        self._paused = self._stops = False
        self._problem = self._told_trouble = self._told_pause = ""
        self._asking = self._again = self._settling = False
        self._leaving: Callable[[], None] | None = None
        self._borrower: Callable[[], None] | None = None
        self._engine_must_end = False
        self._nothing_at: int | None = None  # the store's version when nothing was to be done
        self._made = self._failed = 0
        self._every = Every(self._clock, _LOOK, self._look)
        self._keeper.changed.connect(self.changed)
        self._keeper.recovered.connect(self._on_recovered)
        self._keeper.failed.connect(self._on_trouble)
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
        self._queue.change(JobStore.pause, None, self._on_trouble)

    def resume(self) -> None:
        """Go on."""
        self._set_problem("")
        self._queue.change(JobStore.resume, None, self._on_trouble)

    def finish_then_stop(self) -> None:
        """Pause when what runs is done."""
        self._queue.change(lambda store: store.stop_after_current(True), None, self._on_trouble)

    def stop_now(self) -> None:
        """Cancel what runs, within a step; the queue goes on with the next."""
        if self._task is not None:
            task = self._task.id
            self._queue.change(lambda store: store.cancel_task(task), None, self._on_trouble)
            self._cancel()

    def skip_image(self) -> None:
        """Cancel the image that is being made, within a step; the entry goes on with the next."""
        if self._task is not None:
            task, seed = self._task.id, (self._task.request.seed or 0) + self._image
            self._queue.change(lambda store: store.skip_image(task, seed), None, self._on_trouble)
            self._cancel()

    def let_go(self, then: Callable[[], None]) -> None:
        """Work no more: what runs is put back, and the lease is released; for the window's end."""
        self._leaving = then
        if self._task is not None:
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

    # ---- looking, and the next task

    def _look(self) -> None:
        """One question is under way, however often it is asked."""
        if self._asking or self._keeper.lease() is None:
            self._again = self._asking
            return
        self._asking = True
        task = None if self._task is None else self._task.id
        self._queue.ask(lambda store: runner_work.look(store, task), self._seen, self._not_seen)

    def _seen(self, now: Look) -> None:
        self._asking = False
        if (now.paused, now.stops) != (self._paused, self._stops):
            self._paused, self._stops = now.paused, now.stops
            self.changed.emit()
        if not now.paused and self._told_pause:
            told, self._told_pause = self._told_pause, ""
            self.over.emit(told)
        if now.cancelled or now.paused:
            self._cancel()
        if self._leaving is not None and self._task is None and not self._settling:
            self._leave()
        elif self._may_claim() and now.version != self._nothing_at:
            self._claim()
        elif self._may_lend():
            self._lend()
        elif self._again:
            self._again = False
            self._look()

    def _not_seen(self, error: Exception) -> None:
        self._asking = self._again = False
        self._on_trouble(error)
        if self._leaving is not None and self._task is None:
            self._leave()

    def _may_claim(self) -> bool:
        return (
            self._keeper.lease() is not None
            and self._task is None
            and not self._paused
            and not self._settling
            and not self._problem
            and not self._engine_must_end
            and self._leaving is None
            and self._engine.state() == "ready"
        )

    def _may_lend(self) -> bool:
        """An engine that starts is about to work; one that was given up is not waited for."""
        return (
            self._borrower is not None
            and self._keeper.lease() is not None
            and self._task is None
            and not self._settling
            and not self._engine_must_end
            and self._leaving is None
            and (self._paused or self._engine.state() in ("ready", "given_up", "stopped"))
        )

    def _lend(self) -> None:
        then, self._borrower = self._borrower, None
        if then is not None:
            self._keeper.lend(self.tr("a batch was started"), then)

    def _claim(self) -> None:
        lease = self._keeper.lease()
        if lease is None:
            return
        owner, folder, without = lease.owner, paths.undecoded_folder(), frozenset(self._refused_latents)
        self._asking = True
        self._queue.ask(lambda store: runner_work.claim(store, owner, folder, without), self._claimed, self._not_seen)

    def _claimed(self, found: Claimed) -> None:
        self._asking = False
        self._trouble_is_over()
        if found.task is None:
            self._nothing_to_do(found)
            return
        self._nothing_at = None
        self._task, self._latents, self._image = found.task, found.latents, 0
        self.started.emit(found.task)
        self.changed.emit()
        self._queue.changed.emit()
        if self._leaving is not None:
            self._on_failed(Failure(kind="cancelled", message=self.tr("the window was closed")))
        else:
            self._send(found.task)

    def _nothing_to_do(self, found: Claimed) -> None:
        self._nothing_at = found.version
        if found.paused:
            self._paused, self._stops = True, False
            self.changed.emit()
        elif self._made or self._failed:
            made, failed, self._made, self._failed = self._made, self._failed, 0, 0
            self.drained.emit(made, failed)
        if self._again or self._leaving is not None or self._borrower is not None:
            self._again = False
            self._look()

    # ---- a task at the engine

    def _send(self, task: Task) -> None:
        if self._latents is not None:
            self._call = self._engine.ask(
                "decode",
                DecodeRequest(path=self._latents, device=self._device(task.request)),
                answer=GeneratedImage,
                then=self._on_decoded,
                failed=self._on_failed,
                on_event=self._on_event,
            )
        else:
            self._call = self._engine.ask(
                "generate",
                self._asked(task.request),
                answer=GenerateResult,
                then=self._on_result,
                failed=self._on_failed,
                on_event=self._on_event,
            )

    def _asked(self, request: GenerateRequest) -> GenerateRequest:
        """What a person has settled since it was queued, such as to use the processor after the GPU failed."""
        settings = self._settings.value()
        attention = settings.attention if request.attention == "auto" else request.attention
        return replace(
            request,
            attention=attention,
            device=self._device(request),
            previews=request.previews or settings.previews,
        )

    def _device(self, request: GenerateRequest) -> str:
        return self._settings.value().device if request.device == "auto" else request.device

    def _cancel(self) -> None:
        if self._call is not None:
            self._engine.cancel(self._call)
            self._call = None

    def _on_event(self, event: Event) -> None:
        task = self._task
        if task is None:
            return
        self.progressed.emit(task, event)
        if isinstance(event, Step | Decoding):
            self._image = event.image
        if isinstance(event, Saved):
            image = event.image
            self._image = image.index + 1
            # Where this fails, it is told again with the result.
            self._queue.change(
                lambda store: store.saved(task.id, image), lambda _: self._on_saved(task, image), lambda _: None
            )

    def _on_saved(self, task: Task, image: GeneratedImage) -> None:
        self._made += 1
        self.saved.emit(task, image)

    def _on_result(self, result: GenerateResult) -> None:
        if self._task is not None:
            task = self._task.id
            self._settle(lambda store: runner_work.finish(store, task, result), result, None)

    def _on_decoded(self, image: GeneratedImage) -> None:
        if self._task is not None:
            task = self._task.id
            self._settle(lambda store: runner_work.finish_decoded(store, task, image), None, None)

    def _on_failed(self, failure: Failure) -> None:
        if self._task is None:
            return
        task = self._task
        if self._latents is not None and failure.kind in _OF_THE_LATENTS and not is_for_want_of_space(failure):
            self._refused_latents.add(self._latents)
            self._latents = None
            self._send(task)
            return
        if failure.kind == "device_lost":
            self._wait_for_engine()
        # At a logout the system ends the engine, too: that is not the task's fault.
        died = self._engine.state() in ("restarting", "given_up") and self._leaving is None
        self._settle(lambda store: runner_work.settle(store, task.id, failure, died=died), None, failure)

    def _settle(
        self, work: Callable[[JobStore], TaskState | None], result: GenerateResult | None, failure: Failure | None
    ) -> None:
        """Tell the store what became of the task; nothing is begun before it knows."""
        self._settling, self._call, self._latents = True, None, None

        def told(state: TaskState | None) -> None:
            self._settling = False
            self._on_settled(state, result, failure)

        def not_told(error: Exception) -> None:
            self._on_trouble(error)
            self._clock.after(_AGAIN, lambda: self._queue.change(work, told, not_told))

        self._queue.change(work, told, not_told)

    def _on_settled(self, state: TaskState | None, result: GenerateResult | None, failure: Failure | None) -> None:
        task, self._task = self._task, None
        if state in ("failed", "set_aside"):
            self._failed += 1
        if state == "set_aside":
            self.told.emit(self._set_aside_words())
        if failure is not None and is_for_want_of_space(failure):
            self._told_pause = self.tr("The queue is paused: {reason}").format(reason=failure.message)
            self.told.emit(self._told_pause)
        if failure is not None and failure.kind == "busy":
            self._pause_for_a_moment()
        self.ended.emit(task, result, failure)
        self.changed.emit()
        self._trouble_is_over()
        self._set_problem("")

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
