"""Whether a process still hears: how long it is silent, and how long it may be."""

from collections.abc import Callable
from dataclasses import dataclass, field

from PySide6.QtCore import QCoreApplication

from mezzotint.queue_protocol import DrainEvent
from mezzotint_app.clock import Clock, Every
from mezzotint_app.processes.deadlines import Patience

translate = QCoreApplication.translate

HANDSHAKE = 120.0  # seconds that a start may take
QUIET = 30.0  # seconds of silence after which it is asked whether it still hears
PONG = 120.0  # seconds that it has to answer that
TICK = 1.0
_LONGEST_TICK = 2.0  # the machine may have slept between two: that is nobody's silence
_TIMED = frozenset({"drain"})  # jobs that tell what they do often enough to be timed by it


@dataclass(slots=True)
class _Job:
    patience: Patience = field(default_factory=Patience)
    silence: float = 0.0


class Hearing:
    """Counts the silence of one process after the other; costs nothing while nothing is asked."""

    def __init__(self, clock: Clock, *, ping: Callable[[], None], hung: Callable[[str], None]) -> None:
        self._clock, self._ping, self._hung = clock, ping, hung
        self._every = Every(clock, TICK, self._tick)
        self._silence = self._ticked = 0.0
        self._starting = self._pinged = False
        self._calls: set[int] = set()
        self._jobs: dict[int, _Job] = {}

    def starts(self) -> None:
        """A process begins; the first thing that is heard of it ends its start."""
        self._calls.clear()
        self._jobs.clear()
        self.heard()
        self._starting = True
        self._run()

    def heard(self) -> None:
        """A message came."""
        self._silence, self._pinged, self._starting = 0.0, False, False

    def asked(self, call: int, method: str) -> None:
        """It was asked something, and has to answer."""
        if not self._calls:
            self._silence, self._pinged = 0.0, False
        self._calls.add(call)
        if method in _TIMED:
            self._jobs[call] = _Job()
        self._run()

    def told(self, call: int, event: DrainEvent) -> None:
        """An event of a job came."""
        self.heard()
        if job := self._jobs.get(call):
            job.patience.hear(event, job.silence)
            job.silence = 0.0

    def stopping(self, call: int) -> None:
        """A job is to stop."""
        if job := self._jobs.get(call):
            job.patience.stop()
            job.silence = 0.0

    def answered(self, call: int) -> None:
        """The request was answered, by a result or an error."""
        self.heard()
        self._calls.discard(call)
        self._jobs.pop(call, None)

    def over(self) -> None:
        """The process has ended."""
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
                self._give_up(translate("Hearing", "it was starting"))
        elif self._jobs:
            self._look_at_jobs(passed)
        elif self._calls:
            self._look_at_questions()
        else:
            self._every.stop()

    def _look_at_jobs(self, passed: float) -> None:
        """Questions are not looked at meanwhile: a job may hold all of Python for a while."""
        for job in self._jobs.values():
            job.silence += passed
        for job in self._jobs.values():
            if job.silence > job.patience.limit():
                self._give_up(job.patience.doing())
                return

    def _look_at_questions(self) -> None:
        if self._pinged and self._silence > QUIET + PONG:
            self._give_up(translate("Hearing", "it was handling a request"))
        elif not self._pinged and self._silence > QUIET:
            self._pinged = True
            self._ping()

    def _give_up(self, doing: str) -> None:
        self._every.stop()
        self._hung(doing)
