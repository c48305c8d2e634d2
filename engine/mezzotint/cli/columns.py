"""Plain-text tables that look the same on a terminal and in a file."""

from collections.abc import Mapping, Sequence

from mezzotint.checkpoints.plain_text import plain

_LIMIT = 4000  # maximum characters per value


def columns(rows: Sequence[tuple[str, ...]]) -> str:
    """Format rows of equal length as a table; each column is as wide as its widest cell."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def number_cell(value: float | None, form: str) -> str:
    """Format a number for a cell; None is an empty cell."""
    return "" if value is None else form.format(value)


def facts(values: Mapping[str, str]) -> str:
    """Format name/value pairs, one per line; untrusted text is sanitized so that it cannot break out of its line."""
    width = max(len(plain(name)) for name in values)
    return "\n".join(f"{plain(name).ljust(width)}  {plain(value, _LIMIT)}".rstrip() for name, value in values.items())
