"""What the window says of options, which the engine declares: names and tooltips, translated."""

from PySide6.QtCore import QCoreApplication

from mezzotint.option import Option

CONTEXT = "Options"


def label(option: Option) -> str:
    """Its name."""
    return QCoreApplication.translate(CONTEXT, option.label)


def tooltip(option: Option) -> str:
    """Its help, as a sentence."""
    told = QCoreApplication.translate(CONTEXT, option.help)
    return told[:1].upper() + told[1:]
