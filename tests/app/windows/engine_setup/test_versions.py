"""Versions that are installed, and newer ones."""

import pytest
from fake_setup import INSTALLED, made_setup
from PySide6.QtCore import Qt

from mezzotint_app.windows.engine_setup.versions import EngineVersions


@pytest.fixture
def made(tmp_path, inline):
    return made_setup(tmp_path, inline, first=False, look=INSTALLED)


@pytest.fixture
def shown(qtbot, made):
    widget = EngineVersions(made.model)
    qtbot.addWidget(widget)
    widget.show()
    return widget


@pytest.mark.parametrize(("button", "words"), [("back_button", "back"), ("repair_button", "repair")])
def test_each_button_does_its_command(qtbot, shown, made, button, words):
    assert (shown.in_use.text(), shown.before.text()) == ("1.0-cu130", "0.9-cu130")
    qtbot.mouseClick(getattr(shown, button), Qt.MouseButton.LeftButton)
    assert made.runs.words() == [words]
    assert not shown.back_button.isEnabled() and not shown.repair_button.isEnabled()


def test_looking_for_updates_is_off_until_it_is_allowed(qtbot, shown, made):
    assert not shown.allowed.isChecked() and not shown.check_button.isEnabled() and not shown.update_button.isVisible()
    shown.allowed.click()
    assert made.runs.words() == ["check-update --allow"] and made.settings.value().update_check
    run = made.runs.open("check-update")
    run.say("update", version="1.0", newer=False, download=1)
    run.end()
    assert shown.update_words.text() == "This is the newest version."
    qtbot.mouseClick(shown.check_button, Qt.MouseButton.LeftButton)
    run = made.runs.open("check-update")
    run.say("update", version="1.1", newer=True, download=45 << 20)
    run.end()
    assert shown.update_words.text() == "Version 1.1 has been released. Download: 45.0 MB"
    qtbot.mouseClick(shown.update_button, Qt.MouseButton.LeftButton)
    assert made.runs.words()[-1] == "update"
