"""Folders and names are kept when the engine could use them; why not stands under the line."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QPushButton

from mezzotint_app.settings import DEFAULT_TEMPLATE, Settings
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.gallery.output_folders import OutputFolders
from mezzotint_app.windows.settings_images import ImageSettings


@pytest.fixture
def settings(qapp, tmp_path, inline):
    return Stored(tmp_path / "window.json", Settings(), inline)


@pytest.fixture
def page(qtbot, settings, service):
    made = ImageSettings(OutputFolders(settings, service))
    qtbot.addWidget(made)
    made.show()
    return made


def write(line, text):
    line.setText(text)
    line.editingFinished.emit()


def press(qtbot, page, words):
    button = next(one for one in page.findChildren(QPushButton) if one.text() == words)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_a_good_name_is_kept(page, settings, service):
    write(page.template, " [seed].png ")
    assert settings.value().name_template == DEFAULT_TEMPLATE
    service.answer(None)
    assert settings.value().name_template == page.template.text() == "[seed].png"
    assert page.template_problem.isHidden()


def test_a_bad_name_is_refused_in_the_engines_words_until_it_is_mended(qtbot, page, settings, service):
    write(page.template, "[colour].png")
    service.fail("usage", "[colour] is no token")
    assert page.template_problem.isVisible() and page.template_problem.text() == "[colour] is no token"
    assert page.template.text() == "[colour].png"  # to be mended, not to be written again
    assert page.template.accessibleDescription() == "[colour] is no token"
    assert settings.value().name_template == DEFAULT_TEMPLATE
    press(qtbot, page, "Reset")
    service.answer(None)
    assert page.template.text() == DEFAULT_TEMPLATE and page.template_problem.isHidden()


def test_a_folder_is_chosen_or_refused(qtbot, page, settings, service, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: "/chosen")
    press(qtbot, page, "Choose…")
    service.answer(None)
    assert settings.value().output_folder == page.folder.text() == "/chosen"
    write(page.folder, "/proc/x")
    service.fail("storage", "cannot write into /proc")
    assert settings.value().output_folder == "/chosen"
    assert page.folder_problem.text() == "cannot write into /proc"


def test_other_folders_of_the_gallery(qtbot, page, settings):
    page.others.add(["/more"])
    assert settings.value().gallery_folders == ("/more",)
    qtbot.mouseClick(page.others.rows()[0].remove_button(), Qt.MouseButton.LeftButton)
    assert settings.value().gallery_folders == ()


def test_folders_are_asked_for(page):
    dialog = page.others.choose()
    assert dialog.fileMode() == QFileDialog.FileMode.Directory
    dialog.close()
