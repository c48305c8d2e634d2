"""The window's language: the one chosen in Settings, or else the system's, or else English."""

import json
import lzma
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from mezzotint_app.settings import settings_path

LANGUAGES = {"en": "English", "de": "Deutsch"}  # names in the language itself
SOURCE = "en"  # the language of the texts in the code
_loaded: list[bytes] = []  # catalogues that translators read from


def catalogues() -> Path:
    """The folder of the compiled translation catalogues."""
    return Path(__file__).parent / "translations"


def chosen(wanted: str, system: Sequence[str]) -> str:
    """The code of a supported language: `wanted`, or else the first match in `system`, or else English."""
    for name in (wanted, *system):
        code = name.replace("_", "-").partition("-")[0].lower()
        if code in LANGUAGES:
            return code
    return SOURCE


def stored() -> str:
    """The language setting, read before the settings are loaded; errors in the file are reported when that happens."""
    try:
        return str(json.loads(settings_path().read_text("utf-8"))["language"])
    except (OSError, ValueError, LookupError, TypeError):
        return ""


def install(application: QCoreApplication, wanted: str = "") -> tuple[QTranslator, ...]:
    """Translate all texts created from now on, including Qt's own, and set the locale for numbers and dates."""
    code = chosen(wanted, QLocale.system().uiLanguages())
    _set_locale(QLocale(code).language())
    ours, qts = QTranslator(application), QTranslator(application)
    _load(ours, catalogues() / f"mezzotint_{code}.qm.xz")
    qts.load(f"qtbase_{code}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath))
    for translator in (qts, ours):
        application.installTranslator(translator)
    return qts, ours


def _load(translator: QTranslator, path: Path) -> None:
    _loaded.append(lzma.decompress(path.read_bytes()))
    translator.load(_loaded[-1])


def _set_locale(language: QLocale.Language) -> None:
    """Use month names in the window's language, and the system's formats where it uses the same language."""
    now = QLocale()
    is_plain_english = now.language() == QLocale.Language.C and language == QLocale.Language.English
    if now.language() != language and not is_plain_english:
        QLocale.setDefault(QLocale(language, now.territory()))
