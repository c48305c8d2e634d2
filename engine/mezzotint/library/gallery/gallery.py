"""The gallery: an index of the images in the output folders, searchable by text, model and rating."""

import sqlite3
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from mezzotint.catalog.place import at_home
from mezzotint.errors import Cancelled, StorageError, UsageError
from mezzotint.library.gallery.reading import folded, read_facts
from mezzotint.library.gallery.scanning import forget, index_files, row_of, scan, upsert
from mezzotint.library.gallery.schema import GalleryDatabase
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
_MOST_WORDS = 16
_WAIT = 0.1  # seconds between cancellation checks while waiting for another scan
_COLUMNS = "id, path, width, height, bytes, made, prompt, model, seed, rating"
_ORDERS = {"newest": "made DESC, id DESC", "oldest": "made, id", "best": "rating DESC, made DESC, id DESC"}

Value = str | int


class Gallery:
    """The index and the star journal; thread-safe."""

    def __init__(self, folder: Path | None = None) -> None:
        folder = folder or state_folder()
        self._stars = StarJournal(folder / "gallery-stars.jsonl")
        self._scanning = threading.Lock()
        self._sent_notices = 0  # number of notices already sent
        self._database = GalleryDatabase(folder / "gallery.db", on_open=self._load_stars)

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
        where, values = _condition(query)
        order = _ORDERS[query.order]
        limit, offset = max(0, min(query.limit, LARGEST_PAGE)), max(0, query.offset)

        def ask(connection: sqlite3.Connection) -> GalleryPage:
            # S608: `where` holds only our own terms; values are bound.
            total = connection.execute(f"SELECT count(*) FROM images WHERE {where}", values).fetchone()[0]  # noqa: S608
            found = connection.execute(
                f"SELECT {_COLUMNS} FROM images WHERE {where} ORDER BY {order} LIMIT ? OFFSET ?",  # noqa: S608
                [*values, limit, offset],
            )
            return GalleryPage(total=total, items=tuple(_item(*row) for row in found))

        return self._database.run(ask)

    def rate(self, rating: Rating) -> None:
        """Rate images: written to the journal first, so that ratings survive the loss of the index."""
        if not 0 <= rating.rating <= MOST_STARS:
            raise UsageError(f"{rating.rating} stars were requested; there are 0 to {MOST_STARS}")
        known = self._database.run(lambda connection: _contents(connection, rating.paths))
        contents = [known.get(path) or self._index_file(path) for path in rating.paths]
        stars = dict.fromkeys(contents, rating.rating)
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

    def _index_file(self, path: str) -> str:
        """Index an image that no scan has found yet; return its content key."""
        try:
            status = Path(path).stat()
        except (OSError, ValueError) as error:
            raise storage_error("read", path, error if isinstance(error, OSError) else OSError(str(error))) from error
        stamp = FileStamp(changed=status.st_mtime_ns, bytes=status.st_size)
        facts = read_facts(Path(path), stamp)
        if facts is None:
            raise StorageError(f"{shown(path)} cannot be read as an image, so it cannot be rated")
        self._database.run(lambda connection: upsert(connection, [row_of(path, stamp, facts)]))
        return facts.content

    def _set_stars(self, connection: sqlite3.Connection, stars: Mapping[str, int]) -> None:
        connection.executemany("INSERT OR REPLACE INTO ratings VALUES (?, ?)", stars.items())
        connection.executemany(
            "UPDATE images SET rating = ? WHERE content = ?", [(number, content) for content, number in stars.items()]
        )
        connection.execute("INSERT OR REPLACE INTO facts VALUES ('stars', ?)", (self._stars.size(),))

    def _load_stars(self, connection: sqlite3.Connection) -> None:
        """Load stars from the journal into a new index, or one that a crash left behind the journal."""
        known = connection.execute("SELECT value FROM facts WHERE name = 'stars'").fetchone()
        if (known[0] if known else 0) != self._stars.size():
            self._set_stars(connection, self._stars.read())


def _contents(connection: sqlite3.Connection, paths: Sequence[str]) -> dict[str, str]:
    """Return the content keys of indexed images, by path."""
    question = "SELECT path, content FROM images WHERE path = ? AND readable"
    return dict(row for path in paths for row in connection.execute(question, (path,)).fetchall())


def _condition(query: GalleryQuery) -> tuple[str, list[Value]]:
    terms, values = ["readable"], list[Value]()
    for word in folded(query.search).split()[:_MOST_WORDS]:
        terms.append("instr(words, ?) > 0")
        values.append(word)
    if query.model is not None:
        terms.append("model = ?")
        values.append(query.model)
    if query.rating > 0:
        terms.append("rating >= ?")
        values.append(query.rating)
    if query.folder is not None:
        inside = str(at_home(Path(query.folder)).absolute() / "x")[:-1]  # ends with the path separator
        terms.append("path >= ? AND path < ?")
        values += [inside, inside[:-1] + chr(ord(inside[-1]) + 1)]
    return " AND ".join(terms), values


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
) -> GalleryItem:
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
    )
