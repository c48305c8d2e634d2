"""The light and dark themes: named colours, a palette and a stylesheet. Copper on warm grey."""

from functools import cache
from typing import Literal

from PySide6.QtCore import QObject, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication

from mezzotint_app.stylesheet import stylesheet

Choice = Literal["system", "light", "dark"]

LIGHT = {
    "window": "#f4f2ef",
    "surface": "#ffffff",
    "raised": "#e9e6e1",
    "selected": "#f1e2d2",
    "text": "#1d1b19",
    "muted": "#5d5953",
    "accent": "#8a4f1d",
    "accent_text": "#ffffff",
    "danger": "#a8261e",
    "warning": "#6f4e00",
    "good": "#23633a",
    "line": "#d3cfc8",
    "control": "#8b867e",
    "focus": "#8a4f1d",
    "canvas": "#dedad4",
}
DARK = {
    "window": "#1a1a1c",
    "surface": "#232326",
    "raised": "#2f2f34",
    "selected": "#45362a",
    "text": "#ececee",
    "muted": "#adadb5",
    "accent": "#e0a667",
    "accent_text": "#1a1a1c",
    "danger": "#f58c7d",
    "warning": "#e6b95c",
    "good": "#86c78d",
    "line": "#3b3b41",
    "control": "#7d7d86",
    "focus": "#f0be88",
    "canvas": "#131315",
}


class Changes(QObject):
    """Signals that the colours have changed."""

    changed = Signal()


class _Current:
    colours = LIGHT
    choice: Choice = "system"


@cache
def changes() -> Changes:
    """The object that signals colour changes."""
    return Changes()


def colour(name: str) -> QColor:
    """A colour of the current theme."""
    return QColor(_Current.colours[name])


def choice() -> Choice:
    """The chosen theme."""
    return _Current.choice


def is_dark() -> bool:
    """Whether the dark theme is in use."""
    return _Current.colours is DARK


def apply(application: QApplication, choice: Choice = "system") -> None:
    """Apply a theme; "system" also follows later changes of the system's theme."""
    hints = application.styleHints()
    _Current.choice = choice
    scheme = {"light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark, "system": Qt.ColorScheme.Unknown}[choice]
    first = not application.property("themed")
    if first:
        application.setStyle("Fusion")
    with QSignalBlocker(hints):
        hints.setColorScheme(scheme)
    _use(application, _wanted(application))
    if first:
        application.setProperty("themed", True)
        hints.colorSchemeChanged.connect(lambda _scheme: _follow(application))


def _follow(application: QApplication) -> None:
    """Follow the system's colour scheme; it may also report, later, a change made here."""
    wanted = _wanted(application)
    if wanted is not _Current.colours:
        _use(application, wanted)


def _wanted(application: QApplication) -> dict[str, str]:
    choice = _Current.choice
    dark = choice == "dark" or (choice == "system" and application.styleHints().colorScheme() == Qt.ColorScheme.Dark)
    return DARK if dark else LIGHT


def _use(application: QApplication, colours: dict[str, str]) -> None:
    _Current.colours = colours
    application.setStyleSheet("")  # replacing one sheet by another would style each widget several times
    application.setPalette(_palette(colours))
    application.setStyleSheet(stylesheet(colours, "dark" if colours is DARK else "light"))
    changes().changed.emit()


def _palette(colours: dict[str, str]) -> QPalette:
    roles = QPalette.ColorRole
    palette = QPalette()
    for role, name in {
        roles.Window: "window",
        roles.WindowText: "text",
        roles.Base: "surface",
        roles.AlternateBase: "window",
        roles.Text: "text",
        roles.PlaceholderText: "muted",
        roles.Button: "raised",
        roles.ButtonText: "text",
        roles.BrightText: "danger",
        roles.Highlight: "accent",
        roles.HighlightedText: "accent_text",
        roles.Link: "accent",
        roles.ToolTipBase: "raised",
        roles.ToolTipText: "text",
        roles.Mid: "line",
        roles.Dark: "line",
        roles.Light: "surface",
        roles.Accent: "accent",
    }.items():
        palette.setColor(role, QColor(colours[name]))
    for role in (roles.WindowText, roles.Text, roles.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, role, QColor(colours["control"]))
    return palette
