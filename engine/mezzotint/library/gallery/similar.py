"""Images of a query, the most similar to one of them first; how they look is read once, from their thumbnails."""

import sqlite3
import time
from collections.abc import Callable, Sequence

import numpy as np

from mezzotint.errors import Cancelled, MezzotintError
from mezzotint.library.gallery.look import BYTES, distances
from mezzotint.library.gallery.schema import GalleryDatabase
from mezzotint.protocol import IsCancelled, OnEvent, Progress

BATCH = 100  # images per transaction

LookOf = Callable[[str], bytes]  # of an image file


def take_looks(database: GalleryDatabase, look_of: LookOf, tell: OnEvent, cancelled: IsCancelled) -> int:
    """Store how all images look that are not yet known; return how many could not be read. Raises Cancelled."""
    question = (
        "SELECT path, content FROM images WHERE readable AND content NOT IN (SELECT content FROM looks) "
        "ORDER BY made DESC, id DESC"
    )
    waiting = database.run(lambda connection: connection.execute(question).fetchall())
    begun, unread = time.monotonic(), 0
    for first in range(0, len(waiting), BATCH):
        _tell(tell, first, len(waiting), time.monotonic() - begun)
        rows = []
        for path, content in waiting[first : first + BATCH]:
            if cancelled():
                raise Cancelled("stopped; what was read is kept")
            try:
                rows.append((content, look_of(path)))
            except MezzotintError:
                unread += 1
        database.run(lambda connection, rows=rows: _store(connection, rows))  # type: ignore[misc]
    return unread


def by_similarity(connection: sqlite3.Connection, where: str, values: Sequence[object], look: bytes) -> list[int]:
    """Return the ids of the images of a condition, most similar first; those not looked at come last."""
    found = connection.execute(
        # S608: `where` holds only our own terms; values are bound.
        f"SELECT id, look FROM images LEFT JOIN looks USING (content) WHERE {where} ORDER BY made DESC, id DESC",  # noqa: S608
        list(values),
    ).fetchall()
    known = [(number, one) for number, one in found if one is not None and len(one) == BYTES]
    order = np.argsort(distances(look, b"".join(one for _, one in known)), kind="stable")
    return [known[index][0] for index in order] + [number for number, one in found if one is None or len(one) != BYTES]


def keep_look(connection: sqlite3.Connection, path: str, look: bytes) -> None:
    """Store how an indexed image looks."""
    connection.execute(
        "INSERT OR REPLACE INTO looks SELECT content, ? FROM images WHERE path = ? AND readable", (look, path)
    )


def _store(connection: sqlite3.Connection, rows: Sequence[tuple[str, bytes]]) -> None:
    connection.executemany("INSERT OR REPLACE INTO looks VALUES (?, ?)", rows)


def _tell(tell: OnEvent, done: int, total: int, seconds: float) -> None:
    left = seconds / done * (total - done) if done else None
    tell(Progress(what="looks", done=done, total=total, unit="images", seconds_left=left))
