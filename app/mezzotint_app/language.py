"""The language of the window: the one chosen in Settings, else the system's, else English."""

import json
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from mezzotint_app.settings import settings_path

LANGUAGES = {"en": "English", "de": "Deutsch"}  # each by its own name
SOURCE = "en"  # what the texts in the code are written in


def catalogues() -> Path:
    """The folder of the compiled catalogues."""
    return Path(__file__).parent / "translations"


def chosen(wanted: str, system: Sequence[str]) -> str:
    """The code of a language that there is: the one wanted, else the first of the system's, else English."""
    for name in (wanted, *system):
        code = name.replace("_", "-").partition("-")[0].lower()
        if code in LANGUAGES:
            return code
    return SOURCE


def stored() -> str:
    """The setting, read before anything is translated; what is wrong with the file is told when all of it is read."""
    try:
        return str(json.loads(settings_path().read_text("utf-8"))["language"])
    except (OSError, ValueError, LookupError, TypeError):
        return ""


def install(application: QCoreApplication, wanted: str = "") -> tuple[QTranslator, ...]:
    """Translate all texts that are made from now on, and Qt's own; numbers and dates are written accordingly."""
    code = chosen(wanted, QLocale.system().uiLanguages())
    _set_locale(QLocale(code).language())
    ours, qts = QTranslator(application), QTranslator(application)
    ours.load(f"mezzotint_{code}", str(catalogues()))
    qts.load(f"qtbase_{code}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath))
    for translator in (qts, ours):
        application.installTranslator(translator)
    return qts, ours


def _set_locale(language: QLocale.Language) -> None:
    """Months in the words of the window; the system's own formats where it speaks the same language."""
    now = QLocale()
    is_plain_english = now.language() == QLocale.Language.C and language == QLocale.Language.English
    if now.language() != language and not is_plain_english:
        QLocale.setDefault(QLocale(language, now.territory()))
