"""Human-readable byte counts and durations; GB is 2^30 bytes."""

import re

from PySide6.QtCore import QCoreApplication, QLocale

from mezzotint_app.plurals import Plurals

_UNITS = (("GB", 2**30), ("MB", 2**20), ("kB", 2**10))
_BEFORE_A_UNIT = re.compile(r"(?<=\d) (?=(GB|MB|kB|h|min|s)\b)")


class Amounts(Plurals):
    """Translation context for byte counts."""


def bytes_text(count: int) -> str:
    """A byte count in the largest unit that fits: "6.9 GB"."""
    for unit, scale in _UNITS:
        if count >= scale:
            return f"{QLocale().toString(count / scale, 'f', 1)} {unit}"
    return Amounts.tr("%n bytes", "", count)


def with_whole_amounts(text: str) -> str:
    """The text with units that do not wrap away from their numbers."""
    return _BEFORE_A_UNIT.sub("\u00a0", text)


def number_text(value: float) -> str:
    """A number formatted for the window's locale, such as 7.5 or 7,5."""
    return QLocale().toString(float(value), "g", 6)


def bytes_of(done: int, total: int) -> str:
    """Two byte counts: "3.1 GB of 6.9 GB"."""
    return QCoreApplication.translate("amounts", "{done} of {total}").format(
        done=bytes_text(done), total=bytes_text(total)
    )


def duration_text(seconds: float) -> str:
    """A duration, rounded to a sensible precision: "12 s", "3 min", "2 h 5 min"."""
    if seconds < 1:
        return QCoreApplication.translate("amounts", "under 1 s")
    if seconds < 90:
        return QCoreApplication.translate("amounts", "{n} s").format(n=round(seconds))
    minutes = round(seconds / 60)
    if minutes < 90:
        return QCoreApplication.translate("amounts", "{n} min").format(n=minutes)
    hours, minutes = divmod(minutes, 60)
    return QCoreApplication.translate("amounts", "{h} h {m} min").format(h=hours, m=minutes)


def about_text(seconds: float) -> str:
    """An approximate duration: "about 3 min"."""
    words = duration_text(seconds)
    return words if seconds < 1 else QCoreApplication.translate("amounts", "about {time}").format(time=words)


def left_text(seconds: float | None) -> str:
    """The time left: "about 3 min left"; empty if unknown."""
    if seconds is None:
        return ""
    if seconds < 1:
        return QCoreApplication.translate("amounts", "nearly done")
    return QCoreApplication.translate("amounts", "about {time} left").format(time=duration_text(seconds))
