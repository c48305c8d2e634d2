"""What a folder or a file that a person has added brings, in words."""

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from mezzotint.protocol import ModelInfo

_NAMED = 3  # models that are told by their names

translate = QCoreApplication.translate


def found_words(found: Sequence[ModelInfo]) -> str:
    """Which models are new, and which files are listed though they cannot be used."""
    if not found:
        return translate("Models", "No new models found there; those it has are already in the list.")
    usable = [one.id for one in found if one.problem is None]
    others = [one.id for one in found if one.problem is not None]
    told = []
    if usable:
        words = translate("Models", "Models added (%n): {names}. Select one under Model.", None, len(usable))
        told.append(words.format(names=_some(usable)))
    if others:
        words = translate("Models", "Cannot be used (%n): {names}. The Models page shows why.", None, len(others))
        told.append(words.format(names=_some(others)))
    return " ".join(told)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
