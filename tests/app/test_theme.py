"""Both themes can be read, and the system's choice is followed."""

import itertools

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QDialogButtonBox, QProxyStyle, QStyle

from mezzotint_app import theme
from mezzotint_app.stylesheet import stylesheet

TEXTS = ["text", "muted", "accent", "danger", "warning", "good"]
GROUNDS = ["window", "surface", "raised", "selected"]


def luminance(colour):
    parts = [value / 255 for value in (colour.red(), colour.green(), colour.blue())]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    """As WCAG 2 defines it."""
    light, dark = sorted((luminance(QColor(one)), luminance(QColor(other))), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("colours", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), list(itertools.product(TEXTS, GROUNDS)))
def test_words_stand_out(colours, text, ground):
    assert contrast(colours[text], colours[ground]) >= 4.5


@pytest.mark.parametrize("colours", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
def test_what_is_chosen_and_what_can_be_typed_in_stand_out(colours):
    assert contrast(colours["accent_text"], colours["accent"]) >= 4.5
    for ground in GROUNDS:
        assert contrast(colours["focus"], colours[ground]) >= 3
    for ground in ("window", "surface"):
        assert contrast(colours["control"], colours[ground]) >= 3


def test_both_themes_name_the_same_colours():
    assert theme.LIGHT.keys() == theme.DARK.keys()


@pytest.mark.parametrize(("choice", "colours"), [("light", theme.LIGHT), ("dark", theme.DARK)])
def test_a_theme_is_used(qapp, qtbot, choice, colours):
    with qtbot.waitSignal(theme.changes().changed):
        theme.apply(qapp, choice)
    assert theme.colour("text") == QColor(colours["text"])
    assert qapp.palette().color(QPalette.ColorRole.Window) == QColor(colours["window"])
    assert theme.is_dark() == (choice == "dark")


def test_buttons_of_dialogs_have_no_icons_of_the_system_which_knows_no_theme_of_ours(qapp, qtbot):
    class Desktop(QProxyStyle):
        def styleHint(self, hint, option=None, widget=None, returned=None):
            if hint == QStyle.StyleHint.SH_DialogButtonBox_ButtonsHaveIcons:
                return 1
            return super().styleHint(hint, option, widget, returned)

    theme.apply(qapp, "dark")
    box, style = QDialogButtonBox(), Desktop("Fusion")
    qtbot.addWidget(box)
    box.setStyle(style)
    assert box.addButton(QDialogButtonBox.StandardButton.Close).icon().isNull()
    theme.apply(qapp, "light")


def test_the_system_is_followed_and_what_it_tells_twice_is_done_once(qapp, monkeypatch):
    theme.apply(qapp, "light")
    told = []

    def hear():
        told.append(theme.is_dark())

    with monkeypatch.context() as system:
        theme.changes().changed.connect(hear)
        for wanted in (theme.DARK, theme.DARK, theme.LIGHT, theme.LIGHT):
            system.setattr(theme, "_wanted", lambda _application, wanted=wanted: wanted)
            qapp.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Unknown)
        theme.changes().changed.disconnect(hear)
    assert told == [True, False]


@pytest.mark.parametrize(("colours", "name"), [(theme.LIGHT, "light"), (theme.DARK, "dark")])
def test_every_drawing_that_the_stylesheet_names_is_there(colours, name):
    import re
    from pathlib import Path

    named = re.findall(r'url\("([^"]+)"\)', stylesheet(colours, name))
    assert named
    assert [path for path in named if not Path(path).is_file()] == []
