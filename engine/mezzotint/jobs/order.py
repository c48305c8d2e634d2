"""The order in which entries are processed."""

import math
from collections.abc import Collection
from itertools import pairwise

from mezzotint.errors import UsageError
from mezzotint.jobs.listing import id_list
from mezzotint.jobs.storage.database import Database


def move(database: Database, entries: Collection[int], before: int | None) -> None:
    """Move entries before another, or to the end, keeping their order."""
    moving = set(entries)
    with database.writing():
        free = free_positions(database, len(moving), before=before, moving=moving)
        ordered = database.connection.execute(
            "SELECT id FROM entries WHERE id IN (SELECT value FROM json_each(?)) ORDER BY position, id",
            (id_list(moving),),
        ).fetchall()
        pairs = [(position, number) for position, (number,) in zip(free, ordered, strict=False)]
        database.insert_many("UPDATE entries SET position = ? WHERE id = ?", pairs)


def next_waiting(database: Database) -> int | None:
    """Return the entry that a new one must precede to be processed next."""
    found = database.connection.execute(
        "SELECT id FROM entries WHERE waiting > 0 ORDER BY position, id LIMIT 1"
    ).fetchone()
    return found[0] if found else None


def free_positions(database: Database, number: int, *, before: int | None, moving: Collection[int] = ()) -> list[float]:
    """Return positions for new entries before another or at the end; renumbers all entries if there is no room."""
    for _ in range(2):
        low, high = _neighbours(database, before, moving)
        step = 1.0 if high == math.inf else (high - low) / (number + 1)
        free = [low + step * (one + 1) for one in range(number)]
        if all(a < b for a, b in pairwise([low, *free, high])):
            return free
        database.change(
            "UPDATE entries SET position = spread.place FROM "
            "(SELECT id, row_number() OVER (ORDER BY position, id) AS place FROM entries) AS spread "
            "WHERE entries.id = spread.id"
        )
    raise UsageError(f"{number} entries are too many to move at once: move fewer")


def _neighbours(database: Database, before: int | None, moving: Collection[int]) -> tuple[float, float]:
    """Return the positions between which there is room: of the preceding and the following entry."""
    high = (math.inf, 0)
    if before is not None:
        found = database.row("SELECT position, id FROM entries WHERE id = ?", before)
        if found is None:
            raise UsageError(f"the queue has no entry {before}: it may have been removed")
        high = (found[0], found[1])
    low = database.row(
        "SELECT position FROM entries WHERE (position, id) < (?, ?) AND id NOT IN (SELECT value FROM json_each(?)) "
        "ORDER BY position DESC, id DESC LIMIT 1",
        *high,
        id_list(moving),
    )
    if low is not None:
        return low[0], high[0]
    return (0.0 if high[0] == math.inf else high[0] - 1.0), high[0]
