"""Dates in everyday terms: today, yesterday, a weekday, a month."""

from datetime import date, datetime

from PySide6.QtCore import QCoreApplication, QDate, QDateTime, QLocale, QTime

_WEEK = 7  # days within which a date is shown as its weekday


def day_of(seconds: float) -> date:
    """Return the local date of a Unix timestamp; 1970-01-01 if it is out of range."""
    try:
        return datetime.fromtimestamp(seconds).date()
    except (OverflowError, OSError, ValueError):
        return date(1970, 1, 1)


def section(seconds: float, today: date, locale: QLocale | None = None) -> str:
    """Return the section heading for a timestamp; items with equal headings belong to the same section."""
    locale = locale or QLocale()
    day = day_of(seconds)
    ago = (today - day).days
    if ago == 0:
        return QCoreApplication.translate("Dates", "Today")
    if ago == 1:
        return QCoreApplication.translate("Dates", "Yesterday")
    if 1 < ago < _WEEK:
        return locale.standaloneDayName(day.isoweekday())
    return locale.toString(_qdate(day), "MMMM yyyy")


def moment(seconds: float, locale: QLocale | None = None) -> str:
    """Return the date and time in the locale's short format."""
    locale = locale or QLocale()
    day = day_of(seconds)
    try:
        local = datetime.fromtimestamp(seconds)
    except (OverflowError, OSError, ValueError):
        local = datetime(1970, 1, 1)
    when = QDateTime(_qdate(day), QTime(local.hour, local.minute))
    return locale.toString(when, QLocale.FormatType.ShortFormat)


def _qdate(day: date) -> QDate:
    return QDate(day.year, day.month, day.day)
