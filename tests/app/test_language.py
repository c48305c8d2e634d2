"""Which language the window speaks, and that it does."""

import json

import pytest
from PySide6.QtCore import QCoreApplication, QLocale
from PySide6.QtWidgets import QAbstractButton, QDialogButtonBox

from mezzotint_app import language, main
from mezzotint_app.amounts import bytes_text, number_text
from mezzotint_app.settings import Settings, settings_path
from mezzotint_app.viewmodel.queue.texts import images_count


@pytest.fixture
def installed(qapp):
    """Installs languages, and takes them away at the end."""
    made, before = [], QLocale()

    def install(wanted):
        made.extend(language.install(qapp, wanted))

    yield install
    for translator in made:
        qapp.removeTranslator(translator)
    QLocale.setDefault(before)


@pytest.mark.parametrize(
    ("wanted", "system", "code"),
    [
        ("de", ["en-GB"], "de"),
        ("en", ["de-DE", "de"], "en"),
        ("", ["de-AT", "de", "en-US"], "de"),
        ("", ["de_DE"], "de"),
        ("", ["tlh", "de"], "de"),
        ("", ["tlh"], "en"),
        ("", ["C"], "en"),
        ("", [], "en"),
        ("tlh", ["de-DE"], "de"),
        ("tlh", ["fr-FR"], "en"),
    ],
)
def test_it_is_the_one_chosen_else_the_systems_else_english(wanted, system, code):
    assert language.chosen(wanted, system) == code


def test_there_is_a_catalogue_for_each():
    assert {path.name.partition(".")[0] for path in language.catalogues().glob("*.qm.xz")} == {
        f"mezzotint_{one}" for one in language.LANGUAGES
    }


@pytest.mark.parametrize("written", [None, "", "[]", "{}", "{", '{"theme": "dark"}', "\xff"])
def test_settings_without_a_language_leave_it_to_the_system(written):
    settings_path().parent.mkdir(parents=True)
    if written is not None:
        settings_path().write_text(written, "latin-1")
    assert language.stored() == Settings().language == ""


def test_the_setting_is_read_before_all_others():
    settings_path().parent.mkdir(parents=True)
    settings_path().write_text(json.dumps({"language": "de"}), "utf-8")
    assert language.stored() == "de"


def test_english_has_singulars():
    assert [images_count(number) for number in (0, 1, 2)] == ["0 images", "1 image", "2 images"]


def test_german_has_german_texts_and_plurals(installed):
    installed("de")
    assert [images_count(number) for number in (0, 1, 2)] == ["0 Bilder", "1 Bild", "2 Bilder"]
    assert QCoreApplication.translate("SettingsDialog", "Settings") == "Einstellungen"


def test_a_window_shows_german(installed, request):
    installed("de")
    window = request.getfixturevalue("window")
    shown = {button.text() for button in window.findChildren(QAbstractButton)}
    assert shown >= {"Erstellen", "Warteschlange", "Galerie", "Modelle", "Einstellungen", "Generieren"}


def test_qt_speaks_german_too(qtbot, installed):
    installed("de")
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
    qtbot.addWidget(buttons)
    assert buttons.buttons()[0].text() == "Abbrechen"


def test_numbers_and_months_are_in_the_language_of_the_window(installed):
    installed("de")
    assert (number_text(7.5), number_text(7.0), bytes_text(3 << 29)) == ("7,5", "7", "1,5 GB")
    assert QLocale().monthName(3) == "März"
    installed("en")
    assert QLocale().monthName(3) == "March"


def test_formats_of_a_country_stay_where_its_language_is_spoken(installed):
    QLocale.setDefault(QLocale("de_AT"))
    installed("de")
    assert QLocale().name() == "de_AT"


def test_the_program_starts_in_the_language_of_the_settings(qapp, monkeypatch):
    """Before anything that has texts is made."""
    settings_path().parent.mkdir(parents=True)
    settings_path().write_text(json.dumps({"language": "de"}), "utf-8")
    wanted = []

    class Started(Exception):
        pass

    def make_application(language):
        wanted.append(language)
        raise Started

    monkeypatch.setattr(main, "make_application", make_application)
    with pytest.raises(Started):
        main.main([])
    assert wanted == ["de"]
