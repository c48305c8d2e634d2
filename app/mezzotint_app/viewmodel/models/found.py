"""Describes the models found in a folder or file that the user has added."""

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from mezzotint.protocol import ModelInfo
from mezzotint_app.plurals import Plurals

_NAMED = 3  # models mentioned by name

translate = QCoreApplication.translate


class ModelsFound(Plurals):
    """Translated plurals of found models."""


def found_words(found: Sequence[ModelInfo]) -> str:
    """Describe which models are new, and which files are listed but unusable."""
    if not found:
        return translate("Models", "No new models found there. LoRAs are in the tab LoRAs.")
    usable = [one.id for one in found if one.problem is None]
    others = [one.id for one in found if one.problem is not None]
    messages = []
    if usable:
        words = ModelsFound.tr("%n models added: {names}. Select one under Model.", "", len(usable))
        messages.append(words.format(names=_some(usable)))
    if others:
        words = ModelsFound.tr("%n files cannot be used: {names}. The Models page shows why.", "", len(others))
        messages.append(words.format(names=_some(others)))
    return " ".join(messages)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
