"""Translated names and tooltips of the options that the engine declares."""

from PySide6.QtCore import QCoreApplication

from mezzotint.option import Option

CONTEXT = "Options"


def label(option: Option) -> str:
    """Return the option's name."""
    return QCoreApplication.translate(CONTEXT, option.label)


def tooltip(option: Option) -> str:
    """Return the option's help text with a capital first letter."""
    message = QCoreApplication.translate(CONTEXT, option.help)
    return message[:1].upper() + message[1:]
