"""The engine's state for the window: activity, device, memory use, and a fallback when it keeps crashing."""

from dataclasses import dataclass
from typing import Literal, Protocol

from PySide6.QtCore import QObject, Signal, SignalInstance

from mezzotint.jobs.store import Task
from mezzotint.protocol import PLANNING, EngineInfo, Event, Loading, MemoryNow
from mezzotint_app.amounts import bytes_of, left_text
from mezzotint_app.clock import Clock, RepeatingTimer, SystemClock
from mezzotint_app.processes.service import GONE, Failure, Service
from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.engine_start import EngineStart
from mezzotint_app.window_state import WindowState

Fallback = Literal["sdpa", "cpu"]  # PyTorch's attention; the CPU

DEATHS = 2  # crashes within jobs, without a successful job in between
_LOOK = 1.0  # seconds between memory queries
_MIN_SECONDS = 1.0  # seconds of loading before an estimate is shown


class Engine(Service, Protocol):
    """The engine's interface, as implemented by `Supervisor`."""

    changed: SignalInstance
    logged: SignalInstance

    def state(self) -> str:
        """The engine's state."""
        ...

    def reason(self) -> str:
        """Why the engine last ended, as text."""
        ...

    def info(self) -> EngineInfo | None:
        """The engine's devices, or None until it has reported them."""
        ...

    def last_log(self) -> tuple[str, ...]:
        """The last lines of its log."""
        ...

    def start(self) -> None:
        """Start the engine."""
        ...

    def restart(self) -> None:
        """Restart the engine."""
        ...

    def stop(self) -> None:
        """Stop the engine."""
        ...


class Jobs(Protocol):
    """The source of job events, as implemented by `QueueRunner`."""

    started: SignalInstance
    progressed: SignalInstance
    ended: SignalInstance

    def stop_now(self) -> None:
        """Cancel the running task."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadingShown:
    """A model that is being loaded."""

    model: str
    bytes_done: int
    bytes_total: int
    seconds_left: float | None  # None: too early to estimate


class EngineState(QObject):
    """State for the status bar and the start-up panel."""

    changed = Signal()  # anything but the log and the offer; once a second while a job runs
    log_changed = Signal()
    offer_changed = Signal()

    def __init__(
        self,
        engine: Engine,
        jobs: Jobs,
        settings: Stored[Settings],
        clock: Clock | None = None,
        parent: QObject | None = None,
        *,
        past: Stored[WindowState] | None = None,
    ) -> None:
        """`past` stores how long earlier starts took."""
        super().__init__(parent)
        self._engine, self._jobs, self._settings = engine, jobs, settings
        self._clock = clock or SystemClock(self)
        self._start = EngineStart(engine, self._clock, past, self)
        self._start.changed.connect(self.changed)
        self._put_off = False
        self._works = False
        self._load: _Load | None = None
        self._memory: MemoryNow | None = None
        self._asked_memory = self._asked_info = False
        self._deaths = 0
        self._offer: Fallback | None = None
        self._every = RepeatingTimer(self._clock, _LOOK, self._look_at_memory)
        engine.changed.connect(self._on_engine)
        engine.logged.connect(lambda _line: self.log_changed.emit())
        jobs.started.connect(self._on_started)
        jobs.progressed.connect(self._on_progress)
        jobs.ended.connect(self._on_ended)

    # ---- state

    def state(self) -> str:
        """starting, ready, restarting, given_up or stopped."""
        return self._engine.state()

    def works(self) -> bool:
        """Whether a job runs."""
        return self._works

    def text(self) -> str:
        """Return the state as a short line."""
        if self._load is not None:
            return self._loading_text(self._load.shown(self._clock.now()))
        if self.is_starting():
            return self._with_left(self._starting_text(), self._start.seconds_left())
        if self.state() == "ready":
            return self._ready_text()
        words = {
            "given_up": self.tr("Engine failed to start"),
            "stopped": self.tr("Engine stopped"),
        }
        return words.get(self.state(), self.state())

    def is_starting(self) -> bool:
        """Whether the engine is not yet usable; it answers some time before all of its libraries are loaded."""
        return self.state() in ("starting", "restarting") or (self.state() == "ready" and self._start.goes_on())

    def is_put_off(self) -> bool:
        """Whether the user has cancelled the start and not started the engine since."""
        return self._put_off

    def can_cancel(self) -> bool:
        """Whether `cancel` would stop a start or a model that is being loaded."""
        return self._load is not None or (self.is_starting() and not self._works)

    def _starting_text(self) -> str:
        if self.state() == "restarting":
            return self.tr("Engine restarting")
        return self.tr("Engine starting")

    def _loading_text(self, load: "LoadingShown") -> str:
        if load.model == PLANNING:
            return self.tr("Analyzing new model")
        amount = bytes_of(load.bytes_done, load.bytes_total)
        text = self.tr("Loading {model}: {amount}").format(model=load.model, amount=amount)
        return self._with_left(text, load.seconds_left)

    def _with_left(self, text: str, seconds: float | None) -> str:
        left = left_text(seconds)
        return self.tr("{text}, {left}").format(text=text, left=left) if left else text

    def _ready_text(self) -> str:
        text = self.tr("Generating") if self._works else self.tr("Engine ready")
        device = self.device()
        return self.tr("{text} on {device}").format(text=text, device=device) if device else text

    def reason(self) -> str:
        """Return why the engine last ended, as text."""
        return self._engine.reason()

    def device(self) -> str:
        """Return the name of the device in use, or "" if not yet known."""
        info = self._engine.info()
        return "" if info is None else self._named(info)

    def loading(self) -> LoadingShown | None:
        """Return the model that is being loaded, or None."""
        return None if self._load is None else self._load.shown(self._clock.now())

    @property
    def memory(self) -> MemoryNow | None:
        """Return the memory currently in use, or None while no job runs."""
        return self._memory

    def log(self) -> tuple[str, ...]:
        """Return the last lines of the engine's log, which are untrusted text."""
        return self._engine.last_log()

    # ---- user actions

    def start(self) -> None:
        """Start the engine, also after it was given up."""
        self._engine.start()

    def restart(self) -> None:
        """Restart the engine."""
        self._engine.restart()

    def cancel(self) -> None:
        """Cancel the job whose model is being loaded, or the start of the engine."""
        if self._load is not None:
            self._jobs.stop_now()
        elif self.can_cancel():
            self._put_off = True
            self._engine.stop()

    # ---- fallback after repeated crashes

    def offer(self) -> Fallback | None:
        """Return the fallback to offer after two crashes within jobs, or None; the user decides."""
        return self._offer

    def offer_text(self) -> str:
        """Return the offer as a question, or "" if there is none."""
        if self._offer == "sdpa":
            return self.tr(
                "The engine crashed twice while generating. Use PyTorch attention from now on? It is slower."
            )
        if self._offer == "cpu":
            return self.tr("The engine crashed twice while generating. Use the CPU from now on? It is much slower.")
        return ""

    def take_offer(self) -> None:
        """Apply the offered fallback permanently, by changing the settings."""
        offer = self._offer
        self._set_offer(None)
        if offer == "sdpa":
            self._settings.change(attention="sdpa")
        elif offer == "cpu":
            self._settings.change(device="cpu")
        if offer is not None and self.state() == "given_up":
            self._engine.restart()

    def refuse_offer(self) -> None:
        """Decline the offer; it is made again after two more crashes."""
        self._set_offer(None)

    def _next_fallback(self) -> Fallback | None:
        """Return the next fallback; None if only the CPU is in use, where neither would help."""
        settings, info = self._settings.value(), self._engine.info()
        devices = {device.id for device in info.devices} if info is not None else set()
        if settings.device == "cpu" or devices == {"cpu"}:
            return None
        return "sdpa" if settings.attention not in ("sdpa", "reference") else "cpu"

    def _set_offer(self, offer: Fallback | None) -> None:
        self._deaths = 0
        if offer != self._offer:
            self._offer = offer
            self.offer_changed.emit()

    # ---- event handling

    def _on_engine(self) -> None:
        self._put_off = self._put_off and self.state() == "stopped"
        if self.state() == "ready":
            self._on_ready()
        else:
            self._forget_job()
        self.changed.emit()

    def _on_ready(self) -> None:
        if self._knows_devices():
            self._start.devices_known()
        elif not self._asked_info:
            self._asked_info = True
            self._engine.ask(
                "info", answer=EngineInfo, then=lambda _: self._on_info(True), failed=lambda _: self._on_info(False)
            )

    def _on_info(self, knows: bool) -> None:
        """The device name is optional, and the engine's end is handled elsewhere, so failures are ignored."""
        self._asked_info = False
        if knows or self.state() == "ready":
            self._start.devices_known(worked=knows)
        self.changed.emit()

    def _knows_devices(self) -> bool:
        info = self._engine.info()
        return info is not None and bool(info.devices)

    def _named(self, info: EngineInfo) -> str:
        wanted = self._settings.value().device
        names = {device.id: device.name for device in info.devices}
        if wanted in names:
            return names[wanted]
        same_kind = [name for number, name in names.items() if number.partition(":")[0] == wanted]
        return next(iter(same_kind or names.values()), "")

    def _on_started(self, _task: Task) -> None:
        self._works = True
        self._start.job_began()
        self._every.start()
        self._look_at_memory()
        self.changed.emit()

    def _on_progress(self, _task: Task, event: Event) -> None:
        if self._start.goes_on():
            self._start.job_told()
            self.changed.emit()
        if isinstance(event, Loading) and event.bytes_done < event.bytes_total:
            self._load = (self._load or _Load(event, self._clock.now())).after(event)
            self.changed.emit()
        elif self._load is not None:
            self._load = None
            self.changed.emit()

    def _on_ended(self, _task: Task, _result: object, failure: Failure | None) -> None:
        if failure is None:
            self._deaths = 0
        elif failure.kind in (GONE, "device_lost") and self.state() not in ("stopped", "starting"):
            self._deaths += 1
        if self._deaths >= DEATHS:
            self._set_offer(self._next_fallback())
        self._start.job_ended()
        self._forget_job()
        self.changed.emit()

    def _forget_job(self) -> None:
        self._works, self._load, self._memory = False, None, None
        self._every.stop()

    def _look_at_memory(self) -> None:
        if self._asked_memory or self.state() != "ready":
            return
        self._asked_memory = True

        def seen(memory: MemoryNow) -> None:
            self._asked_memory = False
            if self._works:
                self._memory = memory
                self.changed.emit()

        def not_seen(_failure: Failure) -> None:
            self._asked_memory = False

        self._engine.ask("memory", answer=MemoryNow, then=seen, failed=not_seen)


@dataclass(frozen=True, slots=True)
class _Load:
    """Progress of loading a model since its first event."""

    first: Loading
    since: float
    last: Loading | None = None

    def after(self, event: Loading) -> "_Load":
        return _Load(self.first, self.since, event)

    def shown(self, now: float) -> LoadingShown:
        last = self.last or self.first
        return LoadingShown(
            model=last.model,
            bytes_done=last.bytes_done,
            bytes_total=last.bytes_total,
            seconds_left=self._seconds_left(last, now - self.since),
        )

    def _seconds_left(self, last: Loading, elapsed: float) -> float | None:
        done = last.bytes_done - self.first.bytes_done
        if elapsed < _MIN_SECONDS or done <= 0:
            return None
        return max(0.0, (last.bytes_total - last.bytes_done) * elapsed / done)
