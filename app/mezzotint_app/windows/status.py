"""Keeps the status bar and the window title up to date."""

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from mezzotint_app.amounts import bytes_of
from mezzotint_app.program import Program
from mezzotint_app.widgets.status_line import StatusLine

_DRAWINGS = {
    "starting": ("waiting", "muted"),
    "ready": ("done", "good"),
    "restarting": ("warning", "warning"),
    "given_up": ("error", "danger"),
    "stopped": ("stop", "muted"),
}


class Status(QObject):
    """Follows the engine and the queue."""

    def __init__(self, program: Program, line: StatusLine, window: QWidget) -> None:
        super().__init__(window)
        self._program, self._line, self._window = program, line, window
        program.engine.changed.connect(self._engine)
        program.engine_state.changed.connect(self._engine)
        program.setup.changed.connect(self._engine)
        line.cancel_asked.connect(program.engine_state.cancel)
        program.queue.summary.changed.connect(self._queue)
        self._engine()
        self._queue()

    def _engine(self) -> None:
        engine = self._program.engine_state
        self._line.show_cancel(self._cancel_words())
        self._line.show_memory(self._memory())
        if self._program.setup.lacks_engine():
            self._line.show_engine(*self._installation(), self.tr("Shows the engine's installation"))
            return
        drawing, colour = _DRAWINGS["starting" if engine.is_starting() else engine.state()]
        tip = self.tr("Engine status and log (Ctrl+L)")
        self._line.show_engine(engine.text(), drawing, colour, tip)

    def _installation(self) -> tuple[str, str, str]:
        setup = self._program.setup
        if setup.ready_version():
            return self.tr("Engine installed"), "done", "good"
        if setup.command.pauses():
            return self.tr("Installing the engine"), "download", "text"
        return self.tr("No engine installed"), "download", "muted"

    def _cancel_words(self) -> str:
        engine = self._program.engine_state
        if not engine.can_cancel():
            return ""
        return self.tr("Cancel engine start") if engine.is_starting() else self.tr("Cancel loading")

    def _memory(self) -> str:
        now = self._program.engine_state.memory
        if now is None:
            return ""
        ram = self.tr("RAM {used}").format(used=bytes_of(now.ram_bytes, now.ram_total_bytes))
        if now.vram_bytes is None or now.vram_total_bytes is None:
            return ram
        used = now.vram_total_bytes - (now.vram_free_bytes or 0)
        card = self.tr("VRAM {used}").format(used=bytes_of(used, now.vram_total_bytes))
        return f"{card}   {ram}"

    def _queue(self) -> None:
        summary = self._program.queue.summary
        self._line.show_queue(summary.text())
        fraction = summary.fraction()
        if fraction is None:
            self._window.setWindowTitle("Mezzotint")
        else:
            self._window.setWindowTitle(self.tr("{percent} % - Mezzotint").format(percent=int(100 * fraction)))
