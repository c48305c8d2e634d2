"""What is done to the panel reaches the request, and what the model knows is seen."""

import pytest
from skip_rules import skip_module_without

skip_module_without("PySide6")

from PySide6.QtCore import Qt  # noqa: E402
from PySide6.QtGui import QGuiApplication, QImage  # noqa: E402
from PySide6.QtWidgets import QFileDialog, QLabel, QPushButton, QSlider, QToolButton  # noqa: E402

from mezzotint.protocol import GenerateRequest, ImageInput, Inpaint  # noqa: E402
from mezzotint_app.viewmodel.create.images.image_input import ImageInputModel  # noqa: E402
from mezzotint_app.viewmodel.dropped.data import DropData  # noqa: E402
from mezzotint_app.viewmodel.pixels import LoadedImage  # noqa: E402
from mezzotint_app.windows.create.image_input_panel import ImageInputPanel  # noqa: E402
from mezzotint_app.windows.create.image_input_words import strength_words  # noqa: E402


def image(width=40, height=30):
    made = QImage(width, height, QImage.Format.Format_RGB32)
    made.fill(0)
    return made


@pytest.fixture
def model(service, inline):
    return ImageInputModel(service, inline)


@pytest.fixture
def panel(qtbot, model):
    made = ImageInputPanel(model)
    qtbot.addWidget(made)
    made.resize(300, 400)
    made.show()
    return made


def load(model, path="/a/b.png"):
    model.set_image(path)
    model._loaded(LoadedImage(image=image(), width=400, height=300))


def words(panel):
    return [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]


def button(panel, name):
    (found,) = [
        one
        for kind in (QPushButton, QToolButton)
        for one in panel.findChildren(kind)
        if one.accessibleName() == name or one.text() == name
    ]
    return found


def test_an_empty_panel_asks_for_an_image(panel):
    assert any("Drop an init image" in text for text in words(panel))
    assert not panel.findChild(QSlider).isVisible()


def test_a_dropped_file_is_begun_from(panel, model):
    panel.take(DropData(paths=("/a/b.png", "/c.png")))
    assert model.path() == "/a/b.png"
    assert panel.findChild(QSlider).isVisible()
    model._loaded(LoadedImage(image=image(), width=400, height=300))
    assert any("400 × 300" in text for text in words(panel))


def test_the_clipboard_is_pasted(panel, model, qtbot):
    QGuiApplication.clipboard().setImage(image())
    qtbot.mouseClick(button(panel, "Paste an init image"), Qt.MouseButton.LeftButton)
    assert model.path().endswith(".png")


@pytest.mark.parametrize("held", [DropData(), DropData(elsewhere=2)])
def test_what_is_no_image_is_told(panel, model, held):
    told = []
    panel.message.connect(told.append)
    panel.take(held)
    assert len(told) == 1
    assert model.path() == ""


def test_the_slider_is_the_strength(panel, model):
    load(model)
    slider = panel.findChild(QSlider)
    assert slider.value() == 60
    slider.setValue(25)
    assert model.strength() == 0.25
    assert strength_words(0.25) in words(panel)
    model.set_strength(0.9)
    assert slider.value() == 90


def test_every_strength_has_its_words():
    assert len({strength_words(percent / 100) for percent in range(101)}) == 6


def test_what_is_cut_off_is_said_and_its_size_can_be_taken(panel, model, qtbot):
    load(model)
    model.set_target(300, 300)
    assert any("25 %" in text and "sides" in text for text in words(panel))
    wanted = []
    model.size_wanted.connect(lambda width, height: wanted.append((width, height)))
    qtbot.mouseClick(button(panel, "Use its size"), Qt.MouseButton.LeftButton)
    assert wanted == [(400, 300)]


def test_mask_and_frame_are_said_and_can_be_removed(panel, model, qtbot):
    load(model)
    images = (ImageInput(path=model.path()), ImageInput(path="m.png", role="mask"))
    model.apply(GenerateRequest(prompt="", images=images, inpaint=Inpaint(left=8, bottom=16)))
    assert any("masked area" in text and "left 8, bottom 16" in text for text in words(panel))
    assert not button(panel, "Use its size").isVisible(), "a growing image decides its size"
    remove = "Remove the mask and the extended canvas"
    qtbot.mouseClick(button(panel, remove), Qt.MouseButton.LeftButton)
    assert model.inpaint() is None


def test_an_image_that_cannot_be_read_says_so_in_plain_text(panel, model, service):
    model.set_image("/a/<b>.txt")
    service.fail("image_refused", "<b>.txt is text")
    labels = [label for label in panel.findChildren(QLabel) if label.text() == "<b>.txt is text"]
    assert [label.textFormat() for label in labels] == [Qt.TextFormat.PlainText]
    assert not button(panel, "Inpaint / outpaint…").isEnabled()


def test_it_can_be_removed(panel, model, qtbot):
    load(model)
    qtbot.mouseClick(button(panel, "Remove the init image"), Qt.MouseButton.LeftButton)
    assert model.path() == ""


def test_a_file_can_be_chosen(panel, model):
    dialog = panel.choose()
    assert isinstance(dialog, QFileDialog)
    dialog.fileSelected.emit("/x/y.png")
    assert model.path() == "/x/y.png"
    dialog.close()


def test_everything_has_a_name_and_a_tooltip(panel, model):
    load(model)
    for kind in (QPushButton, QToolButton, QSlider):
        for one in panel.findChildren(kind):
            assert one.accessibleName() or one.text()
            assert one.toolTip()


def test_the_canvas_is_asked_for_the_mask(panel, model, qtbot):
    load(model)
    with qtbot.waitSignal(panel.canvas_wanted):
        qtbot.mouseClick(button(panel, "Inpaint / outpaint…"), Qt.MouseButton.LeftButton)
