"""The computer stays awake while it works, and whatever goes wrong with that harms nothing."""

import threading
from typing import Any, cast

import pytest
from PySide6.QtCore import QObject, Signal

from mezzotint_app.awake import KeepAwake, _wakepy
from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored

pytestmark = pytest.mark.requires_package("PySide6")


class Runner(QObject):
    changed = Signal()

    def __init__(self):
        super().__init__()
        self.state = "idle"

    def become(self, state):
        self.state = state
        self.changed.emit()


class Modes:
    """Each entering and leaving, with its thread; `trouble` says where it fails."""

    def __init__(self, trouble=""):
        self.story, self.threads, self.trouble = [], set(), trouble

    def __call__(self):
        self.fail_at("make")
        return self

    def __enter__(self):
        self.threads.add(threading.current_thread())
        self.fail_at("enter")
        self.story.append("enter")
        return self

    def __exit__(self, *_):
        self.threads.add(threading.current_thread())
        self.fail_at("leave")
        self.story.append("leave")

    def fail_at(self, place):
        if self.trouble == place:
            raise RuntimeError("no bus")


def story(tmp_path, inline, modes, *steps, **values):
    runner, settings = Runner(), Stored(tmp_path / "settings.json", Settings(**values), inline)
    keep = KeepAwake(runner, settings, modes)
    for step in steps:
        step(runner, settings)
    keep.finish()
    return modes.story


def become(state):
    return lambda runner, settings: runner.become(state)


def switch(on):
    return lambda runner, settings: settings.change(keep_awake=on)


def test_awake_while_it_works(tmp_path, inline):
    modes = Modes()
    steps = [become(state) for state in ("working", "working", "stopping", "paused", "working", "idle", "elsewhere")]
    assert story(tmp_path, inline, modes, *steps) == ["enter", "leave", "enter", "leave"]
    assert len(modes.threads) == 1 and threading.current_thread() not in modes.threads


def test_it_is_left_at_the_end(tmp_path, inline):
    assert story(tmp_path, inline, Modes(), become("working")) == ["enter", "leave"]


def test_without_work_nothing_is_begun(tmp_path, inline):
    before = threading.active_count()
    assert story(tmp_path, inline, Modes(), become("paused")) == []
    assert threading.active_count() == before


def test_the_switch_counts_at_once(tmp_path, inline):
    assert story(tmp_path, inline, Modes(), become("working"), switch(False), switch(True)) == [
        "enter",
        "leave",
        "enter",
        "leave",
    ]
    assert story(tmp_path, inline, Modes(), become("working"), keep_awake=False) == []


@pytest.mark.parametrize("trouble", ["make", "enter", "leave"])
def test_trouble_is_logged_and_nothing_more(tmp_path, inline, caplog, trouble):
    caplog.set_level("INFO", "mezzotint_app.awake")
    story(tmp_path, inline, Modes(trouble), become("working"), become("idle"), become("working"), become("idle"))
    assert "no bus" in caplog.text


def test_wakepy_takes_what_is_asked_of_it(monkeypatch, caplog):
    caplog.set_level("INFO", "mezzotint_app.awake")
    monkeypatch.setenv("WAKEPY_FAKE_SUCCESS", "1")
    with _wakepy() as mode:
        assert cast(Any, mode).active
    monkeypatch.delenv("WAKEPY_FAKE_SUCCESS")
    monkeypatch.setenv("WAKEPY_FORCE_FAILURE", "1")
    with _wakepy() as mode:
        assert not cast(Any, mode).active
    assert "may go to sleep" in caplog.text
