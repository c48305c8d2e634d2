"""The gallery: an index of the images in the output folders, searchable by text, model, rating, board and look."""

import sqlite3
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from mezzotint.errors import Cancelled, StorageError, UsageError
from mezzotint.library.decoding import decode_image, over_white
from mezzotint.library.gallery.boards import GalleryBoards
from mezzotint.library.gallery.labels import LabelJournal
from mezzotint.library.gallery.look import look_of
from mezzotint.library.gallery.named_images import DATABASE
from mezzotint.library.gallery.reading import read_facts
from mezzotint.library.gallery.scanning import forget, index_files, row_of, scan, upsert
from mezzotint.library.gallery.schema import GalleryDatabase
from mezzotint.library.gallery.search import condition
from mezzotint.library.gallery.similar import LookOf, by_similarity, keep_look, take_looks
from mezzotint.library.gallery.stars import MOST_STARS, StarJournal
from mezzotint.library.gallery.walk import FileStamp
from mezzotint.library_protocol import (
    GalleryItem,
    GalleryPage,
    GalleryQuery,
    GalleryScan,
    GalleryScanned,
    Rating,
)
from mezzotint.paths import state_folder
from mezzotint.protocol import IsCancelled, Notice, OnEvent
from mezzotint.trouble import shown, storage_error

LARGEST_PAGE = 500  # images per response, which should stay a line of a few megabytes
_WAIT = 0.1  # seconds between cancellation checks while waiting for another scan
_LOOK_SIDE = 256  # pixels
_COLUMNS = """id, path, width, height, bytes, made, prompt, model, seed, rating,
    (SELECT group_concat(kind || ':' || name, char(10)) FROM labels WHERE labels.content = images.content)"""
_ORDERS = {"newest": "made DESC, id DESC", "oldest": "made, id", "best": "rating DESC, made DESC, id DESC"}


class Gallery:
    """The index and the journals of stars and labels; thread-safe."""

    def __init__(self, folder: Path | None = None) -> None:
        folder = folder or state_folder()
        self._stars = StarJournal(folder / "gallery-stars.jsonl")
        self._scanning = threading.Lock()
        self._sorted: tuple[tuple[object, ...], list[int]] = ((), [])  # by similarity, and for which query
        self._sent_notices = 0  # number of notices already sent
        self._database = GalleryDatabase(folder / DATABASE, on_open=self._load)
        self.boards = GalleryBoards(self._database, LabelJournal(folder / "gallery-labels.jsonl"), self._contents_of)

    def scan(self, request: GalleryScan, tell: OnEvent, cancelled: IsCancelled) -> GalleryScanned:
        """Scan the folders, one scan at a time, since each determines the whole set of images.

        Named files are indexed at once, even during a scan. Raises Cancelled.
        """
        if request.files:
            return index_files(self._database, request, tell, cancelled)
        while not self._scanning.acquire(timeout=_WAIT):
            if cancelled():
                raise Cancelled("stopped")
        try:
            result = scan(self._database, request, tell, cancelled)
            for notice in self.notices()[self._sent_notices :]:
                self._sent_notices += 1
                tell(Notice(code="gallery", message=notice))
            return result
        finally:
            self._scanning.release()

    def query(self, query: GalleryQuery) -> GalleryPage:
        """Return a page of the results, and their total number."""
        limit, offset = max(0, min(query.limit, LARGEST_PAGE)), max(0, query.offset)
        look = None
        if query.order == "similar" and query.similar_to is not None:
            look = self._look(query.similar_to)

        def ask(connection: sqlite3.Connection) -> GalleryPage:
            # S608: `where` holds only our own terms; values are bound.
            where, values = condition(query, self.boards.searches(connection))
            if look is not None:
                key = (where, *values, look, connection.total_changes, _version(connection))
                if self._sorted[0] != key:  # the next pages follow in the same order
                    self._sorted = (key, by_similarity(connection, where, values, look))
                found = self._sorted[1]
                return GalleryPage(total=len(found), items=_items(connection, found[offset : offset + limit]))
            total = connection.execute(f"SELECT count(*) FROM images WHERE {where}", values).fetchone()[0]  # noqa: S608
            order = _ORDERS.get(query.order, _ORDERS["newest"])
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM images WHERE {where} ORDER BY {order} LIMIT ? OFFSET ?",  # noqa: S608
                [*values, limit, offset],
            )
            return GalleryPage(total=total, items=tuple(_item(*row) for row in rows))

        return self._database.run(ask)

    def take_looks(self, look: LookOf, tell: OnEvent, cancelled: IsCancelled) -> int:
        """Read how images look that are not yet known, so that they can be sorted; `look` reads one file's."""
        return take_looks(self._database, look, tell, cancelled)

    def rate(self, rating: Rating) -> None:
        """Rate images: written to the journal first, so that ratings survive the loss of the index."""
        if not 0 <= rating.rating <= MOST_STARS:
            raise UsageError(f"{rating.rating} stars were requested; there are 0 to {MOST_STARS}")
        stars = dict.fromkeys(self._contents_of(rating.paths), rating.rating)
        self._stars.add(stars)
        self._database.run(lambda connection: self._set_stars(connection, stars))

    def forget(self, paths: tuple[str, ...]) -> None:
        """Remove images whose files are gone; their stars are kept in case they return."""
        self._database.run(lambda connection: forget(connection, paths))

    def models(self) -> tuple[str, ...]:
        """Return the distinct model names."""
        question = "SELECT DISTINCT model FROM images WHERE readable AND model <> '' ORDER BY model"
        return self._database.run(lambda connection: tuple(name for (name,) in connection.execute(question)))

    def notices(self) -> tuple[str, ...]:
        """Return notices about the index for the user."""
        return self._database.notices()

    def close(self) -> None:
        """Close the files."""
        self._database.close()

    def _contents_of(self, paths: Sequence[str]) -> list[str]:
        """Return the content keys of images."""
        known = self._database.run(lambda connection: _contents(connection, paths))
        return [known.get(path) or self._index_file(path) for path in paths]

    def _look(self, path: str) -> bytes:
        """Return how an image looks, read from its file and kept if it is not known, so that it is its own nearest."""
        question = "SELECT look FROM images JOIN looks USING (content) WHERE path = ?"
        found = self._database.run(lambda connection: connection.execute(question, (path,)).fetchone())
        if found is not None:
            return bytes(found[0])
        look = look_of(over_white(decode_image(Path(path), _LOOK_SIDE)[0]))
        self._database.run(lambda connection: keep_look(connection, path, look))
        return look

    def _index_file(self, path: str) -> str:
        """Index an image that no scan has found yet; return its content key."""
        try:
            status = Path(path).stat()
        except (OSError, ValueError) as error:
            raise storage_error("read", path, error if isinstance(error, OSError) else OSError(str(error))) from error
        stamp = FileStamp(changed=status.st_mtime_ns, bytes=status.st_size)
        facts = read_facts(Path(path), stamp)
        if facts is None:
            raise StorageError(f"{shown(path)} cannot be read as an image, so it can have neither stars nor boards")
        self._database.run(lambda connection: upsert(connection, [row_of(path, stamp, facts)]))
        return facts.content

    def _set_stars(self, connection: sqlite3.Connection, stars: Mapping[str, int]) -> None:
        connection.executemany("INSERT OR REPLACE INTO ratings VALUES (?, ?)", stars.items())
        connection.executemany(
            "UPDATE images SET rating = ? WHERE content = ?", [(number, content) for content, number in stars.items()]
        )
        connection.execute("INSERT OR REPLACE INTO facts VALUES ('stars', ?)", (self._stars.size(),))

    def _load(self, connection: sqlite3.Connection) -> None:
        """Load the journals into a new index, or one that a crash left behind them."""
        self.boards.load(connection)
        known = connection.execute("SELECT value FROM facts WHERE name = 'stars'").fetchone()
        if (known[0] if known else 0) != self._stars.size():
            self._set_stars(connection, self._stars.read())


def _contents(connection: sqlite3.Connection, paths: Sequence[str]) -> dict[str, str]:
    """Return the content keys of indexed images, by path."""
    question = "SELECT path, content FROM images WHERE path = ? AND readable"
    return dict(row for path in paths for row in connection.execute(question, (path,)).fetchall())


def _version(connection: sqlite3.Connection) -> int:
    """Return a number that changes with what other processes write."""
    return int(connection.execute("PRAGMA data_version").fetchone()[0])


def _items(connection: sqlite3.Connection, numbers: Sequence[int]) -> tuple[GalleryItem, ...]:
    """Return the images with these ids, in their order."""
    question = f"SELECT {_COLUMNS} FROM images WHERE id = ?"  # noqa: S608  our own columns
    return tuple(_item(*row) for number in numbers for row in connection.execute(question, (number,)).fetchall())


def _item(
    number: int,
    path: str,
    width: int,
    height: int,
    size: int,
    made: float,
    prompt: str,
    model: str,
    seed: str | None,
    rating: int,
    labels: str | None,
) -> GalleryItem:
    pairs = [label.split(":", 1) for label in sorted((labels or "").split("\n")) if ":" in label]
    return GalleryItem(
        id=number,
        path=path,
        width=width,
        height=height,
        bytes=size,
        made=made,
        prompt=prompt,
        model=model,
        seed=None if seed is None else int(seed),
        rating=rating,
        boards=tuple(name for kind, name in pairs if kind == "board"),
        tags=tuple(name for kind, name in pairs if kind == "tag"),
    )
