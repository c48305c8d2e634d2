"""A command of the bootstrap at work: its phase, its progress, and how it ended."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal

from mezzotint.errors import MezzotintError
from mezzotint_app.processes.process_exit import ProcessExit
from mezzotint_app.processes.setup_process import SetupProcess
from mezzotint_app.viewmodel.engine_setup.facts import Release, Trouble, read
from mezzotint_app.viewmodel.engine_setup.texts import ended_trouble, work_text

_PAUSES = ("install", "repair", "update")


Start = Callable[[Sequence[str]], SetupProcess]  # makes the process of a command line


class SetupCommand(QObject):
    """The last command; the next one replaces it."""

    changed = Signal()
    done = Signal(str)  # the version that is in use now
    ended = Signal()

    def __init__(self, start: Start, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._start = start
        self._run: SetupProcess | None = None
        self.words: tuple[str, ...] = ()  # without the program
        self.trouble: Trouble | None = None
        self.paused = False
        self.notes: tuple[str, ...] = ()  # what was noticed while the new version was tried
        self.release: Release | None = None  # the newest, once the release index was asked
        self._phase = ""
        self._progress: tuple[int, int] | None = None
        self._left: float | None = None
        self._pausing = self._quiet = self._told = False

    def begin(self, words: Sequence[str], line: Sequence[str], *, quiet: bool = False) -> None:
        """Start a command by its command line, unless one is at work; `quiet`: failures are not shown."""
        if self._run is not None:
            return
        self.words, self._quiet = tuple(words), quiet
        self.trouble, self.paused = None, False
        self._phase, self._progress, self._left = "", None, None
        self._pausing = self._told = False
        self._run = run = self._start(line)
        run.told.connect(self._on_event)
        run.ended.connect(self._on_ended)
        run.start()
        self.changed.emit()

    def is_busy(self) -> bool:
        """Whether it is at work."""
        return self._run is not None

    def pauses(self) -> bool:
        """Whether one is at work that can be paused."""
        return self.is_busy() and self.words[0] in _PAUSES

    def can_pause(self) -> bool:
        """Whether it can be paused, and was not asked to yet."""
        return self.pauses() and not self._pausing

    def pause(self) -> None:
        """Pause; the same command goes on later."""
        if self._run is not None and self.can_pause():
            self._pausing = True
            self._run.pause()
            self.changed.emit()

    def finish(self, milliseconds: int) -> None:
        """Pause and wait; only for use after the last window has closed."""
        if self._run is not None:
            self._run.finish(milliseconds)

    def text(self) -> str:
        """What it does; empty if it is not at work."""
        if not self.is_busy():
            return ""
        phase = "check" if self._phase == "download" and "--wheels" in self.words else self._phase
        return self.tr("Pausing…") if self._pausing else work_text(phase, self._progress, self._left)

    def percent(self) -> int | None:
        """The progress of a download; None if it is not known."""
        if self._phase != "download" or self._progress is None or self._progress[1] <= 0:
            return None
        return min(100, 100 * self._progress[0] // self._progress[1])

    def _on_event(self, event: dict[str, object]) -> None:
        try:
            self._take(str(event["event"]), event)
        except MezzotintError as error:
            self.trouble = Trouble(code="payload", what=str(error))
        self.changed.emit()

    def _take(self, kind: str, event: dict[str, object]) -> None:
        self._told = self._told or kind in ("done", "failed", "paused")
        if kind == "phase":
            self._phase, self._progress, self._left = str(event.get("name")), None, None
        elif kind == "progress":
            done, total, left = event.get("done"), event.get("total"), event.get("seconds_left")
            if isinstance(done, int) and isinstance(total, int):
                self._progress = (done, total)
                self._left = float(left) if isinstance(left, int | float) else None
        elif kind == "done":
            notes = event.get("notes")
            self.notes = tuple(map(str, notes)) if isinstance(notes, list) else ()
            self.done.emit(str(event.get("version", "")))
        elif kind == "failed":
            self.trouble = None if self._quiet else read(Trouble, event)
        elif kind == "paused":
            self.paused = True
        elif kind == "update":
            self.release = read(Release, event)

    def _on_ended(self, ending: ProcessExit) -> None:
        if self._run is not None:
            self._run.deleteLater()
        self._run = None
        if not (self._told or self._quiet) and (ending.kind != "ended" or ending.code != 0):
            self.trouble = ended_trouble(ending)
        self.ended.emit()
        self.changed.emit()
