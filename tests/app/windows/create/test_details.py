"""The list of detail passes."""

import pytest
from PySide6.QtTest import QTest

from mezzotint.values.details import MAX_DETAILS, DetailRef
from mezzotint_app.windows.create.details import DetailList


@pytest.fixture
def details(qtbot):
    made = DetailList()
    qtbot.addWidget(made)
    made.show()
    return made


@pytest.fixture
def told(details):
    found = []
    details.edited.connect(found.append)
    return found


def test_from_nothing_to_two_and_back(details, told):
    details.add.click()
    details.add.click()
    first, second = details.rows()
    first.strength.setValue(0.3)
    second.label.setText("bird")
    second.confidence.setValue(0.7)
    QTest.keyClicks(second.prompt, "a red bird")
    assert told[-1] == (
        DetailRef(label="person", strength=0.3),
        DetailRef(label="bird", confidence=0.7, prompt="a red bird"),
    )
    first.removed.emit()
    assert [one.label for one in told[-1]] == ["bird"] and len(details.rows()) == 1
    assert details.rows()[0].label.text() == "bird"


def test_what_has_no_control_stays_until_another_label_is_chosen(details, told):
    details.show_details((DetailRef(label="face", model="/faces", sha256="0", padding=9),))
    (row,) = details.rows()
    row.strength.setValue(0.6)
    assert told[-1] == (DetailRef(label="face", model="/faces", sha256="0", padding=9, strength=0.6),)
    row.label.setText("hand")
    assert told[-1] == (DetailRef(label="hand", padding=9, strength=0.6),)


def test_no_more_than_can_be_made(details):
    for _ in range(MAX_DETAILS):
        details.add.click()
    assert not details.add.isEnabled()
