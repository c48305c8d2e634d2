"""Boards and tags in the index: written to their journal first, so that they survive the loss of the index."""

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence

from mezzotint.errors import UsageError
from mezzotint.library.gallery.labels import (
    MOST_BOARDS,
    MOST_LABELS,
    BoardLine,
    Label,
    LabelJournal,
    Labels,
    checked_name,
    checked_search,
)
from mezzotint.library.gallery.reading import folded
from mezzotint.library.gallery.schema import GalleryDatabase
from mezzotint.library_protocol import Board, BoardEdit, GalleryTags, Labelling
from mezzotint.trouble import shown

ContentsOf = Callable[[Sequence[str]], list[str]]


class GalleryBoards:
    """Names of images, by their content."""

    def __init__(self, database: GalleryDatabase, journal: LabelJournal, contents_of: ContentsOf) -> None:
        """`contents_of`: returns the content keys of images by their paths."""
        self._database, self._journal, self._contents_of = database, journal, contents_of

    def all(self) -> GalleryTags:
        """Return all boards and tags with the number of their images; a smart board has none."""
        question = (
            "SELECT kind, name, count(images.id) FROM labels LEFT JOIN images USING (content) "
            "WHERE images.readable OR images.id IS NULL GROUP BY kind, name"
        )

        def ask(connection: sqlite3.Connection) -> GalleryTags:
            counts = {(kind, name): number for kind, name, number in connection.execute(question)}
            boards = connection.execute("SELECT name, search FROM boards ORDER BY folded, name").fetchall()
            return GalleryTags(
                boards=tuple(
                    Board(name=name, search=search, count=counts.get(("board", name), 0)) for name, search in boards
                ),
                tags=tuple(sorted((name for kind, name in counts if kind == "tag"), key=folded)),
            )

        return self._database.run(ask)

    def edit(self, edit: BoardEdit) -> None:
        """Create, rename, change or remove a board; images are only no longer on it."""
        name = checked_name(edit.name)
        known = self._database.run(lambda connection: dict(connection.execute("SELECT name, search FROM boards")))
        if edit.remove or (edit.rename is not None and name not in known):
            self._require(name, known)
        if edit.remove:
            self._write(self._relabelled(name, None), [BoardLine(name, gone=True)])
        elif edit.rename is None:
            search = None if edit.search is None else checked_search(edit.search)
            self._refuse_taken(name, known, allowed=name if search is not None else None)
            self._write({}, [BoardLine(name, search)])
        else:
            wanted = checked_name(edit.rename)
            self._refuse_taken(wanted, known, allowed=name)
            lines = [BoardLine(name, gone=True), BoardLine(wanted, known[name])]
            self._write(self._relabelled(name, wanted), lines)

    def label(self, labelling: Labelling) -> None:
        """Put images on boards or take them off, or add and remove tags; new boards are created."""
        added = [(labelling.kind, checked_name(name)) for name in labelling.add]
        removed = {folded(name) for name in labelling.remove}
        contents = list(dict.fromkeys(self._contents_of(labelling.paths)))
        before = self._database.run(lambda connection: {one: _labels_of(connection, one) for one in contents})
        after = {one: _changed(labels, labelling.kind, added, removed) for one, labels in before.items()}
        if any(len(labels) > MOST_LABELS for labels in after.values()):
            raise UsageError(f"an image can be on {MOST_LABELS} boards or have as many tags: remove some first")
        new = [BoardLine(name) for kind, name in added if kind == "board" and not self._is_board(name)]
        self._write({one: labels for one, labels in after.items() if labels != before[one]}, new)

    def searches(self, connection: sqlite3.Connection) -> dict[str, str | None]:
        """Return the searches of all boards, by their folded names."""
        return dict(connection.execute("SELECT folded, search FROM boards"))

    def load(self, connection: sqlite3.Connection) -> None:
        """Load the journal into a new index, or one that a crash left behind the journal."""
        known = connection.execute("SELECT value FROM facts WHERE name = 'labels'").fetchone()
        if (known[0] if known else 0) != self._journal.size():
            found = self._journal.read()
            for table in ("labels", "boards"):
                connection.execute(f"DELETE FROM {table}")  # noqa: S608  our own names
            self._store(connection, found.images, [BoardLine(*board) for board in found.boards.items()])

    def _write(self, images: Mapping[str, Labels], boards: Sequence[BoardLine]) -> None:
        if images or boards:
            self._journal.add(images, boards)
            self._database.run(lambda connection: self._store(connection, images, boards))

    def _store(self, connection: sqlite3.Connection, images: Mapping[str, Labels], boards: Iterable[BoardLine]) -> None:
        for board in boards:
            connection.execute("DELETE FROM boards WHERE name = ?", (board.name,))
            if not board.gone:
                connection.execute(
                    "INSERT INTO boards VALUES (?, ?, ?)", (board.name, folded(board.name), board.search)
                )
        connection.executemany("DELETE FROM labels WHERE content = ?", [(content,) for content in images])
        connection.executemany(
            "INSERT OR REPLACE INTO labels VALUES (?, ?, ?, ?)",
            [(content, kind, folded(name), name) for content, labels in images.items() for kind, name in labels],
        )
        connection.execute("INSERT OR REPLACE INTO facts VALUES ('labels', ?)", (self._journal.size(),))

    def _relabelled(self, board: str, wanted: str | None) -> dict[str, Labels]:
        """Return the labels of all images on a board, without it or with its new name."""

        def ask(connection: sqlite3.Connection) -> dict[str, Labels]:
            on_it = connection.execute(
                "SELECT content FROM labels WHERE kind = 'board' AND name = ?", (board,)
            ).fetchall()
            return {content: _labels_of(connection, content) for (content,) in on_it}

        added: list[Label] = [] if wanted is None else [("board", wanted)]
        found = self._database.run(ask)
        return {content: _changed(labels, "board", added, {folded(board)}) for content, labels in found.items()}

    def _is_board(self, name: str) -> bool:
        """Whether there is a plain board of this name. Raises UsageError if it is smart."""
        found = self._database.run(
            lambda connection: connection.execute(
                "SELECT search FROM boards WHERE folded = ?", (folded(name),)
            ).fetchone()
        )
        if found is not None and found[0] is not None:
            raise UsageError(f"{shown(name)} is a smart board, which its search fills: choose another board")
        return found is not None

    def _require(self, name: str, known: Mapping[str, str | None]) -> None:
        if name not in known:
            raise UsageError(f"there is no board {shown(name)}: it may have been removed or renamed")

    def _refuse_taken(self, name: str, known: Mapping[str, str | None], allowed: str | None) -> None:
        if any(folded(one) == folded(name) for one in known if one != allowed):
            raise UsageError(f"there is already a board {shown(name)}: use another name")
        if len(known) >= MOST_BOARDS and allowed is None:
            raise UsageError(f"there are {MOST_BOARDS} boards already, the most there can be: remove one first")


def _labels_of(connection: sqlite3.Connection, content: str) -> Labels:
    found = connection.execute("SELECT kind, name FROM labels WHERE content = ? ORDER BY kind, folded", (content,))
    return tuple((kind, name) for kind, name in found)


def _changed(labels: Labels, kind: str, added: Sequence[Label], removed: set[str]) -> Labels:
    known = {folded(name) for _, name in added}
    kept = [one for one in labels if one[0] != kind or folded(one[1]) not in removed | known]
    return (*kept, *dict.fromkeys(added))
