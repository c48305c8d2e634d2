"""An engine process that exchanges calls and answers as lines of JSON without ever blocking the window."""

import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar
from weakref import WeakMethod

from PySide6.QtCore import QCoreApplication, QIODevice, QObject, QProcess, QProcessEnvironment, Signal

from mezzotint.errors import MezzotintError
from mezzotint_app.background import Executor
from mezzotint_app.clock import Clock, SystemClock, TimerHandle
from mezzotint_app.processes.messages import (
    Answer,
    ErrorResponse,
    InvalidMessage,
    JobEvent,
    LineBuffer,
    Message,
    TooLong,
    call_line,
    read_messages,
)
from mezzotint_app.processes.process_exit import ExitKind, ProcessExit
from mezzotint_app.processes.service import GONE, Failure, PendingCall

T = TypeVar("T")

translate = QCoreApplication.translate

MAX_INVALID = 20  # lines in a row
MAX_SKIPPED = 32 << 20  # bytes of a line without an end
MAX_UNREAD = 64 << 20  # bytes of lines waiting to be decoded
MAX_UNWRITTEN = 16 << 20  # bytes not yet read by the process
LOG_LINES = 200
LOG_LINE = 2000  # characters
_LOG_PAUSE = 0.1  # seconds between two `logged` signals, however much is written
_GRACE = 3.0  # seconds until the process is terminated after it was asked to end
_PATIENCE = 5.0  # seconds until it is killed


class ServerProcess(QObject):
    """A process that is started once; a restart needs a new object. `decoding` must outlive it."""

    ended = Signal(object)  # Ending; emitted after every open call has failed
    logged = Signal(object)  # tuple[str, ...]: new log lines, only the last ones if there are very many

    def __init__(
        self,
        command: Sequence[str],
        *,
        decoding: Executor,
        environment: Mapping[str, str] | None = None,
        clock: Clock | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._command = list(command)
        self._decoding = decoding
        self._clock = clock or SystemClock(self)
        self._calls: dict[int, PendingCall] = {}
        self._last_call = 0
        self._lines = LineBuffer()
        self._unread: list[bytes | TooLong] = []
        self._unread_bytes = 0
        self._is_decoding = False
        self._exited: ProcessExit | None = None
        self._invalid_count = 0
        self._log = _LogTail()
        self._log_wait: TimerHandle | None = None
        self._kill_timers: list[TimerHandle] = []
        self._given_up: ProcessExit | None = None
        self._over = False
        self._process = self._made(environment or {})

    def _made(self, environment: Mapping[str, str]) -> QProcess:
        process = QProcess(self)
        surroundings = QProcessEnvironment.systemEnvironment()
        for name, value in environment.items():
            surroundings.insert(name, value)
        process.setProcessEnvironment(surroundings)
        process.readyReadStandardOutput.connect(self._read)
        process.readyReadStandardError.connect(self._read_log)
        process.finished.connect(self._finished)
        process.errorOccurred.connect(self._on_error)
        return process

    # ---- calls

    def start(self) -> None:
        """Start the process; a failure is reported through `ended`."""
        if not self._command or not self._command[0]:
            self._fail_to_start(translate("ServerProcess", "Python was not found: reinstall Mezzotint"))
            return
        self._process.start(self._command[0], self._command[1:], QIODevice.OpenModeFlag.ReadWrite)

    def send(self, pending: PendingCall) -> int:
        """Send a call and return its number. Its callbacks are never called from within `send`."""
        self._last_call += 1
        call = self._last_call
        self._calls[call] = pending
        try:
            line = call_line(call, pending.method, pending.params)
        except MezzotintError as error:
            failure = Failure(kind=error.kind, message=str(error))
            self._clock.after(0, lambda: self._fail(call, failure))
            return call
        self._write(line)
        if self._over:
            self._clock.after(0, lambda: self._fail(call, _gone(self._given_up)))
        return call

    def cancel(self, call: int) -> None:
        """As `Service.cancel`."""
        if call in self._calls:
            self.send(PendingCall(method="cancel", params={"job": call}))

    def open_calls(self) -> int:
        """The number of calls that have not been answered yet."""
        return len(self._calls)

    def log(self) -> tuple[str, ...]:
        """The last lines of the log."""
        return self._log.lines()

    def process_id(self) -> int:
        """The system's process id; 0 if the process is not running."""
        return int(self._process.processId())

    # ---- stopping

    def stop(self) -> None:
        """Ask the process to end; it is terminated, then killed, if it has not ended after a few seconds."""
        if self._over or self._given_up is not None:
            return
        self._given_up = ProcessExit(kind="stopped")
        if self._process.state() == QProcess.ProcessState.NotRunning:
            self._end(self._given_up)
            return
        self._write(call_line(0, "shutdown", None))
        self._process.closeWriteChannel()
        self._kill_timers = [
            self._clock.after(_GRACE, self._process.terminate),
            self._clock.after(_PATIENCE, self._process.kill),
        ]

    def kill(self, kind: ExitKind, detail: str = "") -> None:
        """Kill the process and report `kind` as the reason."""
        if not self._over:
            self._given_up = ProcessExit(kind=kind, detail=detail)
            self._process.kill()

    def finish(self, milliseconds: int) -> None:
        """Stop the process and wait for it; only for use after the last window has closed."""
        if self._process.state() != QProcess.ProcessState.NotRunning:
            self.stop()
            if not self._process.waitForFinished(milliseconds):
                self._process.kill()
                self._process.waitForFinished(500)

    # ---- input

    def _read(self) -> None:
        data = bytes(self._process.readAllStandardOutput().data())
        if self._given_up is not None and self._given_up.kind != "stopped":
            return  # it is being killed and might write endlessly
        lines = self._lines.feed(data)
        if self._lines.skipped_bytes > MAX_SKIPPED:
            self.kill("broken", translate("ServerProcess", "an unterminated line"))
        if lines:
            self._submit(lines)

    def _submit(self, lines: list[bytes | TooLong]) -> None:
        self._unread.extend(lines)
        self._unread_bytes += sum(len(line) for line in lines if isinstance(line, bytes))
        if self._unread_bytes > MAX_UNREAD:
            self.kill("broken", translate("ServerProcess", "too many responses at once"))
        self._decode_more()

    def _decode_more(self) -> None:
        """Decode one portion at a time, as the decoder need not preserve their order."""
        if self._is_decoding:
            return
        if not self._unread:
            if self._exited is not None:
                self._end(self._exited)
            return
        lines, self._unread, self._unread_bytes = self._unread, [], 0
        self._is_decoding = True
        answers = {call: one.answer for call, one in self._calls.items()}
        self._decoding.run(lambda: read_messages(lines, answers), _weakly(self._take), _weakly(self._not_decoded))

    def _take(self, messages: list[Message]) -> None:
        self._is_decoding = False
        for message in messages:
            try:
                self._dispatch(message)
            except Exception:  # noqa: BLE001  a bug in one caller's callback must not cost other callers their answers
                sys.excepthook(*sys.exc_info())
        self._decode_more()

    def _not_decoded(self, error: Exception) -> None:
        self._is_decoding = False
        self.kill("broken", f"{type(error).__name__}: {error}")
        self._decode_more()

    def _dispatch(self, message: Message) -> None:
        match message:
            case InvalidMessage(call=call, problem=problem):
                self._on_invalid(call, problem)
                return
            case Answer(call=call, value=value):
                self._answer(call, value)
            case ErrorResponse(call=call, failure=failure):
                self._fail(call, failure)
            case JobEvent(call=call, event=event):
                asked = self._calls.get(call)
                if asked is not None and asked.on_event is not None:
                    asked.on_event(event)
        self._invalid_count = 0

    def _answer(self, call: int, value: object) -> None:
        asked = self._calls.pop(call, None)
        if asked is not None and asked.then is not None:
            asked.then(value)

    def _fail(self, call: int, failure: Failure) -> None:
        asked = self._calls.pop(call, None)
        if asked is not None and asked.failed is not None:
            asked.failed(failure)

    def _on_invalid(self, call: int | None, problem: str) -> None:
        self._note([translate("ServerProcess", "invalid output: {line}").format(line=problem)])
        if call is not None:
            self._fail(call, Failure(kind="protocol", message=problem))
        self._invalid_count += 1
        if self._invalid_count >= MAX_INVALID:
            self.kill("broken", problem)

    def _read_log(self) -> None:
        self._note(self._log.feed(bytes(self._process.readAllStandardError().data())))

    def _note(self, lines: Sequence[str]) -> None:
        self._log.add(lines)
        if self._log_wait is None and self._log.unreported():
            self._log_wait = self._clock.after(_LOG_PAUSE, self._emit_log)

    def _emit_log(self) -> None:
        self._log_wait = None
        if lines := self._log.take_unreported():
            self.logged.emit(lines)

    # ---- output

    def _write(self, line: bytes) -> None:
        if self._over or self._process.state() == QProcess.ProcessState.NotRunning:
            return
        if self._process.bytesToWrite() + len(line) > MAX_UNWRITTEN:
            self.kill("hung", translate("ServerProcess", "it did not read a request"))
            return
        self._process.write(line)

    # ---- end of the process

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:
            self._fail_to_start(self._process.errorString())

    def _fail_to_start(self, detail: str) -> None:
        self._clock.after(0, lambda: self._end(ProcessExit(kind="not_started", detail=detail)))

    def _finished(self, code: int, status: QProcess.ExitStatus) -> None:
        self._read()
        self._read_log()
        self._note(self._log.rest())
        crashed = status == QProcess.ExitStatus.CrashExit
        self._exited = ProcessExit(kind="crashed" if crashed else "ended", code=code)
        self._decode_more()  # the end is reported after everything that the process wrote

    def _end(self, ending: ProcessExit) -> None:
        if self._over:
            return
        self._over = True
        if self._given_up is not None:
            ending = replace(self._given_up, code=ending.code)
        self._given_up = ending
        for wait in self._kill_timers:
            wait.stop()
        self._emit_log()
        gone = _gone(ending)
        for call in list(self._calls):
            try:
                self._fail(call, gone)
            except Exception:  # noqa: BLE001
                sys.excepthook(*sys.exc_info())
        self.ended.emit(ending)


class _LogTail:
    """The last lines of a log of any length."""

    def __init__(self) -> None:
        self._begun = b""
        self._lines: deque[str] = deque(maxlen=LOG_LINES)
        self._new: deque[str] = deque(maxlen=LOG_LINES)

    def feed(self, data: bytes) -> list[str]:
        """The complete lines in `data`, only the last ones if there are very many."""
        *whole, self._begun = (self._begun + data[-LOG_LINES * LOG_LINE :]).split(b"\n")
        self._begun = self._begun[-LOG_LINE:]
        return [line.decode("utf-8", "replace").rstrip("\r")[:LOG_LINE] for line in whole[-LOG_LINES:]]

    def rest(self) -> list[str]:
        """The last line if it has no line end yet."""
        return self.feed(b"\n") if self._begun else []

    def add(self, lines: Sequence[str]) -> None:
        """Store these lines."""
        self._lines.extend(lines)
        self._new.extend(lines)

    def lines(self) -> tuple[str, ...]:
        """All stored lines."""
        return tuple(self._lines)

    def unreported(self) -> bool:
        """Whether there are lines that have not been reported yet."""
        return bool(self._new)

    def take_unreported(self) -> tuple[str, ...]:
        """Return the unreported lines and mark them as reported."""
        new = tuple(self._new)
        self._new.clear()
        return new


def _weakly(method: Callable[[T], None]) -> Callable[[T], None]:
    """Wrap a method for another thread: that thread must not drop the last reference to a QObject and so delete it."""
    weak = WeakMethod(method)

    def call(value: T) -> None:
        if (alive := weak()) is not None:
            alive(value)

    return call


def _gone(ending: ProcessExit | None) -> Failure:
    if ending is not None and ending.kind == "stopped":
        return Failure(kind=GONE, message=translate("ServerProcess", "it was stopped"))
    return Failure(kind=GONE, message=translate("ServerProcess", "it stopped before it responded"))
