"""Foreign text is shown as it is."""

import pytest
from PySide6.QtCore import Qt

from mezzotint_app.widgets.labels import ElidedLabel, plain_label

MARKUP = "<b>bold</b> <img src='file:///etc/passwd'> &amp;"


@pytest.mark.parametrize("make", [plain_label, ElidedLabel])
def test_markup_is_not_taken_for_markup(qapp, make):
    label = make(MARKUP)
    assert label.textFormat() == Qt.TextFormat.PlainText
    assert label.text() == MARKUP


def test_a_long_line_is_shortened_in_the_middle_and_told_whole(qtbot):
    label = ElidedLabel("a folder/" * 40 + "the name.png")
    qtbot.addWidget(label)
    label.resize(120, 20)
    label.show()
    assert label.text() != label.whole_text()
    assert "…" in label.text()
    assert label.text().endswith("png")
    assert label.accessibleName() == label.whole_text()
    label.resize(10_000, 20)
    assert label.text() == label.whole_text()


def test_a_role_and_a_selection(qapp):
    label = plain_label("a", role="muted", selectable=True)
    assert label.property("role") == "muted"
    assert label.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByKeyboard
