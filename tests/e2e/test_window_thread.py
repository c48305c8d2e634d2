"""The window's thread reads no file, asks no database and decodes no image, whatever a person does."""

import pytest
from driven_window import DrivenWindow, window_environment

pytestmark = [pytest.mark.requires_package("PySide6"), pytest.mark.timeout(900)]

DRIVER = "window_thread_driver.py"


def test_the_watch_sees_what_is_forbidden_and_only_on_its_thread(tmp_path):
    driven = DrivenWindow(DRIVER, "watch", window_environment(tmp_path), tmp_path / "log")
    told = driven.told("watch")
    assert [name for name, seen in told["seen"].items() if not seen] == []
    everywhere = {"database for all"}  # a connection that any thread may use is none's own
    assert {name for name, seen in told["elsewhere"].items() if seen} == everywhere


@pytest.mark.slow
def test_nothing_that_a_person_does_makes_the_thread_wait(tmp_path):
    driven = DrivenWindow(DRIVER, "works", window_environment(tmp_path), tmp_path / "log")
    try:
        told = driven.told("watched")
        assert "Traceback" not in driven.log(), driven.log()
        assert told["saved"] >= 3 and told["previews"] > 0  # it did work
        assert told["found"] == [], "\n\n".join(told["found"])
        assert driven.told("closed")["code"] == 0
        assert driven.process.wait(60) == 0
    finally:
        driven.kill()
