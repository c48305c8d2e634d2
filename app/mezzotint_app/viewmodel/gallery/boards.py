"""Boards and tags of the gallery, and changes of them."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from mezzotint.library_protocol import (
    Board,
    BoardEdit,
    GalleryItem,
    GalleryQuery,
    GalleryTags,
    LabelKind,
    Labelling,
)
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.viewmodel.gallery.gallery import MAX_PER_REQUEST, GalleryModel


class GalleryBoards(QObject):
    """The boards as the library service has them; the gallery's list follows changes."""

    changed = Signal()
    failed = Signal(str)

    def __init__(self, librarian: Service, model: GalleryModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._librarian, self._model = librarian, model
        self._known = GalleryTags(boards=(), tags=())

    def all(self) -> tuple[Board, ...]:
        """Return all boards."""
        return self._known.boards

    def plain(self) -> tuple[str, ...]:
        """Return the names of the boards that images are put on."""
        return tuple(board.name for board in self._known.boards if board.search is None)

    def tags(self) -> tuple[str, ...]:
        """Return all tags."""
        return self._known.tags

    def refresh(self) -> None:
        """Ask for them again."""
        self._librarian.ask("gallery.boards", answer=GalleryTags, then=self._have, failed=lambda _why: None)

    def show(self, name: str | None) -> None:
        """Show the images of a board only; None: all."""
        self._model.narrow(board=name)

    def put(self, items: Sequence[GalleryItem], name: str, *, on: bool = True) -> None:
        """Put images on a board, or take them off."""
        self.put_paths([item.path for item in items], name, on=on)

    def put_paths(self, paths: Sequence[str], name: str, *, on: bool = True) -> None:
        """Put image files on a board, or take them off."""
        self._label(paths, "board", (name,) if on else (), () if on else (name,))

    def tag(self, items: Sequence[GalleryItem], before: Sequence[str], text: str) -> None:
        """Set the tags of images to those in `text`, separated by commas, in place of the common ones `before`."""
        wanted = tuple(dict.fromkeys(filter(None, (" ".join(one.split()) for one in text.split(",")))))
        removed = tuple(one for one in before if one not in wanted)
        added = tuple(one for one in wanted if one not in before)
        if added or removed:
            self._label([item.path for item in items], "tag", added, removed)

    def create(self, name: str) -> None:
        """Create an empty board."""
        self._edit(BoardEdit(name=name))

    def save_search(self, name: str) -> None:
        """Create a smart board of what is searched for, or change the one of that name."""
        query = self._model.query()
        within = next((board.search for board in self.all() if board.name == query.board), None)
        if within is not None:  # a smart board's own search, since boards in a search are plain ones
            query = replace(query, board=None, search=f"{within} {query.search}".strip())
        self._edit(BoardEdit(name=name, search=search_of(query)))

    def rename(self, name: str, wanted: str) -> None:
        """Rename a board."""
        if wanted != name:
            self._edit(BoardEdit(name=name, rename=wanted), wanted if self._model.query().board == name else None)

    def remove(self, name: str) -> None:
        """Remove a board; its images stay."""
        if self._model.query().board == name:
            self.show(None)
        self._edit(BoardEdit(name=name, remove=True))

    def _label(self, paths: Sequence[str], kind: LabelKind, add: tuple[str, ...], remove: tuple[str, ...]) -> None:
        for first in range(0, len(paths), MAX_PER_REQUEST):
            some = tuple(paths[first : first + MAX_PER_REQUEST])
            self._librarian.ask(
                "gallery.label",
                Labelling(paths=some, kind=kind, add=add, remove=remove),
                then=lambda _none: self._done(),
                failed=self._refused,
            )

    def _edit(self, edit: BoardEdit, then_show: str | None = None) -> None:
        def done(_none: object) -> None:
            if then_show is not None:
                self.show(then_show)
            self._done()

        self._librarian.ask("gallery.board", edit, then=done, failed=self._refused)

    def _done(self) -> None:
        self.refresh()
        self._model.refresh()

    def _have(self, known: GalleryTags) -> None:
        if known != self._known:
            self._known = known
            self.changed.emit()

    def _refused(self, failure: Failure) -> None:
        self.failed.emit(failure.message)
        self.refresh()


def search_of(query: GalleryQuery) -> str:
    """Return a query's conditions as the text of a search."""
    terms = [query.search]
    if query.model:
        terms.append(f'model:"{query.model}"')
    if query.rating:
        terms.append(f"stars:{query.rating}")
    if query.board:
        terms.append(f'board:"{query.board}"')
    return " ".join(filter(None, terms))


def common_tags(items: Sequence[GalleryItem]) -> tuple[str, ...]:
    """Return the tags that all of these images have."""
    first, *others = items
    return tuple(tag for tag in first.tags if all(tag in item.tags for item in others))
