"""Styles: those that there are, those in use on the Create page, and new ones from its settings or an image."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from mezzotint.library_protocol import ApplyStyle, SaveStyle, Style, StyleName, Styles, StylesImported
from mezzotint.protocol import GenerateRequest
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.create.state import CreateState


class StyleChoices(QObject):
    """Texts of the styles in use surround the prompt; other options are set on the page when a style is chosen."""

    changed = Signal()  # the list
    applied = Signal(object, object)  # a request with a style's options, and the style
    saved = Signal(str)  # name
    imported = Signal(str, str)  # the first new name, and what was imported in words
    message = Signal(str)

    def __init__(self, librarian: Service, state: Stored[CreateState], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._librarian, self._state = librarian, state
        self._all: tuple[Style, ...] = ()
        self._problems: tuple[str, ...] = ()

    def all(self) -> tuple[Style, ...]:
        """Return every style that was read."""
        return self._all

    def problems(self) -> tuple[str, ...]:
        """Return why files of styles could not be read."""
        return self._problems

    def in_use(self) -> tuple[Style, ...]:
        """Return the styles in use, in the order in which they were chosen."""
        return self._state.value().styles

    def is_in_use(self, name: str) -> bool:
        """Whether a style is in use."""
        return any(one.name == name for one in self.in_use())

    def refresh(self, then: Callable[[], None] = lambda: None) -> None:
        """Read the styles again; `then` is called when they are listed."""

        def listed(found: Styles) -> None:
            self._listed(found)
            then()

        self._librarian.ask("styles", answer=Styles, then=listed, failed=self._fail)

    def use(self, style: Style, request: GenerateRequest) -> None:
        """Add a style; `request` is the page's, to which its options are applied."""
        if not self.is_in_use(style.name):
            self._state.change(styles=(*self.in_use(), style))
        if style.settings:
            self._librarian.ask(
                "apply_style",
                ApplyStyle(request=request, style=style.name),
                answer=GenerateRequest,
                then=lambda found: self.applied.emit(found, style),
                failed=self._fail,
            )

    def use_named(self, name: str, request: GenerateRequest) -> None:
        """Add the style of a name, if there is one."""
        found = next((one for one in self._all if one.name == name), None)
        if found is not None:
            self.use(found, request)

    def stop_using(self, name: str) -> None:
        """Remove a style's texts; options that it has set stay."""
        self._state.change(styles=tuple(one for one in self.in_use() if one.name != name))

    def draft(self, request: GenerateRequest, then: Callable[[Style], None]) -> None:
        """Pass a style without a name, of everything that a request sets, to `then`."""
        self._librarian.ask("style_of", request, answer=Style, then=then, failed=self._fail)

    def save(self, style: Style, *, replaces: bool, failed: Callable[[str], None]) -> None:
        """Save a style; `failed` gets the reason if that is impossible."""

        def done(saved: Style) -> None:
            self.refresh(lambda: self.saved.emit(saved.name))

        self._librarian.ask(
            "save_style",
            SaveStyle(style=style, replaces=replaces),
            answer=Style,
            then=done,
            failed=lambda failure: failed(failure.message),
        )

    def remove(self, name: str) -> None:
        """Delete one of the user's styles."""
        self._librarian.ask("remove_style", StyleName(name=name), then=lambda _none: self.refresh(), failed=self._fail)

    def import_file(self, path: str) -> None:
        """Add the styles of another program's file."""
        self._librarian.ask(
            "import_styles", {"path": path}, answer=StylesImported, then=self._imported, failed=self._fail
        )

    def _listed(self, found: Styles) -> None:
        self._all, self._problems = found.styles, found.problems
        known = {one.name: one for one in self._all}
        now = tuple(known.get(one.name, one) for one in self.in_use())
        if now != self.in_use():
            self._state.change(styles=now)
        self.changed.emit()

    def _imported(self, found: StylesImported) -> None:
        added = self.tr("%n styles added", "", len(found.added))
        added = f"{added}: {', '.join(found.added[:5])}" if found.added else added
        there = self.tr("%n were there already", "", found.unchanged) if found.unchanged else ""

        def tell() -> None:
            words = "; ".join(filter(None, (added, there, *found.notices)))
            self.message.emit(words)
            self.imported.emit(next(iter(found.added), ""), words)

        self.refresh(tell)

    def _fail(self, failure: Failure) -> None:
        self.message.emit(failure.message)


def value_text(value: object) -> str:
    """The value of one of a style's settings, as it is shown."""
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
