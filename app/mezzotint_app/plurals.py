"""Texts with a number in modules that have no QObject: lupdate knows plurals only in calls of `tr`."""

from PySide6.QtCore import QCoreApplication


class Plurals:
    """To be derived from: the name of the class is the context of its texts, for lupdate as when it runs."""

    @classmethod
    def tr(cls, text: str, comment: str, number: int) -> str:
        """The form of the text that goes with a number, which takes the place of %n, or %Ln."""
        return QCoreApplication.translate(cls.__name__, text, comment, number)
