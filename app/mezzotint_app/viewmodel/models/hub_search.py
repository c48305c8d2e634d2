"""Searching the hub for models: only if the user allowed it, and only when asked to."""

from PySide6.QtCore import QObject, Signal

from mezzotint.protocol import HubModel, HubSearch
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored


class HubSearchModel(QObject):
    """The last search and what it found."""

    changed = Signal()

    def __init__(self, librarian: Service, settings: Stored[Settings], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._librarian, self._settings = librarian, settings
        self.words = ""  # of what was found; empty: nothing was searched for
        self.found: tuple[HubModel, ...] = ()
        self.searching = False
        self.problem = ""
        self._call: int | None = None
        settings.changed.connect(self.changed)

    def allowed(self) -> bool:
        """Whether the user allowed searching, which goes online."""
        return self._settings.value().hub_search

    def has_answer(self) -> bool:
        """Whether a search has found something, or nothing."""
        return bool(self.words) and not self.searching and not self.problem

    def allow(self, on: bool) -> None:
        """Allow searching, or not; the settings keep it."""
        if not on:
            self.clear()
        self._settings.change(hub_search=on)

    def search(self, words: str) -> None:
        """Search for models with these words in their names; without words, forget the last search."""
        self.clear()
        self.words = words.strip()
        if self.words and self.allowed():
            self.searching = True
            request = HubSearch(words=self.words, endpoint=self._settings.value().hub_endpoint or None)
            self._call = self._librarian.ask(
                "search_hub", request, answer=tuple[HubModel, ...], then=self._take, failed=self._failed
            )
        self.changed.emit()

    def clear(self) -> None:
        """Cancel a running search and forget what was found."""
        if self._call is not None:
            self._librarian.cancel(self._call)
        self._call, self.searching, self.words, self.found, self.problem = None, False, "", (), ""
        self.changed.emit()

    def _take(self, found: tuple[HubModel, ...]) -> None:
        if self._call is not None:
            self._call, self.searching, self.found = None, False, tuple(found)
            self.changed.emit()

    def _failed(self, failure: Failure) -> None:
        if failure.kind != "cancelled" and self._call is not None:
            self._call, self.searching, self.problem = None, False, failure.message
            self.changed.emit()
