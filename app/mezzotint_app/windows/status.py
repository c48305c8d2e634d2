"""Keeps the line at the foot and the title of the window up to date."""

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
    """Listens to the engine and the queue."""

    def __init__(self, program: Program, line: StatusLine, window: QWidget) -> None:
        super().__init__(window)
        self._program, self._line, self._window = program, line, window
        program.engine.changed.connect(self._engine)
        program.engine_state.changed.connect(self._engine)
        program.queue.summary.changed.connect(self._queue)
        self._engine()
        self._queue()

    def _engine(self) -> None:
        drawing, colour = _DRAWINGS[self._program.engine.state()]
        self._line.show_engine(self._program.engine_state.text(), drawing, colour)
        self._line.show_memory(self._memory())

    def _memory(self) -> str:
        now = self._program.engine_state.memory
        if now is None:
            return ""
        if now.vram_bytes is not None and now.vram_total_bytes is not None:
            used = now.vram_total_bytes - (now.vram_free_bytes or 0)
            return self.tr("Graphics memory {used}").format(used=bytes_of(used, now.vram_total_bytes))
        return self.tr("RAM {used}").format(used=bytes_of(now.ram_bytes, now.ram_total_bytes))

    def _queue(self) -> None:
        summary = self._program.queue.summary
        self._line.show_queue(summary.text())
        fraction = summary.fraction()
        if fraction is None:
            self._window.setWindowTitle("Mezzotint")
        else:
            self._window.setWindowTitle(self.tr("{percent} % - Mezzotint").format(percent=int(100 * fraction)))
