"""Dates as people say them: today, yesterday, a day of this week, a month."""

from datetime import date, datetime

from PySide6.QtCore import QCoreApplication, QDate, QDateTime, QLocale, QTime

_WEEK = 7  # days that are told by their name


def day_of(seconds: float) -> date:
    """The local day of a moment."""
    try:
        return datetime.fromtimestamp(seconds).date()
    except (OverflowError, OSError, ValueError):
        return date(1970, 1, 1)


def section(seconds: float, today: date, locale: QLocale | None = None) -> str:
    """The heading under which a moment stands: equal text, equal section."""
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
    """Day and time, short."""
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
