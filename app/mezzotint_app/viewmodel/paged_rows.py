"""Sparse rows of a list too long to keep in memory: those near the visible part, by row number."""

from bisect import bisect_left
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


def runs(rows: Collection[int]) -> list[tuple[int, int]]:
    """Group rows into contiguous runs of (first row, count)."""
    found: list[tuple[int, int]] = []
    for row in sorted(set(rows)):
        if found and sum(found[-1]) == row:
            found[-1] = found[-1][0], found[-1][1] + 1
        else:
            found.append((row, 1))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class PageChange:
    """How a page changed the rows that were already known."""

    first: int  # rows with changed content; none where last < first
    last: int
    moved: bool  # a row now holds a different item, not just a changed version of the same


class PagedRows(Generic[T]):
    """A list of which only some rows are known; unknown rows are None."""

    def __init__(self, key: Callable[[T], Hashable], most: int) -> None:
        self._key, self._most = key, most
        self._rows: dict[int, T] = {}
        self.total = 0

    def get(self, row: int) -> T | None:
        """Return the item in `row`, or None if unknown."""
        return self._rows.get(row)

    def known(self) -> list[int]:
        """Return the known rows in order."""
        return sorted(self._rows)

    def row_of(self, key: Hashable) -> int | None:
        """Return the row of the item with this key, or None if unknown."""
        return next((row for row, item in self._rows.items() if self._key(item) == key), None)

    def key_at(self, row: int) -> Hashable | None:
        """Return the key of the item in `row`, or None if unknown."""
        item = self._rows.get(row)
        return None if item is None else self._key(item)

    def places(self) -> dict[Hashable, int]:
        """Return the row of each known item by its key."""
        return {self._key(item): row for row, item in self._rows.items()}

    def clear(self) -> None:
        """Forget all rows."""
        self._rows.clear()
        self.total = 0

    def set(self, row: int, item: T) -> None:
        """Replace the item in `row`."""
        self._rows[row] = item

    def insert(self, row: int, count: int) -> None:
        """Insert `count` unknown rows."""
        self._rows = {at + count * (at >= row): item for at, item in self._rows.items()}
        self.total += count

    def remove(self, row: int, count: int) -> None:
        """Remove rows."""
        self._rows = {at - count * (at >= row): item for at, item in self._rows.items() if not row <= at < row + count}
        self.total -= count

    def move(self, rows: Collection[int], before: int) -> Callable[[int], int]:
        """Move `rows`, in their order, in front of row `before`; returns the mapping from old to new rows."""
        to = _moved(sorted(set(rows)), before)
        self._rows = {to(at): item for at, item in self._rows.items()}
        return to

    def difference(self, first: int, items: Sequence[T]) -> int | None:
        """Return the first row of a page that holds a different item than before, or None if no known row does."""
        for row, item in enumerate(items, first):
            known = self._rows.get(row)
            if known is not None and self._key(known) != self._key(item):
                return row
        return None

    def take(self, first: int, items: Sequence[T]) -> PageChange:
        """Store a page; its items are removed from any other row."""
        moved = self.difference(first, items) is not None
        changed = [row for row, item in enumerate(items, first) if self._rows.get(row) != item]
        keys = {self._key(item) for item in items}
        page = range(first, first + len(items))
        elsewhere = [row for row, item in self._rows.items() if row not in page and self._key(item) in keys]
        for row in elsewhere:
            del self._rows[row]
        self._rows.update(enumerate(items, first))
        changed += elsewhere
        return PageChange(first=min(changed, default=0), last=max(changed, default=-1), moved=moved or bool(elsewhere))

    def forget_far(self, first: int, last: int) -> list[int]:
        """If too many rows are known, forget those farthest from the given range; returns them."""
        over = len(self._rows) - self._most
        if over <= 0:
            return []
        far = sorted(self._rows, key=lambda row: max(first - row, row - last))[-over:]
        far = [row for row in far if not first <= row <= last]
        for row in far:
            del self._rows[row]
        return far


def _moved(moving: Sequence[int], before: int) -> Callable[[int], int]:
    first = before - bisect_left(moving, before)

    def to(row: int) -> int:
        rank = bisect_left(moving, row)
        if rank < len(moving) and moving[rank] == row:
            return first + rank
        return row - rank + (len(moving) if row - rank >= first else 0)

    return to
