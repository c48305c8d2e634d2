"""Stores the sizes of splitters and table columns as they change, so that they survive even a killed process."""

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QHeaderView, QSplitter, QWidget

from mezzotint_app.stored import Stored
from mezzotint_app.window_state import WindowState

_WIDEST = 1 << 15  # pixels
_SETTLED = 200  # milliseconds after a change until sizes are stored


class LayoutPersistence(QObject):
    """Restores and follows every splitter and header that has an object name."""

    def __init__(self, state: Stored[WindowState], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._moved: dict[str, tuple[int, ...]] = {}
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_SETTLED)
        self._soon.timeout.connect(self.keep)

    def follow(self, page: QWidget) -> None:
        """Restore and follow all splitters and headers of a page."""
        for splitter in page.findChildren(QSplitter):
            if splitter.objectName():
                self._follow_splitter(splitter)
        for header in page.findChildren(QHeaderView):
            if header.objectName():
                self._follow_header(header)

    def keep(self) -> None:
        """Store changed sizes now."""
        self._soon.stop()
        if self._moved:
            self._state.change(parts=self._state.value().parts | self._moved)
            self._moved = {}

    def _follow_splitter(self, splitter: QSplitter) -> None:
        sizes = self._sizes(splitter.objectName(), splitter.count())
        if sizes and sum(sizes) > 0:
            splitter.setSizes(list(sizes))
        splitter.splitterMoved.connect(lambda *_: self._note(splitter.objectName(), splitter.sizes()))

    def _follow_header(self, header: QHeaderView) -> None:
        sizes = self._sizes(header.objectName(), header.count())
        for column, size in enumerate(sizes):
            header.resizeSection(column, max(size, header.minimumSectionSize()))
        header.sectionResized.connect(
            lambda *_: self._note(header.objectName(), [header.sectionSize(one) for one in range(header.count())])
        )

    def _sizes(self, name: str, count: int) -> tuple[int, ...]:
        """The stored sizes; empty if they are missing or invalid."""
        sizes = self._state.value().parts.get(name, ())
        return sizes if len(sizes) == count and all(0 <= one < _WIDEST for one in sizes) else ()

    def _note(self, name: str, sizes: list[int]) -> None:
        self._moved[name] = tuple(sizes)
        self._soon.start()
