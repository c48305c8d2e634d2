"""Mistakes planted in the kernels' sources, one at a time.

A mistake is a change of the sources' text. Where the text has gone the test fails: plant it anew in what stands there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Bug:
    """A mistake, and what shows it."""

    file: str  # below csrc
    text: str  # stands there once
    becomes: str
    problems: tuple[Any, ...]
    error: str = ""  # what the emulator says, where it is not numbers that are wrong

    def plant(self, sources: Path) -> None:
        """Make the mistake in a copy of the sources."""
        plant(sources, self.file, self.text, self.becomes)

    def check_seen(self, verdicts: Sequence[Any]) -> None:
        """Check that the emulator's verdicts on the problems show it."""
        assert verdicts
        assert not all(verdict.right for verdict in verdicts)
        if self.error:
            assert any(self.error in verdict.error for verdict in verdicts)


def plant(sources: Path, file: str, text: str, becomes: str) -> None:
    """Replace a text that stands once in a file below csrc."""
    path = sources / "csrc" / file
    found = path.read_text("utf-8")
    assert found.count(text) == 1, f"{file} no longer has this once: plant the mistake anew\n{text}"
    path.write_text(found.replace(text, becomes), "utf-8")
