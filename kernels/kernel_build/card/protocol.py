"""Protocol between a part's process and gpu-check: one line when an item begins, one per row."""

import json
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TextIO

MARK = "@gpu-check "  # prefix of protocol lines; all other lines are for people
AGAIN = 75  # exit status of a process that can no longer use the GPU: another one should do the rest


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Result of an item, or one of several figures about it."""

    item: str
    outcome: str = "ok"  # ok, failed, crashed, hung, unavailable (peers only), skipped
    problem: str | None = None
    measured: Mapping[str, Any] = field(default_factory=dict)


class Teller:
    """Writes protocol lines, and knows which items earlier processes completed."""

    def __init__(self, done: Collection[str] = (), out: TextIO | None = None) -> None:
        self._done, self._out = frozenset(done), out or sys.stdout

    def has(self, item: str) -> bool:
        """Whether the item is already done."""
        return item in self._done

    def wants(self, item: str) -> bool:
        """Whether the item is still to be done; if so, announces that it begins."""
        if self.has(item):
            return False
        self._tell({"begin": item})
        return True

    def row(self, row: Row) -> None:
        """Report a row; a row with the item's own name completes the item."""
        named = {"item": row.item, "outcome": row.outcome, "problem": row.problem}
        self._tell({"row": named | {"measured": dict(row.measured)}})

    def _tell(self, words: Mapping[str, Any]) -> None:
        self._out.write(f"\n{MARK}{json.dumps(words)}\n")
        self._out.flush()


def told(line: str) -> str | Row | None:
    """Parse a line: the item that begins, a row, or None if it is not a protocol line."""
    if not line.startswith(MARK):
        return None
    try:
        words = json.loads(line.removeprefix(MARK))
        return str(words["begin"]) if "begin" in words else Row(**words["row"])
    except (ValueError, KeyError, TypeError):
        return None
