"""The page shows layers, settings and candidates, and hands over what is changed."""

from dataclasses import replace

import pytest
from create_page import kit_of
from PySide6.QtCore import QMimeData, QModelIndex, QRect, Qt, QUrl
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QDialog, QInputDialog, QMenu, QToolButton

from mezzotint_app.viewmodel.canvas.candidates import Candidate
from mezzotint_app.viewmodel.canvas.canvas import CanvasModel
from mezzotint_app.widgets.confirm import Question
from mezzotint_app.windows.canvas.page import CanvasPage


class Page(CanvasPage):
    def __init__(self, model, kit):
        super().__init__(model)
        self.model, self.kit = model, kit


@pytest.fixture
def page(qtbot, tmp_path):
    for kit in kit_of(tmp_path):
        kit.write()
        model = CanvasModel(kit.create, kit.queue, kit.runner, kit.librarian, kit.pool)
        made = Page(model, kit)
        qtbot.addWidget(made)
        made.show()
        yield made


def button(page, name):
    return next(one for one in page.findChildren(QToolButton) if one.accessibleName() == name)


def dialog(kind):
    return next(one for one in QApplication.topLevelWidgets() if isinstance(one, kind) and one.isVisible())


def choose(words):
    menu = dialog(QMenu)
    next(one for one in menu.actions() if one.text() == words).trigger()
    menu.close()


def test_layers_are_listed_from_the_top_and_changed(page):
    document, panel = page.model.document, page.layers
    page.model.new_layer("mask")
    assert [panel.list.item(row).text() for row in range(2)] == ["Mask", "Image"]
    panel.list.item(0).setCheckState(Qt.CheckState.Unchecked)
    assert not document.layers()[1].visible
    panel.list.setCurrentRow(1)
    assert document.active() == document.layers()[0]
    button(page, "Rename layer…").click()
    naming = dialog(QInputDialog)
    naming.setTextValue("<b>ground</b>")
    naming.accept()
    assert panel.list.item(1).text() == "<b>ground</b>"
    button(page, "Move layer up").click()
    assert panel.list.item(0).text() == "<b>ground</b>"
    button(page, "Scale layer…").click()
    told = []  # that there is nothing to scale
    page.message.connect(told.append)
    dialog(QInputDialog).intValueSelected.emit(200)
    assert "empty" in told[0]
    button(page, "Remove layer").click()
    assert panel.list.count() == 1


def test_settings_of_generation_and_generate(page, qtbot):
    generation, panel = page.model.generation, page.generate
    panel.prompt.setPlainText("a red boat")
    assert generation.create.prompts.prompt() == "a red boat"
    panel._strength.setValue(30)
    panel._fill.setCurrentIndex(3)
    panel._feather.setValue(12)
    assert generation.choice().strength == 0.3 and (generation.choice().fill, generation.choice().feather) == (
        "noise",
        12,
    )
    panel._strength.setValue(-1)
    assert generation.choice().strength is None
    with qtbot.waitSignal(generation.queued):
        page.bar._button.click()
    assert not page.bar._cancel.isEnabled()
    page.kit.runner.begin(page.kit.queue._opened().claim("test"))
    page.bar._cancel.click()
    assert page.kit.runner.stopped == 1 and not page.bar._cancel.isEnabled()
    page.bar._count.setValue(3)
    assert generation.create.chosen.settings().count == 3
    generation.create.chosen.set_model("broken")
    assert not page.bar._button.isEnabled() and "damaged" in page.bar._problem.text()


def test_padding_is_asked_only_for_the_masked_area(page):
    assert page.generate._padding.isHidden()
    page.generate._area.setCurrentIndex(1)
    assert not page.generate._padding.isHidden()


def test_a_layer_is_dragged_to_another_place(page):
    document, nowhere = page.model.document, QModelIndex()
    page.model.new_layer("mask")
    page.model.new_layer("sketch")
    rows = page.layers.list.model()
    rows.moveRow(nowhere, 0, nowhere, 3)
    assert [one.kind for one in document.layers()] == ["sketch", "image", "mask"]
    rows.moveRow(nowhere, 1, nowhere, 0)
    assert [one.kind for one in document.layers()] == ["sketch", "mask", "image"]
    document.undo()
    assert [page.layers.list.item(row).text() for row in range(3)] == ["Mask", "Image", "Sketch"]


def test_a_layer_is_copied_and_becomes_one_of_another_kind(page):
    document = page.model.document
    document.add_layer("image", "boat", QImage(9, 9, QImage.Format.Format_RGB32), (3, 4))
    button(page, "Add a layer").click()
    choose("Copy of the selected layer")
    button(page, "Change the layer's kind").click()
    choose("Reference")
    assert [(one.kind, one.name) for one in document.layers()[1:]] == [("image", "boat"), ("reference", "boat")]
    assert document.content_of(document.layers()[2].id) == QRect(3, 4, 9, 9)
    document.undo()
    assert document.layers()[2].kind == "image"


def test_keys_of_tools_work_beside_the_canvas(page, qtbot):
    page.model.new_layer("mask")
    page.activateWindow()
    rows = page.layers.list
    qtbot.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=rows.visualItemRect(rows.item(1)).center())
    assert page.model.document.active().kind == "image" and page.canvas.hasFocus()
    page.generate.prompt.setFocus()
    button(page, "Add a layer").click()
    choose("Mask")
    assert page.canvas.hasFocus()
    page.generate.prompt.setFocus()
    button(page, "Brush (B)").click()
    assert page.canvas.hasFocus()
    slider = page.toolbar._hardness
    slider.setFocus()
    qtbot.keyClick(slider, Qt.Key.Key_E)
    assert page.model.tools.tool() == "eraser"
    page.generate.prompt.setFocus()
    qtbot.keyClicks(page.generate.prompt, "boat")
    assert page.model.tools.tool() == "eraser" and page.generate.prompt.toPlainText().endswith("boat")


def test_the_name_of_a_controlnet_is_not_cut_off(page, qtbot):
    page.model.document.add_layer("control", "", QImage(99, 99, QImage.Format.Format_RGB32))
    chosen = page.model.generation.choice()
    page.model.generation.choose(replace(chosen, control=replace(chosen.control, model="starter-edges")))
    qtbot.waitUntil(lambda: page.generate.control._model.text() == "starter-edges")


def test_candidates_have_a_bar(page):
    image, frame = QImage(64, 64, QImage.Format.Format_RGB32), QRect(0, 0, 64, 64)
    image.fill(0xFF00FF00)
    keys = {one.shortcut().toString(): one for one in page.actions()}
    assert page.candidates.isHidden() and not keys["X"].isEnabled()
    page.model.candidates._add(Candidate(path="/a.png", seed=7, frame=frame, image=image))
    assert not page.candidates.isHidden() and "seed 7" in page.candidates._words.whole_text()
    page.candidates._before.click()
    assert page.canvas._overlay is None
    keys["X"].trigger()
    assert page.canvas._overlay is not None
    page.activateWindow()
    page.candidates.accept.setFocus()
    page.candidates.accept.click()
    assert page.candidates.isHidden() and not page.model.document.is_empty()
    assert page.canvas.hasFocus() and not keys["X"].isEnabled()


def test_an_unsaved_canvas_is_replaced_only_after_asking(page, monkeypatch):
    opened = []
    monkeypatch.setattr(page.model, "open_file", opened.append)
    page.open_file("/a.ora")
    page.model.document.add_layer("image", "", QImage(9, 9, QImage.Format.Format_RGB32))
    page.open_file("/b.ora")
    page.open_file("/c.png")
    assert opened == ["/a.ora", "/c.png"]
    question = dialog(Question)
    question.agreed.emit(False)
    assert opened[-1] == "/b.ora"
    question.close()
    own = {one.shortcut().toString(): one for one in page.actions()}
    for key in ("Ctrl+O", "Ctrl+S"):
        own[key].trigger()
        dialog(QDialog).close()


def test_what_is_dropped_or_pasted_becomes_a_layer(page, monkeypatch):
    opened, data = [], QMimeData()
    monkeypatch.setattr(page.model, "open_file", opened.append)
    data.setText("hello")
    assert not page.take(data)
    data.setImageData(QImage(9, 9, QImage.Format.Format_RGB32))
    assert page.take(data) and len(page.model.document.layers()) == 2 and opened == []
    data.setUrls([QUrl.fromLocalFile("/a.txt"), QUrl.fromLocalFile("/b.PNG")])
    assert page.take(data) and opened == ["/b.PNG"]
