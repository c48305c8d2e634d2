"""The dialog of styles, and the one that saves them."""

import pytest
from create_page import clicked, kit_of, page_of
from PySide6.QtCore import Qt

from mezzotint.library_protocol import Style, Styles, StylesImported
from mezzotint_app.viewmodel.thumbnails import Thumbnails
from mezzotint_app.windows.styles.save_style_dialog import SaveStyleDialog
from mezzotint_app.windows.styles.styles_dialog import StylesDialog

STYLES = (
    Style(name="ink", prompt="ink of {prompt}", negative="colour", settings={"steps": 7}, picture="/p/ink.webp"),
    Style(name="Fog", prompt="in <b>fog</b>", own=False),
)


@pytest.fixture
def kit(tmp_path, qapp):
    yield from kit_of(tmp_path)


@pytest.fixture
def dialog(kit, qtbot):
    dialog = StylesDialog(kit.create, Thumbnails(kit.librarian, kit.pool))
    qtbot.addWidget(dialog)
    kit.librarian.answer(Styles(styles=STYLES, problems=("bad.json",)), "styles")
    return dialog


def test_what_the_selected_style_sets_is_shown(dialog, kit):
    assert dialog.current() == STYLES[0]
    assert dialog.prompt.toPlainText() == "ink of {prompt}"
    assert dialog._settings.text() == "steps: 7"
    assert kit.librarian.last("thumbnail").params.path == "/p/ink.webp"
    dialog.select("Fog")
    assert not dialog.remove_button.isEnabled()
    dialog.search.setText("INK")
    assert dialog.list.item(1).isHidden()
    assert dialog.current() == STYLES[0] and dialog.use_button.isEnabled()  # the first that is shown
    dialog.search.setText("nothing")
    assert dialog.current() is None and not dialog.use_button.isEnabled()


def test_use_adds_it_and_again_removes_it(dialog, kit, qtbot):
    dialog.select("Fog")
    clicked(dialog.use_button)
    assert [one.name for one in kit.create.styles.in_use()] == ["Fog"]
    page = page_of(kit, qtbot)
    (chip,) = page.prompts.styles.chips()
    assert chip.text() == "Fog"
    clicked(chip)
    page.show_model()
    assert page.prompts.styles.chips() == ()
    assert dialog.use_button.text() == "Use"


def test_return_in_the_search_uses_what_is_found(dialog, kit, qtbot):
    dialog.show()
    asked = []
    dialog.save_asked.connect(lambda: asked.append("save"))
    dialog.search.setText("fog")
    qtbot.keyClick(dialog.search, Qt.Key.Key_Return)
    assert [one.name for one in kit.create.styles.in_use()] == ["Fog"] and not asked


def test_delete_and_import(dialog, kit):
    clicked(dialog.remove_button)
    assert kit.librarian.last().params.name == "ink"
    file_dialog = dialog.choose_file()
    file_dialog.fileSelected.emit("/s.csv")
    assert kit.librarian.last("import_styles").params == {"path": "/s.csv"}
    kit.librarian.fail(message="line 3: a quote", method="import_styles")
    assert dialog._message.text() == "line 3: a quote"
    dialog._styles.import_file("/s.csv")
    kit.librarian.answer(StylesImported(added=("fog",)), "import_styles")
    listed = Styles(styles=(Style(name="a", prompt="x"), Style(name="fog", prompt="y")))
    for _ in kit.librarian.open("styles"):
        kit.librarian.answer(listed, "styles")
    assert dialog.current() == listed.styles[1]
    assert "fog" in dialog._message.text()
    file_dialog.close()


def test_only_checked_settings_are_saved_and_a_failure_offers_to_replace(qtbot):
    saved = []
    draft = Style(name="", prompt="left out", negative="fog", settings={"steps": 7, "seed": 3, "sampler": "euler"})
    dialog = SaveStyleDialog(draft, lambda *asked: saved.append(asked))
    qtbot.addWidget(dialog)
    assert not dialog.save_button.isEnabled()
    dialog.name.setText("dusk")
    dialog.prompt.setPlainText("{prompt} at dusk")
    dialog.settings.item(2).setCheckState(Qt.CheckState.Unchecked)
    dialog.accept()
    style, replaces, failed = saved[0]
    expected = Style(name="dusk", prompt="{prompt} at dusk", negative="fog", settings={"steps": 7})
    assert (style, replaces) == (expected, False)
    failed("there is one")
    dialog.replaces.setChecked(True)
    dialog.accept()
    assert saved[1][1]
    dialog.close_saved("dusk")
    assert dialog.result() == dialog.DialogCode.Accepted
