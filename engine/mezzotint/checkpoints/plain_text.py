"""Formats untrusted text and byte counts for a single line of output."""

_UNITS = (("GB", 2**30), ("MB", 2**20), ("kB", 2**10), ("bytes", 1))


def plain(text: object, limit: int = 120) -> str:
    """The text with line breaks, control and bidirectional characters escaped, cut to `limit` characters."""
    whole = str(text)
    shown = whole if len(whole) <= limit else f"{whole[: limit - 3]}..."
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in shown)


def size(count: int) -> str:
    """A byte count in the largest unit that fits: `6.9 GB`."""
    unit, scale = _unit(count)
    return f"{_number(count, scale)} {unit}"


def size_at_least(count: int) -> str:
    """A byte count rounded up, so that the stated size is sufficient: `15.64 MB`."""
    unit, scale = _unit(count)
    return f"{-(-count * 100 // scale) / 100:.2f}".rstrip("0").rstrip(".") + f" {unit}"


def size_of(done: int, total: int) -> str:
    """Two byte counts in one unit, `3.1 of 6.9 GB`; in bytes where rounding would make them look equal."""
    unit, scale = _unit(total)
    if done < total and _number(done, scale) == _number(total, scale):
        unit, scale = "bytes", 1
    return f"{_number(done, scale)} of {_number(total, scale)} {unit}"


def _unit(count: int) -> tuple[str, int]:
    return next(((unit, scale) for unit, scale in _UNITS if count >= scale), ("bytes", 1))


def _number(count: int, scale: int) -> str:
    return str(count) if scale == 1 else f"{count / scale:.1f}"
