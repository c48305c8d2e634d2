"""The process that generates a batch's images: reports as JSON lines, stops on a command to its standard input."""

import sys
from collections import deque
from collections.abc import Callable, Sequence

from PySide6.QtCore import QIODevice, QObject, QProcess, Signal

from mezzotint_app.clock import Clock, RepeatingTimer, SystemClock, TimerHandle
from mezzotint_app.processes.messages import LineBuffer, TooLong
from mezzotint_app.processes.process_exit import ProcessExit
from mezzotint_app.viewmodel.batch.lines import InvalidLine, read_lines

COMMAND = (sys.executable, "-P", "-m", "mezzotint", "run")
FLAGS = ("--jsonl", "--stop-with-input")
RETRY = "--retry-failed"
LOG_LINES = 400
LOG_LINE = 2000  # characters
SILENT = 180.0  # seconds without output before the process is reported as silent; it normally reports twice a second
_TICK = 5.0
_LONGEST_TICK = 10.0  # the machine may have slept between two ticks
_LINES_PER_TURN = 200  # lines processed before the event loop gets a turn
_PATIENCE = 15.0  # seconds an immediate stop may take before the process is killed


class BatchProcess(QObject):
    """One run of a batch; every run needs a new object."""

    event_received = Signal(object)  # BatchMessage
    logged = Signal()
    silence_changed = Signal(bool)  # whether there has been no output for a long time
    ended = Signal(object)  # Ending, emitted once

    def __init__(self, command: Sequence[str], clock: Clock | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._command = list(command)
        self._clock = clock or SystemClock(self)
        self._log: deque[str] = deque(maxlen=LOG_LINES)
        self._out, self._err = LineBuffer(), LineBuffer(LOG_LINE)
        self._unread: deque[bytes | TooLong] = deque()
        self._reading: TimerHandle | None = None
        self._killing: TimerHandle | None = None
        self._exited: ProcessExit | None = None
        self._over = self._is_silent = False
        self._stops = 0
        self._silence = self._ticked = 0.0
        self._every = RepeatingTimer(self._clock, _TICK, self._tick)
        self._process = QProcess(self)
        self._process.readyReadStandardOutput.connect(self._read)
        self._process.readyReadStandardError.connect(self._read_log)
        self._process.finished.connect(self._finished)
        self._process.errorOccurred.connect(self._on_error)

    def start(self) -> None:
        """Start the process; a failure is reported through `ended`."""
        self._ticked = self._clock.now()
        self._every.start()
        if not self._command or not self._command[0]:
            self._clock.after(
                0, lambda: self._end(ProcessExit(kind="not_started", detail=self.tr("Python was not found")))
            )
            return
        self._process.start(self._command[0], self._command[1:], QIODevice.OpenModeFlag.ReadWrite)

    def stop(self) -> None:
        """Stop the run after the image in progress."""
        if self._stops == 0:
            self._say_stop()

    def stop_now(self) -> None:
        """Stop the run at once, and kill the process if it is still running after a grace period."""
        while self._stops < 2:
            self._say_stop()
        if self._killing is None:
            self._killing = self._clock.after(_PATIENCE, self._process.kill)

    def finish(self, milliseconds: int) -> None:
        """Stop the process and wait for it; only for use after the last window has closed."""
        if self._process.state() != QProcess.ProcessState.NotRunning:
            self.stop_now()
            if not self._process.waitForFinished(milliseconds):
                self._process.kill()
                self._process.waitForFinished(1000)

    def log(self) -> tuple[str, ...]:
        """The last lines of standard error, and output lines that could not be parsed."""
        return tuple(self._log)

    def _say_stop(self) -> None:
        self._stops += 1
        if self._process.state() != QProcess.ProcessState.NotRunning:
            self._process.write(b"stop\n")

    # ---- output

    def _read(self) -> None:
        self._on_output()
        self._unread.extend(self._out.feed(bytes(self._process.readAllStandardOutput().data())))
        if self._reading is None:
            self._process_some()

    def _process_some(self) -> None:
        """Process a limited number of lines at a time, as thousands may arrive at once."""
        self._reading = None
        lines = [self._unread.popleft() for _ in range(min(_LINES_PER_TURN, len(self._unread)))]
        for message in read_lines(lines):
            if isinstance(message, InvalidLine):
                self._note([message.begins])
            else:
                self.event_received.emit(message)
        if self._unread:
            self._reading = self._clock.after(0, self._process_some)
        elif self._exited is not None:
            self._end(self._exited)

    def _read_log(self) -> None:
        self._on_output()
        lines = self._err.feed(bytes(self._process.readAllStandardError().data()))
        self._note([(line.head if isinstance(line, TooLong) else line).decode("utf-8", "replace") for line in lines])

    def _note(self, lines: Sequence[str]) -> None:
        if lines:
            self._log.extend(line.rstrip("\r")[:LOG_LINE] for line in lines)
            self.logged.emit()

    def _on_output(self) -> None:
        self._silence = 0.0
        self._set_silent(False)

    def _tick(self) -> None:
        now = self._clock.now()
        self._silence += min(now - self._ticked, _LONGEST_TICK)
        self._ticked = now
        self._set_silent(self._silence > SILENT)

    def _set_silent(self, silent: bool) -> None:
        if silent != self._is_silent:
            self._is_silent = silent
            self.silence_changed.emit(silent)

    # ---- end of the process

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:
            ending = ProcessExit(kind="not_started", detail=self._process.errorString())
            self._clock.after(0, lambda: self._end(ending))

    def _finished(self, code: int, status: QProcess.ExitStatus) -> None:
        self._read_log()
        crashed = status == QProcess.ExitStatus.CrashExit
        self._exited = ProcessExit(kind="crashed" if crashed else "ended", code=code)
        self._read()

    def _end(self, ending: ProcessExit) -> None:
        if self._over:
            return
        self._over = True
        self._every.stop()
        if self._killing is not None:
            self._killing.stop()
        self.ended.emit(ending)


MakeProcess = Callable[[Sequence[str]], BatchProcess]


def command(
    job: str, *, extra_args: Sequence[str] = (), retry_failed: bool = False, base: Sequence[str] = COMMAND
) -> tuple[str, ...]:
    """The command line that generates a job's missing images."""
    return (*base, job, *FLAGS, *extra_args, *((RETRY,) if retry_failed else ()))
