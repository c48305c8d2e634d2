"""Each control changes its setting, and shows what was set."""

import pytest
from fake_setup import INSTALLED, made_setup
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QLineEdit, QPushButton

from mezzotint.protocol import DeviceInfo
from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.gallery.output_folders import OutputFolders
from mezzotint_app.windows.settings_dialog import SettingsDialog

CARD = DeviceInfo(id="cuda:0", name="A card", memory_bytes=8 << 30)


@pytest.fixture
def settings(qapp, tmp_path, inline):
    return Stored(tmp_path / "window.json", Settings(), inline)


@pytest.fixture
def forgotten():
    return []


@pytest.fixture
def dialog(qtbot, settings, service, forgotten):
    places = OutputFolders(settings, service)
    made = SettingsDialog(settings, places, (CARD,), lambda: forgotten.append(True))
    qtbot.addWidget(made)
    made.show()
    return made


@pytest.mark.parametrize("field", ["previews", "notify", "keep_awake", "remember_prompts"])
def test_switches(dialog, settings, field):
    before = getattr(settings.value(), field)
    dialog.findChild(QCheckBox, field).toggle()
    assert getattr(settings.value(), field) is not before


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("theme", "dark"),
        ("language", "de"),
        ("when_closed", "go_on"),
        ("memory", "lowest"),
        ("preview_decoder", "linear"),
        ("metadata", "none"),
        ("attention", "sdpa"),
        ("device", "cuda:0"),
        ("device", "cpu"),
    ],
)
def test_choices(dialog, settings, field, value):
    box = dialog.findChild(QComboBox, field)
    box.setCurrentIndex(box.findData(value))
    assert getattr(settings.value(), field) == value


@pytest.mark.parametrize("field", ["vram_limit_bytes", "ram_limit_bytes"])
def test_limits(dialog, settings, field):
    box = dialog.findChild(QDoubleSpinBox, field)
    box.setValue(7.5)
    assert getattr(settings.value(), field) == int(7.5 * 2**30)
    box.setValue(0)
    assert getattr(settings.value(), field) is None


def named(dialog, name):
    return next(one for one in dialog.findChildren(QLineEdit) if one.accessibleName() == name)


@pytest.mark.parametrize(
    ("name", "field", "typed"),
    [
        ("Model hub address", "hub_endpoint", "https://mirror.example.org"),
    ],
)
def test_lines(dialog, settings, name, field, typed):
    line = named(dialog, name)
    line.setText(f" {typed} ")
    line.editingFinished.emit()
    assert getattr(settings.value(), field) == typed


def test_prompts_can_be_forgotten(dialog, forgotten):
    next(one for one in dialog.findChildren(QPushButton) if one.text().startswith("Clear")).click()
    assert forgotten == [True]


def test_what_was_set_is_shown(qtbot, tmp_path, inline, service):
    kept = Settings(theme="light", memory="fast", vram_limit_bytes=6 << 30, notify=False, output_folder="/x")
    settings = Stored(tmp_path / "w.json", kept, inline)
    dialog = SettingsDialog(settings, OutputFolders(settings, service))
    qtbot.addWidget(dialog)
    assert dialog.findChild(QComboBox, "theme").currentData() == "light"
    assert dialog.findChild(QComboBox, "memory").currentData() == "fast"
    assert dialog.findChild(QDoubleSpinBox, "vram_limit_bytes").value() == 6
    assert not dialog.findChild(QCheckBox, "notify").isChecked()
    assert named(dialog, "Image folder").text() == "/x"


@pytest.mark.parametrize("made_by_installer", [True, False])
def test_the_engine_has_a_tab_where_an_installer_made_it(qtbot, settings, service, tmp_path, inline, made_by_installer):
    setup = made_setup(tmp_path, inline, first=False, look=INSTALLED).model if made_by_installer else None
    dialog = SettingsDialog(settings, OutputFolders(settings, service), setup=setup)
    qtbot.addWidget(dialog)
    dialog.show_engine()
    assert dialog.tabs.tabText(dialog.tabs.currentIndex()) == ("Engine" if made_by_installer else "Images")
