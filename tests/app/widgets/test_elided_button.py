"""Words are cut in what is painted, never in what is read aloud."""

import pytest
from PySide6.QtGui import QIcon, QPixmap

from mezzotint_app.widgets.elided_button import ElidedButton

WORDS = "0 of 12 images, about 25 min left; then 3 entries"


@pytest.fixture
def button(qtbot):
    button = ElidedButton()
    qtbot.addWidget(button)
    button.setText(WORDS)
    return button


def test_with_room_all_is_shown(button):
    button.resize(button.sizeHint())
    assert button.shown_text() == WORDS


@pytest.mark.parametrize("with_drawing", [False, True])
def test_without_room_it_is_cut_and_stays_whole_for_those_who_hear_it(button, with_drawing):
    if with_drawing:
        pixmap = QPixmap(16, 16)
        pixmap.fill()
        button.setIcon(QIcon(pixmap))
    button.resize(button.minimumSizeHint())
    assert button.width() < button.sizeHint().width()
    assert button.shown_text().endswith("…")
    assert WORDS.startswith(button.shown_text()[:-1])
    assert button.fontMetrics().horizontalAdvance(button.shown_text()) <= button.width()
    assert button.text() == WORDS
    assert not button.grab().isNull()


def test_a_short_one_asks_for_no_more_than_it_needs(button):
    button.setText("Go")
    assert button.minimumSizeHint().width() <= button.sizeHint().width()
