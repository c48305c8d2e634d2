"""Why the engine does not work, and the ways on."""

import pytest
from fake_setup import INSTALLED, made_setup
from PySide6.QtCore import QObject, Qt, Signal

from mezzotint_app.viewmodel import late_start
from mezzotint_app.windows.engine_notice import EngineNotice


class State(QObject):
    """What EngineState tells, said by the test."""

    changed = Signal()
    offer_changed = Signal()

    def __init__(self):
        super().__init__()
        self.said = {"state": "ready", "reason": "", "offer": ""}
        self.done = []

    def say(self, **said):
        self.said |= said
        self.changed.emit()

    def state(self):
        return self.said["state"]

    def reason(self):
        return self.said["reason"]

    def text(self):
        return f"The engine is {self.said['state']}"

    def offer_text(self):
        return self.said["offer"]

    def is_put_off(self):
        return self.said["state"] == "stopped"

    def __getattr__(self, name):
        if name in ("start", "restart", "take_offer", "refuse_offer"):
            return lambda *_: self.done.append(name)
        raise AttributeError(name)


@pytest.fixture
def state():
    return State()


@pytest.fixture
def notice(qtbot, state):
    made = EngineNotice(state)
    qtbot.addWidget(made)
    return made


def test_nothing_is_shown_while_all_is_well(state, notice):
    assert notice.isHidden()
    state.say(state="starting")
    assert notice.isHidden()


def test_the_reason_stands_there_in_plain_words(state, notice):
    state.say(state="restarting", reason="It ran out of <b>memory</b>.")
    assert not notice.isHidden()
    assert "<b>memory</b>" in notice.trouble.text()
    assert notice.start_button.isHidden()
    state.say(state="ready")
    assert notice.isHidden()


def test_an_engine_that_was_given_up_can_be_started(qtbot, state, notice):
    state.say(state="given_up", reason="It ended five times.")
    notice.show()
    qtbot.mouseClick(notice.start_button, Qt.MouseButton.LeftButton)
    assert state.done in (["start"], ["restart"])
    with qtbot.waitSignal(notice.log_asked):
        qtbot.mouseClick(notice.log_button, Qt.MouseButton.LeftButton)


def test_a_start_that_was_put_off_is_told(state, notice):
    state.say(state="stopped")
    assert "was not started" in notice.trouble.text()
    assert not notice.start_button.isHidden()


@pytest.mark.parametrize(("button", "done"), [("take_button", "take_offer"), ("refuse_button", "refuse_offer")])
def test_a_way_out_is_offered_and_not_taken_by_itself(qtbot, state, notice, button, done):
    state.say(offer="Use torch's own attention?")
    notice.show()
    assert notice.offer.text() == "Use torch's own attention?"
    assert state.done == []
    qtbot.mouseClick(getattr(notice, button), Qt.MouseButton.LeftButton)
    assert state.done == [done]


def test_a_start_that_takes_long_is_told_and_can_be_begun_anew(qtbot, state, monkeypatch):
    monkeypatch.setattr(late_start, "LATE", 0.0)
    state.say(state="starting")
    notice = EngineNotice(state)
    qtbot.addWidget(notice)
    qtbot.waitUntil(lambda: "taking a long time to start" in notice.trouble.text())
    notice.show()
    qtbot.mouseClick(notice.start_button, Qt.MouseButton.LeftButton)
    assert state.done == ["restart"]
    state.say(state="ready")
    assert notice.isHidden()


def test_without_an_engine_its_installation_is_told_instead(qtbot, state, tmp_path, inline):
    made = made_setup(tmp_path, inline)
    notice = EngineNotice(state, made.model)
    qtbot.addWidget(notice)
    state.say(state="given_up", reason="There is no engine")
    assert notice.trouble.text() == "" and "No engine is installed yet" in notice.installing.text()
    notice.show()
    with qtbot.waitSignal(notice.setup_asked):
        qtbot.mouseClick(notice.setup_button, Qt.MouseButton.LeftButton)
    made.model.install()
    assert notice.installing.text() == "Engine: Starting"
    made.runs.done("install", "1.0-cpu")
    assert notice.setup_button.isHidden()
    with qtbot.waitSignal(made.model.restart_wanted):
        qtbot.mouseClick(notice.open_button, Qt.MouseButton.LeftButton)
    notice.set_setup_elsewhere(True)
    assert notice.isHidden()


def test_with_an_engine_nothing_is_told_of_installing(qtbot, state, tmp_path, inline):
    notice = EngineNotice(state, made_setup(tmp_path, inline, first=False, look=INSTALLED).model)
    qtbot.addWidget(notice)
    assert notice.isHidden()
