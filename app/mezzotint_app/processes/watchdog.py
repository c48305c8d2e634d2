"""Detects a hung process: measures how long it has been silent and compares that to a limit."""

from collections.abc import Callable
from dataclasses import dataclass, field

from PySide6.QtCore import QCoreApplication

from mezzotint.queue_protocol import JobEvent
from mezzotint_app.clock import Clock, RepeatingTimer
from mezzotint_app.processes.deadlines import SilenceLimit

translate = QCoreApplication.translate

HANDSHAKE = 120.0  # seconds that startup may take
QUIET = 30.0  # seconds of silence before the process is pinged
PONG = 120.0  # seconds the process has to answer a ping
TICK = 1.0
_LONGEST_TICK = 2.0  # the machine may have slept between two ticks, which must not count as silence
_TIMED = frozenset({"drain"})  # jobs that send events often enough to be timed by them


@dataclass(slots=True)
class _Job:
    silence_limit: SilenceLimit = field(default_factory=SilenceLimit)
    silence: float = 0.0


class Watchdog:
    """Measures how long the current process has been silent; does nothing while no call is open."""

    def __init__(self, clock: Clock, *, ping: Callable[[], None], hung: Callable[[str], None]) -> None:
        self._clock, self._ping, self._hung = clock, ping, hung
        self._every = RepeatingTimer(clock, TICK, self._tick)
        self._silence = self._ticked = 0.0
        self._starting = self._pinged = False
        self._calls: set[int] = set()
        self._jobs: dict[int, _Job] = {}

    def start(self) -> None:
        """Begin watching a new process; its startup ends with its first message."""
        self._calls.clear()
        self._jobs.clear()
        self.on_message()
        self._starting = True
        self._run()

    def on_message(self) -> None:
        """Record that a message arrived."""
        self._silence, self._pinged, self._starting = 0.0, False, False

    def on_call(self, call: int, method: str) -> None:
        """Record a new call, which needs an answer."""
        if not self._calls:
            self._silence, self._pinged = 0.0, False
        self._calls.add(call)
        if method in _TIMED:
            self._jobs[call] = _Job()
        self._run()

    def on_event(self, call: int, event: JobEvent) -> None:
        """Record that an event of a job arrived."""
        self.on_message()
        if job := self._jobs.get(call):
            job.silence_limit.record(event, job.silence)
            job.silence = 0.0

    def on_stop_requested(self, call: int) -> None:
        """Record that a job was asked to stop."""
        if job := self._jobs.get(call):
            job.silence_limit.stop()
            job.silence = 0.0

    def on_answer(self, call: int) -> None:
        """Record that a call was answered, with a result or an error."""
        self.on_message()
        self._calls.discard(call)
        self._jobs.pop(call, None)

    def stop(self) -> None:
        """Stop watching, as the process has ended."""
        self._every.stop()
        self._calls.clear()
        self._jobs.clear()

    def _run(self) -> None:
        if not self._every.runs():
            self._ticked = self._clock.now()
            self._every.start()

    def _tick(self) -> None:
        now = self._clock.now()
        passed, self._ticked = min(now - self._ticked, _LONGEST_TICK), now
        self._silence += passed
        if self._starting:
            if self._silence > HANDSHAKE:
                self._give_up(translate("Watchdog", "it was starting"))
        elif self._jobs:
            self._check_jobs(passed)
        elif self._calls:
            self._check_calls()
        else:
            self._every.stop()

    def _check_jobs(self, passed: float) -> None:
        """Other calls are not timed meanwhile, as a job may hold the GIL for a while."""
        for job in self._jobs.values():
            job.silence += passed
        for job in self._jobs.values():
            if job.silence > job.silence_limit.limit():
                self._give_up(job.silence_limit.activity_text())
                return

    def _check_calls(self) -> None:
        if self._pinged and self._silence > QUIET + PONG:
            self._give_up(translate("Watchdog", "it was handling a request"))
        elif not self._pinged and self._silence > QUIET:
            self._pinged = True
            self._ping()

    def _give_up(self, activity: str) -> None:
        self._every.stop()
        self._hung(activity)
