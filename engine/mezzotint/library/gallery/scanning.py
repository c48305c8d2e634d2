"""Scan the output folders for changes and update the gallery's index."""

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from mezzotint.errors import Cancelled
from mezzotint.library.gallery.reading import ImageFacts, read_facts
from mezzotint.library.gallery.schema import GalleryDatabase
from mezzotint.library.gallery.walk import FileStamp, WalkResult, walk, walk_files
from mezzotint.library_protocol import GalleryScan, GalleryScanned
from mezzotint.protocol import IsCancelled, Notice, OnEvent, Progress
from mezzotint.trouble import shown

_MOST_NOTICES = 8
BATCH = 100  # images per transaction; queries in between see what is already written

_UPSERT = """
INSERT INTO images
    (path, changed, bytes, readable, made, width, height, model, seed, content, prompt, words, rating)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, coalesce((SELECT rating FROM ratings WHERE content = ?10), 0))
ON CONFLICT (path) DO UPDATE SET
    changed = excluded.changed, bytes = excluded.bytes, readable = excluded.readable, made = excluded.made,
    width = excluded.width, height = excluded.height, model = excluded.model, seed = excluded.seed,
    content = excluded.content, prompt = excluded.prompt, words = excluded.words, rating = excluded.rating
"""
_NO_FACTS = ImageFacts(width=0, height=0, model="", seed=None, content="", prompt="", words="")

Row = tuple[object, ...]


def scan(
    database: GalleryDatabase,
    request: GalleryScan,
    tell: OnEvent,
    cancelled: IsCancelled,
    clock: Callable[[], float] = time.monotonic,
) -> GalleryScanned:
    """Make the index match the images of these folders; images in unreadable folders stay. Raises Cancelled."""
    known = database.run(_known)  # before the walk, so that files indexed by name meanwhile do not count as gone
    walked = walk(request.folders, cancelled)
    _tell_faults(walked, known, tell)
    changed = [path for path, stamp in walked.files.items() if known.get(path) != stamp]
    changed.sort(key=lambda path: -walked.files[path].changed)  # newest first
    added = _read(database, [(path, walked.files[path]) for path in changed], set(known), tell, cancelled, clock)
    gone = [path for path in known if path not in walked.files and not _is_unseen(path, walked)]
    return database.run(lambda connection: _finish(connection, gone, added, walked))


def index_files(
    database: GalleryDatabase,
    request: GalleryScan,
    tell: OnEvent,
    cancelled: IsCancelled,
    clock: Callable[[], float] = time.monotonic,
) -> GalleryScanned:
    """Update the index for these files of the folders, without scanning others. Raises Cancelled."""
    walked, gone = walk_files(request.files, request.folders)
    known = database.run(lambda connection: _known_of(connection, walked.files))
    changed = [(path, stamp) for path, stamp in walked.files.items() if known.get(path) != stamp]
    added = _read(database, changed, set(known), tell, cancelled, clock)
    return database.run(lambda connection: _finish(connection, gone, added, walked))


def forget(connection: sqlite3.Connection, paths: Sequence[str]) -> int:
    """Remove images from the index by path; return how many readable ones there were."""
    return sum(
        bool(readable)
        for path in paths
        for (readable,) in connection.execute(
            "DELETE FROM images WHERE path = ? RETURNING readable", (path,)
        ).fetchall()
    )


def row_of(path: str, stamp: FileStamp, facts: ImageFacts | None) -> Row:
    """Return the row of an image, or of a file that is not one, for `upsert`."""
    some = facts or _NO_FACTS
    return (
        *(path, stamp.changed, stamp.bytes, facts is not None, stamp.changed / 1e9, some.width, some.height),
        *(some.model, None if some.seed is None else str(some.seed), some.content, some.prompt, some.words),
    )


def upsert(connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
    """Insert or update images; their stars are looked up by content."""
    connection.executemany(_UPSERT, rows)


def _known(connection: sqlite3.Connection) -> dict[str, FileStamp]:
    rows = connection.execute("SELECT path, changed, bytes FROM images")
    return {path: FileStamp(changed=changed, bytes=size) for path, changed, size in rows}


def _known_of(connection: sqlite3.Connection, paths: Iterable[str]) -> dict[str, FileStamp]:
    question = "SELECT path, changed, bytes FROM images WHERE path = ?"
    rows = (row for path in paths for row in connection.execute(question, (path,)).fetchall())
    return {path: FileStamp(changed=changed, bytes=size) for path, changed, size in rows}


def _read(
    database: GalleryDatabase,
    files: Sequence[tuple[str, FileStamp]],
    known: set[str],
    tell: OnEvent,
    cancelled: IsCancelled,
    clock: Callable[[], float],
) -> int:
    """Read files and index them in batches; return how many images are new."""
    added, begun = 0, clock()
    for first, batch in _batches(files):
        tell(_progress(first, len(files), clock() - begun))
        rows = []
        for path, stamp in batch:
            if cancelled():
                raise Cancelled("stopped; what was read is kept")
            facts = read_facts(Path(path), stamp)
            rows.append(row_of(path, stamp, facts))
            added += facts is not None and path not in known
        database.run(lambda connection, rows=rows: upsert(connection, rows))  # type: ignore[misc]
    tell(_progress(len(files), len(files), clock() - begun))
    return added


def _batches(files: Sequence[tuple[str, FileStamp]]) -> Iterator[tuple[int, Sequence[tuple[str, FileStamp]]]]:
    return ((first, files[first : first + BATCH]) for first in range(0, len(files), BATCH))


def _progress(done: int, total: int, seconds: float) -> Progress:
    left = seconds / done * (total - done) if done else None
    return Progress(what="scan", done=done, total=total, unit="images", seconds_left=left)


def _is_unseen(path: str, walked: WalkResult) -> bool:
    """Whether `path` is in a folder that could not be read, e.g. on an unplugged disk."""
    return any(Path(path).is_relative_to(folder) for folder in walked.unseen)


def _finish(connection: sqlite3.Connection, gone: Sequence[str], added: int, walked: WalkResult) -> GalleryScanned:
    removed = forget(connection, gone)
    total, files = connection.execute("SELECT coalesce(sum(readable), 0), count(*) FROM images").fetchone()
    return GalleryScanned(added=added, removed=removed, total=total, unreadable=files - total + walked.unusable)


def _tell_faults(walked: WalkResult, known: Iterable[str], tell: OnEvent) -> None:
    for folder in walked.unseen[:_MOST_NOTICES]:
        if any(Path(path).is_relative_to(folder) for path in known):
            message = f"{shown(folder)} cannot be read; its images stay as they were"
            tell(Notice(code="folder_unseen", message=message))
    if walked.cut:
        message = f"more than {len(walked.files)} images are in the output folders; the others are not shown"
        tell(Notice(code="gallery_cut", message=message))
