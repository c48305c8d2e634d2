"""Why the librarian does not work, what waits for it, and the way on."""

import pytest
from fake_supervised import FakeSupervised
from PySide6.QtCore import Qt

from mezzotint_app.viewmodel import late_start
from mezzotint_app.windows.librarian_notice import LibrarianNotice


@pytest.fixture
def librarian():
    return FakeSupervised()


@pytest.fixture
def notice(qtbot, librarian):
    made = LibrarianNotice(librarian)
    qtbot.addWidget(made)
    return made


def test_nothing_is_shown_while_all_is_well(librarian, notice):
    assert notice.isHidden()
    for state in ("starting", "ready", "stopped"):
        librarian.become(state)
        assert notice.isHidden()


@pytest.mark.parametrize(("state", "way_on"), [("restarting", "is restarting"), ("given_up", "does not restart")])
def test_an_end_is_told_with_what_waits_for_it(librarian, notice, state, way_on):
    librarian.words = "It crashed <b>."
    librarian.become(state)
    assert notice.trouble.text().startswith("It crashed <b>.")
    assert way_on in notice.trouble.text()
    assert "gallery" in notice.trouble.text()
    assert notice.start_button.isHidden() == (state == "restarting")
    librarian.become("ready")
    assert notice.isHidden()


def test_it_can_be_started_again(qtbot, librarian, notice):
    librarian.become("given_up")
    notice.show()
    qtbot.mouseClick(notice.start_button, Qt.MouseButton.LeftButton)
    assert librarian.restarts == 1


def test_a_start_that_takes_long_is_told(qtbot, librarian, monkeypatch):
    monkeypatch.setattr(late_start, "LATE", 0.0)
    librarian.become("starting")
    notice = LibrarianNotice(librarian)
    qtbot.addWidget(notice)
    qtbot.waitUntil(lambda: "taking a long time to start" in notice.trouble.text())
    librarian.become("ready")
    assert notice.isHidden()
