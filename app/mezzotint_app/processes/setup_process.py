"""The bootstrap that installed this program, as a process: a command, and its events as JSON lines."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QIODevice, QObject, QProcess, QProcessEnvironment, Signal

from mezzotint.codec import parse_json
from mezzotint.errors import MezzotintError
from mezzotint_app.processes.messages import LineBuffer, TooLong
from mezzotint_app.processes.process_exit import ProcessExit

_MODULE = "mezzotint_setup"
_FIRST = "MEZZOTINT_FIRST_START"
_LOG = 2000  # characters of standard error that are kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrap:
    """Where the bootstrap is, as it told the program that it started."""

    python: str
    payload: str
    root: str
    first: bool = False  # no engine is installed yet

    @classmethod
    def found(cls, environment: Mapping[str, str] = os.environ) -> "Bootstrap | None":
        """The one that started this program; None if it was installed in another way."""
        names = ("MEZZOTINT_SETUP_PYTHON", "MEZZOTINT_SETUP_PAYLOAD", "MEZZOTINT_ENGINE_ROOT")
        python, payload, root = (environment.get(name, "") for name in names)
        if not (python and payload and root):
            return None
        return cls(python=python, payload=payload, root=root, first=bool(environment.get(_FIRST)))

    def words(self, command: Sequence[str], root: str = "") -> tuple[str, ...]:
        """The command line of a command; `root` is another folder for the versions."""
        return (self.python, "-m", _MODULE, *command, "--root", root or self.root, "--payload", self.payload)

    def environment(self) -> QProcessEnvironment:
        """The environment of its processes."""
        made = QProcessEnvironment.systemEnvironment()
        made.insert("PYTHONPATH", self.payload)
        made.insert("PYTHONSAFEPATH", "1")
        made.remove(_FIRST)
        return made


class SetupProcess(QObject):
    """One command; every command needs a new object."""

    told = Signal(object)  # an event: dict[str, object]
    ended = Signal(object)  # ProcessExit, emitted once and last

    def __init__(self, environment: QProcessEnvironment, words: Sequence[str], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._words = [*words, "--jsonl"]
        self._lines = LineBuffer()
        self._said = ""
        self._over = False
        self._process = QProcess(self)
        self._process.setProcessEnvironment(environment)
        self._process.readyReadStandardOutput.connect(self._read)
        self._process.readyReadStandardError.connect(self._read_errors)
        self._process.finished.connect(self._finished)
        self._process.errorOccurred.connect(self._on_error)

    def start(self) -> None:
        """Start the process; a failure is reported through `ended`."""
        self._process.start(self._words[0], self._words[1:], QIODevice.OpenModeFlag.ReadWrite)

    def pause(self) -> None:
        """Ask it to pause, which it does at the next safe point."""
        self._process.write(b"pause\n")

    def finish(self, milliseconds: int) -> None:
        """Pause and wait; only for use after the last window has closed."""
        if self._process.state() != QProcess.ProcessState.NotRunning:
            self.pause()
            if not self._process.waitForFinished(milliseconds):
                self._process.kill()
                self._process.waitForFinished(1000)

    def _read(self) -> None:
        for line in self._lines.feed(bytes(self._process.readAllStandardOutput().data())):
            if isinstance(line, TooLong):
                continue
            try:
                event = parse_json(line)
            except MezzotintError:
                continue
            if isinstance(event, dict) and isinstance(event.get("event"), str):
                self.told.emit(event)

    def _read_errors(self) -> None:
        said = bytes(self._process.readAllStandardError().data()).decode("utf-8", "replace")
        self._said = (self._said + said)[-_LOG:]

    def _finished(self, code: int, status: QProcess.ExitStatus) -> None:
        self._read()
        self._read_errors()
        last = (self._said.strip().splitlines() or [""])[-1]
        crashed = status == QProcess.ExitStatus.CrashExit
        self._end(ProcessExit(kind="crashed" if crashed else "ended", code=code, detail=last))

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:
            self._end(ProcessExit(kind="not_started", detail=self._process.errorString()))

    def _end(self, ending: ProcessExit) -> None:
        if not self._over:
            self._over = True
            self.ended.emit(ending)


def maker(bootstrap: Bootstrap | None) -> Callable[[Sequence[str]], SetupProcess]:
    """What makes the process of a command line."""
    return partial(SetupProcess, bootstrap.environment() if bootstrap is not None else QProcessEnvironment())
