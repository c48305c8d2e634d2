"""The page shows layers, settings and candidates, and hands over what is changed."""

import pytest
from create_page import kit_of
from PySide6.QtCore import QMimeData, QRect, Qt, QUrl
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QDialog, QInputDialog, QToolButton

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
        panel._button.click()
    assert not panel._cancel.isEnabled()
    page.kit.runner.begin(page.kit.queue._opened().claim("test"))
    panel._cancel.click()
    assert page.kit.runner.stopped == 1 and not panel._cancel.isEnabled()
    generation.create.chosen.set_model("broken")
    assert not panel._button.isEnabled() and "damaged" in panel._problem.text()


def test_candidates_have_a_bar(page):
    image, frame = QImage(64, 64, QImage.Format.Format_RGB32), QRect(0, 0, 64, 64)
    image.fill(0xFF00FF00)
    assert page.candidates.isHidden()
    page.model.candidates._add(Candidate(path="/a.png", seed=7, frame=frame, image=image))
    assert not page.candidates.isHidden() and "seed 7" in page.candidates._words.whole_text()
    page.candidates._before.click()
    assert page.canvas._overlay is None
    page.candidates.accept.click()
    assert page.candidates.isHidden() and not page.model.document.is_empty()


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
