"""What is shown of the machine, and what each button does."""

import pytest
from fake_setup import GB, INSTALLED, LOOK, made_setup
from PySide6.QtCore import Qt

from mezzotint_app.windows.engine_setup.panel import EnginePanel


@pytest.fixture
def made(tmp_path, inline):
    return made_setup(tmp_path, inline)


@pytest.fixture
def panel(qtbot, made):
    shown = EnginePanel(made.model)
    qtbot.addWidget(shown)
    shown.show()
    return shown


def click(qtbot, button):
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_the_machine_and_what_is_advised(panel):
    assert panel.cards.text() == "A card, 12.0 GB, compute capability 8.6" and panel.driver.text() == "580.1"
    assert [one.value for one in panel.builds.choices()] == ["cu130", "cpu"]
    assert panel.builds.currentText() == "NVIDIA, CUDA 13: 3.0 GB to download, 7.0 GB on disk"
    assert "A card with driver 580.1" in panel.why.text() and panel.disk.text() == "90.0 GB are free"
    assert panel.folder.isVisible()


def test_another_build_and_folder_are_chosen(panel, made):
    panel.builds.choose("cpu")
    assert made.model.build() == "cpu"
    panel.folder.edited.emit("/mnt")
    assert made.runs.open("look").root == "/mnt/Mezzotint"
    made.runs.look(free=GB)
    assert "not enough" in panel.disk.text() and not panel.install_button.isEnabled()


def test_from_install_to_the_new_window(qtbot, panel, made):
    panel.focus_first()
    qtbot.keyClick(panel.install_button, Qt.Key.Key_Space)
    assert panel.focusWidget() is panel.pause_button
    run = made.runs.open("install")
    run.say("phase", name="download")
    run.say("progress", done=GB, total=2 * GB, seconds_left=None)
    assert panel.bar.isVisible() and panel.bar.value() == 50 and "1.0 GB of 2.0 GB" in panel.work.text()
    assert not panel.install_button.isVisible() and not panel.folder.isEnabled()
    click(qtbot, panel.pause_button)
    run.say("paused")
    run.end(3)
    made.runs.look({**LOOK, "backends": {"cu130": {"download": 3 * GB, "missing": GB, "disk": 7 * GB}}})
    assert panel.install_button.text() == "Resume" and "paused" in panel.work.text()
    assert "downloaded so far: 2.0 GB of 3.0 GB" in panel.disk.text()
    click(qtbot, panel.install_button)
    made.runs.open("install").say("failed", what="no answer", next="", code="no_network")
    made.runs.open("install").end(1)
    assert "Check the connection" in panel.trouble.text()
    click(qtbot, panel.retry_button)
    made.runs.done("install", "1.0-cu130")
    assert "works" in panel.ready.text() and not panel.install_button.isVisible()
    with qtbot.waitSignal(made.model.restart_wanted):
        click(qtbot, panel.start_button)


def test_from_a_folder_of_packages(qtbot, panel, made):
    dialog = panel.choose_wheels()
    dialog.fileSelected.emit("/usb")
    dialog.close()
    assert made.runs.words() == ["install --backend cu130 --wheels /usb"]


def test_an_old_driver_is_told(qtbot, panel, made, monkeypatch):
    opened = []
    monkeypatch.setattr("mezzotint_app.windows.engine_setup.panel.QDesktopServices.openUrl", opened.append)
    click(qtbot, panel.look_button)
    made.runs.look(advice={"code": "driver_old", "what": "driver 470 is old", "next": "get a newer one"})
    assert panel.advice.text() == "Driver 470 is old: get a newer one."
    click(qtbot, panel.driver_button)
    assert opened[0].host() == "www.nvidia.com"


def test_before_the_machine_is_known(qtbot, tmp_path, inline):
    made = made_setup(tmp_path, inline, look=None)
    panel = EnginePanel(made.model)
    qtbot.addWidget(panel)
    panel.show()
    assert panel.cards.text() == "Looking…" and not panel.install_button.isEnabled()
    panel.focus_first()
    made.runs.look()
    qtbot.waitUntil(lambda: panel.focusWidget() is panel.install_button)


def test_the_folder_stays_once_there_is_an_engine(qtbot, tmp_path, inline):
    panel = EnginePanel(made_setup(tmp_path, inline, first=False, look=INSTALLED).model)
    qtbot.addWidget(panel)
    panel.show()
    assert not panel.folder.isVisible()
