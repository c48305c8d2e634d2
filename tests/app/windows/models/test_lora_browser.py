"""LoRAs are found, described and used."""

import pytest
from create_page import clicked
from PySide6.QtCore import Qt

from mezzotint.library_protocol import ModelCard
from mezzotint_app.viewmodel.models.cards import ModelCards, dragged_lora
from mezzotint_app.viewmodel.thumbnails import Thumbnails
from mezzotint_app.windows.models.lora_browser import LoraBrowser
from mezzotint_app.windows.models.lora_dialog import LoraDialog

INK = ModelCard(
    path="/l/ink.safetensors",
    name="ink",
    base="SDXL",
    tags=("style",),
    trigger_words=("inkwash",),
    picture="/l/ink.png",
)
FOG = ModelCard(path="/l/fog.safetensors", name="fog", description="<b>plain</b>")
BAD = ModelCard(path="/l/bad.safetensors", name="bad", problem="cut off")


@pytest.fixture
def browser(qtbot, service, inline):
    browser = LoraBrowser(ModelCards(service), Thumbnails(service, inline), "loras")
    dialog = LoraDialog(browser)
    qtbot.addWidget(dialog)
    browser._cards.refresh_loras()
    service.answer((INK, FOG, BAD), "loras")
    yield browser
    dialog.close()


def shown(browser):
    items = (browser.list.item(row) for row in range(browser.list.count()))
    return [item.text() for item in items if not item.isHidden()]


def test_filters_narrow_the_list(browser):
    browser.base.choose("SDXL")
    assert shown(browser) == ["ink"]
    browser.base.choose("")
    browser.search.setText("fog")
    assert browser.current().name == "fog"  # the first that is shown
    browser.base.choose("SDXL")
    browser.search.setText("")
    browser.tag.choose("style")
    browser.search.setText("fog")
    assert shown(browser) == []
    assert browser._empty.text() == "No LoRAs match."
    assert not browser.use_button.isEnabled()


def test_the_selected_one_is_used_dragged_or_refused(browser, service):
    used = []
    browser.use_asked.connect(used.append)
    assert "/l/ink.png" in [one.params.path for one in service.asked if one.method == "thumbnail"]
    clicked(browser.use_button)
    browser.list.setCurrentRow(2)
    browser.list.itemActivated.emit(browser.list.item(2))
    assert used == [INK]
    assert browser._problem.text() == "cut off"
    assert not browser.panel.make_button.isEnabled()
    assert dragged_lora(browser.list.mimeData([browser.list.item(0)]))[0] == INK.path


def test_texts_are_saved_once_they_differ(browser, service):
    panel = browser.panel
    assert panel.triggers.text() == "inkwash"
    assert not panel.save_button.isEnabled()
    panel.tags.setText("style,  dark ink ,style")
    panel.tags.textEdited.emit("")
    panel.notes.setPlainText("at 0.6")
    clicked(panel.save_button)
    asked = service.last("save_card").params
    assert (asked.tags, asked.trigger_words, asked.notes) == (("style", "dark ink"), ("inkwash",), "at 0.6")
    assert not panel.save_button.isEnabled()
    assert "dark ink" in [one.value for one in browser.tag.choices()]


def test_changes_are_not_lost_when_another_is_selected(browser, service):
    browser.panel.notes.setPlainText("keep")
    browser.list.setCurrentRow(1)
    assert service.last("save_card").params.notes == "keep"
    assert browser.panel.notes.toPlainText() == ""
    assert browser._cards.card(FOG.path) == FOG


def test_a_picture_is_generated_or_chosen_when_asked(browser, service):
    asked = []
    browser.picture_asked.connect(asked.append)
    browser.list.setCurrentRow(1)
    assert browser.panel.description.toPlainText() == "<b>plain</b>"
    clicked(browser.panel.make_button)
    assert asked == [FOG]
    dialog = browser.panel.choose()
    dialog.fileSelected.emit("/a.png")
    dialog.close()
    assert service.last("card_picture").params.picture == "/a.png"


def test_the_list_can_be_used_by_keyboard(browser, qtbot):
    used = []
    browser.use_asked.connect(used.append)
    browser.list.setCurrentRow(1)
    qtbot.keyClick(browser.list, Qt.Key.Key_Return)
    assert used == [FOG]
