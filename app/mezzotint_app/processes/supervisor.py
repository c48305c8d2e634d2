"""Keeps an engine process running: starts it, restarts it, and gives up with an explanation."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from PySide6.QtCore import QCoreApplication, QObject, Signal

from mezzotint.protocol import SCHEMA_VERSION, EngineInfo, Loading, MemoryNow
from mezzotint.queue_protocol import JobEvent, TaskBegun
from mezzotint_app.clock import Clock, SystemClock, TimerHandle
from mezzotint_app.processes.process_exit import MemoryShortage, ProcessExit, plain_reason
from mezzotint_app.processes.processes import ServerProcess
from mezzotint_app.processes.service import GONE, NOT_RUNNING, Failed, Failure, OnEvent, PendingCall, Then
from mezzotint_app.processes.watchdog import Watchdog

translate = QCoreApplication.translate

State = Literal["starting", "ready", "restarting", "given_up", "stopped"]

BACK_OFF = (1.0, 2.0, 4.0, 8.0)  # seconds until a restart, after the first, second... end in a row
STRIKES = 5  # ends in a row after which it is not restarted
HEALTHY = 60.0  # seconds of running after which earlier ends are forgotten
LOG_LINES = 200


class Supervisor(QObject):
    """A `Service` that survives the end of its process by restarting it."""

    changed = Signal()  # state() or reason() has changed
    logged = Signal(str)  # a line of the log
    died = Signal(object)  # Ending, whenever the process ended without being asked to

    def __init__(
        self, name: str, make: Callable[[], ServerProcess], clock: Clock | None = None, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._name, self._make = name, make
        self._clock = clock or SystemClock(self)
        self._state: State = "stopped"
        self._reason = ""
        self._info: EngineInfo | None = None
        self._process: ServerProcess | None = None
        self._calls: dict[int, PendingCall] = {}
        self._sent: dict[int, int] = {}  # the process's numbers of calls already sent; the others still wait
        self._lost: list[PendingCall] = []
        self._last_call = 0
        self._strikes = 0
        self._start_again: TimerHandle | None = None
        self._healthy: TimerHandle | None = None
        self._wanted_again = False
        self._refused = ""
        self._log: deque[str] = deque(maxlen=LOG_LINES)
        self._watchdog = Watchdog(self._clock, ping=self._ping, hung=self._on_hung)
        self._memory = _MemorySeen()

    # ---- state

    def state(self) -> State:
        """The state; calls are only sent when it is "ready"."""
        return self._state

    def reason(self) -> str:
        """Why the process last ended, in plain words; empty if it never did."""
        return self._reason

    def info(self) -> EngineInfo | None:
        """What the process reported about itself; its devices only after a call to `info`."""
        return self._info

    def last_log(self) -> tuple[str, ...]:
        """The last lines of the log, across restarts."""
        return tuple(self._log)

    def process_id(self) -> int:
        """The process id; 0 if no process is running."""
        return 0 if self._process is None else self._process.process_id()

    # ---- starting and stopping

    def start(self) -> None:
        """Start the process unless it is running."""
        if self._state in ("stopped", "given_up"):
            self._strikes = 0
            self._begin("starting")

    def restart(self) -> None:
        """Restart the process whatever its state; open calls fail."""
        self._strikes = 0
        self._begin("starting")
        if self._wanted_again and self._process is not None:
            self._process.stop()

    def stop(self) -> None:
        """Stop the process without restarting it; open calls fail."""
        self._drop(self._start_again)
        self._wanted_again = False
        self._set("stopped", self._reason)
        if self._process is not None:
            self._process.stop()
        self._refuse_waiting()

    def finish(self, milliseconds: int) -> None:
        """Stop the process and wait for it; only for use after the last window has closed."""
        self.stop()
        if self._process is not None:
            self._process.finish(milliseconds)

    def _begin(self, state: State) -> None:
        if self._process is not None:  # it is about to end
            self._wanted_again = True
            self._set(state, self._reason)
            return
        self._drop(self._start_again)
        self._wanted_again, self._refused = False, ""
        process = self._process = self._make()
        process.ended.connect(lambda ending: self._on_ended(process, ending))
        process.logged.connect(self._on_log)
        self._watchdog.start()
        self._set(state, self._reason)
        process.start()
        process.send(
            PendingCall(
                method="initialize",
                params={"schema_version": SCHEMA_VERSION},
                answer=EngineInfo,
                then=self._on_ready,
                failed=self._on_refused,
            )
        )

    def _on_ready(self, info: EngineInfo) -> None:
        if self._process is None or self._state == "stopped" or self._wanted_again:
            return
        if info.schema_version != SCHEMA_VERSION:
            self._on_refused(Failure(kind="protocol", message=f"schema version {info.schema_version}"))
            return
        self._watchdog.on_message()
        self._info = info
        self._healthy = self._clock.after(HEALTHY, self._forget_strikes)
        self._set("ready", self._reason)
        for call in self._waiting():
            self._send(call)

    def _on_refused(self, failure: Failure) -> None:
        """Give up: a process that fails the handshake will not get better by being restarted."""
        if failure.kind == GONE or self._process is None:
            return
        if failure.kind == "protocol":
            self._refused = translate(
                "Supervisor", "{name} has a different version than this window ({detail}): reinstall Mezzotint."
            ).format(name=self._name, detail=failure.message)
        elif failure.kind == "no_engine":
            self._refused = translate(
                "Supervisor",
                "No engine is installed yet, so no images can be made. The gallery, the models and the settings work. "
                "Install an engine, or install Mezzotint again.",
            )
        else:
            self._refused = translate("Supervisor", "{name} could not be started: {detail}").format(
                name=self._name, detail=failure.message
            )
        self._process.kill("broken", failure.message)

    def _forget_strikes(self) -> None:
        self._strikes = 0

    def _on_ended(self, process: ServerProcess, ending: ProcessExit) -> None:
        if process is not self._process:
            return
        self._process = None
        self._watchdog.stop()
        self._drop(self._healthy)
        process.deleteLater()
        lost, self._lost = self._lost, []
        self._after_end(ending)
        for asked in lost:
            self._fail_call(asked, Failure(kind=GONE, message=self._lost_message(ending)))

    def _after_end(self, ending: ProcessExit) -> None:
        if self._wanted_again:
            self._begin("starting")
        elif self._state != "stopped":
            self._after_death(ending)

    def _after_death(self, ending: ProcessExit) -> None:
        self._strikes += 1
        memory = self._memory.words()
        reason = self._refused or plain_reason(ending, self._name, log=self.last_log(), memory=memory)
        if self._refused or self._strikes >= STRIKES:
            self._set("given_up", reason)
            self._refuse_waiting()
        else:
            wait = BACK_OFF[min(self._strikes, len(BACK_OFF)) - 1]
            self._start_again = self._clock.after(wait, lambda: self._begin("restarting"))
            self._set("restarting", reason)
        self.died.emit(ending)

    def _lost_message(self, ending: ProcessExit) -> str:
        if ending.kind == "stopped":
            return plain_reason(ending, self._name)
        return self._reason

    # ---- calls

    def ask(
        self,
        method: str,
        params: object = None,
        *,
        answer: object = None,
        then: Then | None = None,
        failed: Failed | None = None,
        on_event: OnEvent | None = None,
    ) -> int:
        """As `Service.ask`; calls made before the process is ready wait."""
        self._last_call += 1
        call = self._last_call
        self._calls[call] = PendingCall(
            method=method, params=params, answer=answer, then=then, failed=failed, on_event=on_event
        )
        if self._state == "ready":
            self._send(call)
        elif self._state in ("given_up", "stopped"):
            self._clock.after(0, lambda: self._refuse(call))
        return call

    def cancel(self, call: int) -> None:
        """As `Service.cancel`."""
        asked = self._calls.get(call)
        if asked is None:
            return
        if call not in self._sent:
            del self._calls[call]
            failure = Failure(kind="cancelled", message=translate("Supervisor", "cancelled before it started"))
            self._clock.after(0, lambda: self._fail_call(asked, failure))
        elif self._process is not None:
            self._watchdog.on_stop_requested(call)
            self._process.cancel(self._sent[call])

    def _waiting(self) -> list[int]:
        return [call for call in self._calls if call not in self._sent]

    def _send(self, call: int) -> None:
        if self._process is None:
            return
        asked = self._calls[call]
        self._watchdog.on_call(call, asked.method)
        self._sent[call] = self._process.send(
            replace(
                asked,
                then=lambda value: self._on_answer(call, value),
                failed=lambda failure: self._on_failure(call, failure),
                on_event=lambda event: self._on_event(call, event),
            )
        )

    def _on_answer(self, call: int, value: Any) -> None:  # noqa: ANN401
        self._watchdog.on_answer(call)
        asked = self._take(call)
        if isinstance(value, MemoryNow):
            self._memory.look(value)
        if isinstance(value, EngineInfo):
            self._info = value
        if asked is not None and asked.then is not None:
            asked.then(value)

    def _on_failure(self, call: int, failure: Failure) -> None:
        asked = self._take(call)
        if asked is None:
            return
        if failure.kind == GONE:
            self._lost.append(asked)  # its `failed` is called once the reason is known
        else:
            self._watchdog.on_answer(call)
            self._fail_call(asked, failure)

    def _on_event(self, call: int, event: JobEvent) -> None:
        self._watchdog.on_event(call, event)
        asked = self._calls.get(call)
        if isinstance(event, TaskBegun):
            self._memory = _MemorySeen()
        elif isinstance(event, Loading):
            self._memory.load(event)
        if asked is not None and asked.on_event is not None:
            asked.on_event(event)

    def _refuse_waiting(self) -> None:
        for call in self._waiting():
            self._clock.after(0, partial(self._refuse, call))

    def _refuse(self, call: int) -> None:
        asked = self._take(call)
        if asked is not None:
            message = self._reason or translate("Supervisor", "{name} is not running.").format(name=self._name)
            self._fail_call(asked, Failure(kind=NOT_RUNNING, message=message))

    def _take(self, call: int) -> PendingCall | None:
        self._sent.pop(call, None)
        return self._calls.pop(call, None)

    def _fail_call(self, asked: PendingCall, failure: Failure) -> None:
        if asked.failed is not None:
            asked.failed(failure)

    def _ping(self) -> None:
        """Send a call that has no effect, which a process that still reads its input answers at once."""
        if self._process is not None:
            self._process.send(
                PendingCall(method="cancel", params={"job": -1}, then=lambda _: self._watchdog.on_message())
            )

    def _on_hung(self, activity: str) -> None:
        if self._process is not None:
            self._process.kill("hung", activity)

    # ---- helpers

    def _on_log(self, lines: Sequence[str]) -> None:
        for line in lines:
            self._log.append(line)
            self.logged.emit(line)

    def _set(self, state: State, reason: str) -> None:
        if (state, reason) != (self._state, self._reason):
            self._state, self._reason = state, reason
            self.changed.emit()

    def _drop(self, wait: TimerHandle | None) -> None:
        if wait is not None:
            wait.stop()


class _MemorySeen:
    """Memory figures observed since a job began."""

    def __init__(self) -> None:
        self._first: MemoryNow | None = None
        self._most = 0

    def look(self, now: MemoryNow) -> None:
        self._first = self._first or now
        self._most = max(self._most, now.ram_bytes)

    def load(self, event: Loading) -> None:
        self._most = max(self._most, event.bytes_total)

    def words(self) -> MemoryShortage | None:
        """The memory figures; None if they do not explain running out of memory."""
        if self._first is None:
            return None
        free = self._first.ram_free_bytes + self._first.ram_bytes
        return MemoryShortage(needed=self._most, free=free) if self._most > free else None
