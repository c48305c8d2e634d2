"""What the bootstrap finds out about the machine, asked again when the folder changes."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal

from mezzotint.errors import MezzotintError
from mezzotint_app.processes.process_exit import ProcessExit
from mezzotint_app.processes.setup_process import SetupProcess
from mezzotint_app.viewmodel.engine_setup.command import Start
from mezzotint_app.viewmodel.engine_setup.facts import Facts, Trouble, read
from mezzotint_app.viewmodel.engine_setup.texts import ended_trouble


class MachineLook(QObject):
    """Asks one at a time; a question that comes meanwhile is asked afterwards."""

    changed = Signal()

    def __init__(self, start: Start, line: Callable[[], Sequence[str]], parent: QObject | None = None) -> None:
        """`line` is the command line that asks."""
        super().__init__(parent)
        self._start, self._line = start, line
        self._run: SetupProcess | None = None
        self._again = self._told = False
        self.facts: Facts | None = None  # None until the first answer
        self.trouble: Trouble | None = None

    def ask(self) -> None:
        """Ask, or ask again."""
        if self._run is not None:
            self._again = True
            return
        self._told = False
        self._run = run = self._start(self._line())
        run.told.connect(self._on_event)
        run.ended.connect(self._on_ended)
        run.start()
        self.changed.emit()

    def is_asking(self) -> bool:
        """Whether an answer is awaited."""
        return self._run is not None

    def finish(self, milliseconds: int) -> None:
        """Wait for the process; only for use after the last window has closed."""
        if self._run is not None:
            self._run.finish(milliseconds)

    def _on_event(self, event: dict[str, object]) -> None:
        kind = event["event"]
        self._told = self._told or kind in ("look", "failed")
        try:
            if kind == "look":
                self.facts, self.trouble = read(Facts, event), None
            elif kind == "failed":
                self.trouble = read(Trouble, event)
        except MezzotintError as error:
            self.trouble = Trouble(code="payload", what=str(error))

    def _on_ended(self, ending: ProcessExit) -> None:
        if self._run is not None:
            self._run.deleteLater()
        self._run = None
        if not self._told:
            self.trouble = ended_trouble(ending)
        if self._again:
            self._again = False
            self.ask()
        self.changed.emit()
