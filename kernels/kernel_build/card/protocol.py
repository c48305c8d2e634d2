"""How the process of a part tells what it does: a line when an item begins, and one for each row."""

import json
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TextIO

MARK = "@gpu-check "  # what such lines begin with; all others are for people
AGAIN = 75  # the status of a process whose card is of no more use to it: what is left is for another


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What became of an item, or one of several figures about it."""

    item: str
    outcome: str = "ok"  # ok, failed, crashed, hung, unavailable (of others), skipped
    problem: str | None = None
    measured: Mapping[str, Any] = field(default_factory=dict)


class Teller:
    """Tells, and knows what other processes have done already."""

    def __init__(self, done: Collection[str] = (), out: TextIO | None = None) -> None:
        self._done, self._out = frozenset(done), out or sys.stdout

    def has(self, item: str) -> bool:
        """Whether it is done."""
        return item in self._done

    def wants(self, item: str) -> bool:
        """Whether it is still to be done; it begins now, if so."""
        if self.has(item):
            return False
        self._tell({"begin": item})
        return True

    def row(self, row: Row) -> None:
        """A row; the one that has the item's own name ends it."""
        named = {"item": row.item, "outcome": row.outcome, "problem": row.problem}
        self._tell({"row": named | {"measured": dict(row.measured)}})

    def _tell(self, words: Mapping[str, Any]) -> None:
        self._out.write(f"\n{MARK}{json.dumps(words)}\n")
        self._out.flush()


def told(line: str) -> str | Row | None:
    """The item that begins, or the row; None for a line that is for people."""
    if not line.startswith(MARK):
        return None
    try:
        words = json.loads(line.removeprefix(MARK))
        return str(words["begin"]) if "begin" in words else Row(**words["row"])
    except (ValueError, KeyError, TypeError):
        return None
