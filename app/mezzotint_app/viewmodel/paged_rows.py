"""Rows of a list too long to be held: those near where a person looks, by their place in the whole."""

from bisect import bisect_left
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


def runs(rows: Collection[int]) -> list[tuple[int, int]]:
    """Rows that follow each other, as the first and the number of them."""
    found: list[tuple[int, int]] = []
    for row in sorted(set(rows)):
        if found and sum(found[-1]) == row:
            found[-1] = found[-1][0], found[-1][1] + 1
        else:
            found.append((row, 1))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What a page has changed among the rows that were there already."""

    first: int  # of the rows whose content is another; none where last < first
    last: int
    moved: bool  # a row holds another thing than before, not only more about the same


class PagedRows(Generic[T]):
    """A list of which only some rows are known; a row that is not known is None."""

    def __init__(self, key: Callable[[T], Hashable], most: int) -> None:
        self._key, self._most = key, most
        self._rows: dict[int, T] = {}
        self.total = 0

    def get(self, row: int) -> T | None:
        """What stands there, if it is known."""
        return self._rows.get(row)

    def known(self) -> list[int]:
        """The rows that are known, in order."""
        return sorted(self._rows)

    def row_of(self, key: Hashable) -> int | None:
        """Where something stands, if that is known."""
        return next((row for row, item in self._rows.items() if self._key(item) == key), None)

    def key_at(self, row: int) -> Hashable | None:
        """What identifies the thing in that row, if it is known."""
        item = self._rows.get(row)
        return None if item is None else self._key(item)

    def places(self) -> dict[Hashable, int]:
        """Where each known thing stands."""
        return {self._key(item): row for row, item in self._rows.items()}

    def clear(self) -> None:
        """Nothing is known any more."""
        self._rows.clear()
        self.total = 0

    def set(self, row: int, item: T) -> None:
        """Another content of a row."""
        self._rows[row] = item

    def insert(self, row: int, count: int) -> None:
        """Make room for rows that are not known yet."""
        self._rows = {at + count * (at >= row): item for at, item in self._rows.items()}
        self.total += count

    def remove(self, row: int, count: int) -> None:
        """Take rows out."""
        self._rows = {at - count * (at >= row): item for at, item in self._rows.items() if not row <= at < row + count}
        self.total -= count

    def move(self, rows: Collection[int], before: int) -> Callable[[int], int]:
        """Put these rows, in their order, in front of the row `before`; where each row of old stands now."""
        to = _moved(sorted(set(rows)), before)
        self._rows = {to(at): item for at, item in self._rows.items()}
        return to

    def difference(self, first: int, items: Sequence[T]) -> int | None:
        """The first row of a page that held something else until now; None: no known row did."""
        for row, item in enumerate(items, first):
            known = self._rows.get(row)
            if known is not None and self._key(known) != self._key(item):
                return row
        return None

    def take(self, first: int, items: Sequence[T]) -> Taken:
        """Put a page in; what it holds stands nowhere else any more."""
        moved = self.difference(first, items) is not None
        changed = [row for row, item in enumerate(items, first) if self._rows.get(row) != item]
        keys = {self._key(item) for item in items}
        page = range(first, first + len(items))
        elsewhere = [row for row, item in self._rows.items() if row not in page and self._key(item) in keys]
        for row in elsewhere:
            del self._rows[row]
        self._rows.update(enumerate(items, first))
        changed += elsewhere
        return Taken(first=min(changed, default=0), last=max(changed, default=-1), moved=moved or bool(elsewhere))

    def forget_far(self, first: int, last: int) -> list[int]:
        """Forget the rows that are farthest from those, where too many are known; which."""
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
