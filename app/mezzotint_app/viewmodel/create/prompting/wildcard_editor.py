"""Editing the wildcard files of the folder in the settings, with what would be drawn of unsaved texts."""

import re
from collections.abc import Iterable

from PySide6.QtCore import QObject, QTimer, Signal

from mezzotint.batch_protocol import WILDCARD_NAME, DrawRequest, SaveWildcard, WildcardFolder, WildcardName
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored

DELAY = 250  # milliseconds
_SHOWN = tuple(range(1, 9))  # seeds of the examples


class WildcardEditor(QObject):
    """The names, the text of the chosen one, and unsaved texts, which are kept until they are saved or dropped."""

    changed = Signal()
    loaded = Signal()  # the text of the chosen wildcard is there, or another is chosen
    message = Signal(str)

    def __init__(self, librarian: Service, settings: Stored[Settings], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._librarian, self._settings = librarian, settings
        self._names: tuple[str, ...] = ()
        self._name = ""
        self._texts: dict[str, str] = {}  # as in the files
        self._drafts: dict[str, str] = {}
        self._examples: tuple[str, ...] = ()
        self._problem = ""
        self._folder = self.folder()
        self._waiting = QTimer(self)
        self._waiting.setSingleShot(True)
        self._waiting.setInterval(DELAY)
        self._waiting.timeout.connect(self._draw)
        settings.changed.connect(self._follow_folder)

    # ---- state

    def folder(self) -> str:
        """Return the folder; empty if none is chosen."""
        return self._settings.value().wildcard_folder

    def set_folder(self, path: str) -> None:
        """Choose the folder, in the settings."""
        self._settings.change(wildcard_folder=path)

    def names(self) -> tuple[str, ...]:
        """Return all names, with those that have not been saved yet."""
        return tuple(sorted({*self._names, *self._drafts}))

    def name(self) -> str:
        """Return the chosen name; empty without one."""
        return self._name

    def text(self) -> str | None:
        """Return the text of the chosen wildcard as edited; None until it is read."""
        return self._drafts.get(self._name, self._texts.get(self._name))

    def is_unsaved(self, name: str | None = None) -> bool:
        """Whether a wildcard, or any without a name, has changes."""
        return bool(self._drafts) if name is None else name in self._drafts

    def examples(self) -> tuple[str, ...]:
        """Return what could be drawn."""
        return self._examples

    def problem(self) -> str:
        """Return why nothing can be drawn; empty if it can."""
        return self._problem

    # ---- actions

    def refresh(self) -> None:
        """List the names."""
        if not self.folder():
            return
        request = WildcardFolder(folder=self.folder())
        self._librarian.ask("wildcards", request, answer=tuple[str, ...], then=self._listed, failed=self._failed)

    def choose(self, name: str) -> None:
        """Choose a wildcard; changes of the one before are kept."""
        if name == self._name:
            return
        self._name, self._examples, self._problem = name, (), ""
        self.loaded.emit()
        if self.text() is None and name:
            request = WildcardName(folder=self.folder(), name=name)
            self._librarian.ask(
                "wildcard_text", request, answer=str, then=lambda text: self._read(name, text), failed=self._failed
            )
        self._changed()

    def add(self, name: str) -> None:
        """Begin a new wildcard, unless there is one of that name."""
        name = name.strip().strip("_").removesuffix(".txt")
        if not re.fullmatch(WILDCARD_NAME, name):
            message = self.tr("{name} is not a name: use letters, digits, - and single _, and / for folders.")
            self.message.emit(message.format(name=name or "“”"))
            return
        if name not in self.names():
            self._drafts[name] = ""
        self.choose(name)

    def edit(self, text: str) -> None:
        """Change the text of the chosen wildcard."""
        if self._name and text != self.text():
            self._drafts[self._name] = text
            if text == self._texts.get(self._name):
                del self._drafts[self._name]
            self._changed()

    def save(self) -> None:
        """Write the chosen wildcard."""
        name, text = self._name, self._drafts.get(self._name)
        if text is None:
            return

        def saved(_none: object) -> None:
            self._texts[name] = text
            if self._drafts.get(name) == text:
                del self._drafts[name]
            self._names = tuple(sorted({*self._names, name}))
            self._changed()

        replaces = name in self._names
        request = SaveWildcard(folder=self.folder(), name=name, text=text, replaces=replaces)
        self._librarian.ask("save_wildcard", request, then=saved, failed=self._failed)

    def drop(self) -> None:
        """Give up all unsaved changes."""
        self._drafts.clear()
        self._changed()

    # ---- answers

    def _follow_folder(self) -> None:
        if self.folder() != self._folder:
            self._folder, self._names, self._name, self._texts, self._drafts = self.folder(), (), "", {}, {}
            self._examples, self._problem = (), ""
            self.loaded.emit()
            self._changed()
            self.refresh()

    def _listed(self, names: Iterable[str]) -> None:
        self._names = tuple(names)
        if not self._name and self._names:
            self.choose(self._names[0])
        self.changed.emit()

    def _read(self, name: str, text: str) -> None:
        self._texts[name] = text
        if name == self._name:
            self.loaded.emit()
            self._changed()

    def _changed(self) -> None:
        self._waiting.start()
        self.changed.emit()

    def _failed(self, failure: Failure) -> None:
        self.message.emit(failure.message)

    def _draw(self) -> None:
        name = self._name
        if not name or self.text() is None:
            return
        if not (self.text() or "").strip():
            self._examples, self._problem = (), ""
            self.changed.emit()
            return

        def take(examples: Iterable[str], problem: str = "") -> None:
            if name == self._name:
                self._examples, self._problem = tuple(dict.fromkeys(examples)), problem
                self.changed.emit()

        request = DrawRequest(prompt=f"__{name}__", wildcards=self.folder(), seeds=_SHOWN, given=dict(self._drafts))
        self._librarian.ask(
            "draw", request, answer=tuple[str, ...], then=take, failed=lambda failure: take((), failure.message)
        )
