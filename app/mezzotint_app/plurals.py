"""Plural texts for modules without a QObject, as lupdate recognizes plurals only in calls of `tr`."""

from PySide6.QtCore import QCoreApplication


class Plurals:
    """A base class: the subclass's name is the translation context, for lupdate and at runtime."""

    @classmethod
    def tr(cls, text: str, comment: str, number: int) -> str:
        """The plural form of `text` for `number`, which replaces %n or %Ln."""
        return QCoreApplication.translate(cls.__name__, text, comment, number)
