"""The page with mask and frame: what is painted and typed reaches the request when it is used, and not before."""

import pytest
from skip_rules import skip_module_without

skip_module_without("PySide6")

from PySide6.QtCore import QPoint, Qt  # noqa: E402
from PySide6.QtGui import QImage  # noqa: E402
from PySide6.QtWidgets import QAbstractButton, QComboBox, QSlider, QSpinBox, QToolButton  # noqa: E402

from mezzotint import paths  # noqa: E402
from mezzotint.protocol import GenerateRequest, ImageInput, Inpaint  # noqa: E402
from mezzotint_app.viewmodel.create.images.image_input import ImageInputModel  # noqa: E402
from mezzotint_app.viewmodel.create.images.outpaint_padding import OutpaintPadding  # noqa: E402
from mezzotint_app.viewmodel.pixels import LoadedImage  # noqa: E402
from mezzotint_app.windows.create.mask_editor import MaskEditor  # noqa: E402


def image(width=400, height=300, value=90):
    made = QImage(width, height, QImage.Format.Format_RGB32)
    made.fill(0xFF000000 + 0x010101 * value)
    return made


IMAGE = LoadedImage(image=image(40, 30), width=400, height=300)


@pytest.fixture
def model(service, inline):
    made = ImageInputModel(service, inline)
    made.set_image("/a.png")
    made._loaded(IMAGE)
    return made


@pytest.fixture
def editor(qtbot, model, inline):
    return opened(qtbot, model, inline)


def opened(qtbot, model, inline, *, read=True):
    made = MaskEditor(model, IMAGE, pool=inline)
    qtbot.addWidget(made)
    made.resize(1000, 700)
    made.show()
    if read:
        made._image_is_there(image())
    return made


def named(editor, kind, name):
    (found,) = [one for one in editor.findChildren(kind) if one.accessibleName() == name]
    return found


def paint(qtbot, editor, x=200, y=150):
    across, down = editor.canvas.viewport_now().to_view(x, y)
    qtbot.mouseClick(editor.canvas, Qt.MouseButton.LeftButton, pos=QPoint(round(across), round(down)))


def test_a_painted_mask_is_used(editor, model, qtbot):
    paint(qtbot, editor)
    assert model.mask() is None
    with qtbot.waitSignal(editor.accepted):
        editor.use()
    assert [one.role for one in model.inputs()] == ["init", "mask"]
    saved = QImage(model.inputs()[1].path)
    assert (saved.width(), saved.height()) == (400, 300)
    assert saved.pixelColor(200, 150).red() == 255
    assert saved.pixelColor(10, 10).red() == 0


def test_cancelling_changes_nothing(editor, model, qtbot):
    paint(qtbot, editor)
    editor.canvas.set_outpaint_padding(OutpaintPadding(left=8))
    editor.reject()
    assert (model.mask(), model.inpaint()) == (None, None)


def test_the_form_is_the_way_of_painting(editor, model, qtbot):
    paint(qtbot, editor)
    area, fill = named(editor, QComboBox, "Inpaint area"), named(editor, QComboBox, "Fill")
    padding = named(editor, QSpinBox, "Padding")
    assert not padding.isEnabled()
    area.setCurrentIndex(1)
    assert padding.isEnabled()
    fill.setCurrentIndex(2)
    padding.setValue(96)
    named(editor, QSpinBox, "Feather").setValue(20)
    editor.use()
    assert model.inpaint() == Inpaint(area="masked", padding=96, feather=20, fill="noise")


def test_boxes_and_frame_are_one(editor, model):
    named(editor, QSpinBox, "Extend: Right").setValue(64)
    assert editor.canvas.outpaint_padding() == OutpaintPadding(right=64)
    editor.canvas.set_outpaint_padding(OutpaintPadding(right=64, top=32))
    assert named(editor, QSpinBox, "Extend: Top").value() == 32
    editor.use()
    assert model.inpaint() == Inpaint(right=64, top=32)
    assert len(model.inputs()) == 1, "nothing was painted: only the new parts are made"


def test_all_edges_go_back(editor):
    editor.canvas.set_outpaint_padding(OutpaintPadding(right=64, top=32))
    (none,) = [one for one in editor.findChildren(QAbstractButton) if one.text() == "Reset canvas"]
    none.click()
    assert editor.canvas.outpaint_padding() == OutpaintPadding()


def test_what_was_painted_before_is_there_again(editor, model, qtbot, inline):
    paint(qtbot, editor)
    editor.settings.show_outpaint_padding(OutpaintPadding(left=16))
    editor.use()
    again = opened(qtbot, model, inline)
    assert again._document.image().pixelColor(200, 150).red() == 255
    assert not again._document.can_undo()
    assert again.canvas.outpaint_padding() == OutpaintPadding(left=16)


def test_a_mask_of_other_settings_is_read_from_its_file(service, inline, qtbot):
    model = ImageInputModel(service, inline)
    model.apply(GenerateRequest(prompt="x", images=(ImageInput(path="/a.png"), ImageInput(path="/m.png", role="mask"))))
    model._loaded(IMAGE)
    editor = opened(qtbot, model, inline)
    assert service.last("pixels").params.path == "/m.png"
    editor._mask_is_there(image(200, 150, 255))
    assert editor._document.image().pixelColor(399, 299).red() == 255


def test_a_mask_that_is_gone_is_told_and_a_new_one_can_be_painted(service, inline, qtbot):
    model = ImageInputModel(service, inline)
    model.apply(GenerateRequest(prompt="x", images=(ImageInput(path="/a.png"), ImageInput(path="/m.png", role="mask"))))
    model._loaded(IMAGE)
    editor = opened(qtbot, model, inline)
    (call,) = [one.call for one in service.open("pixels") if one.params.path == "/m.png"]
    service.fail("storage", "cannot read /m.png", call=call)
    assert editor._problem.text() == "cannot read /m.png"
    paint(qtbot, editor)
    editor.use()
    assert model.mask().path != "/m.png"


def test_until_the_image_is_there_nothing_can_be_used(qtbot, model, inline, service):
    editor = opened(qtbot, model, inline, read=False)
    assert not editor._use.isEnabled()
    service.fail("image_refused", "/a.png is damaged", call=service.last("pixels").call)
    assert not editor._use.isEnabled()
    assert editor._problem.text() == "/a.png is damaged"


def test_a_full_disk_leaves_the_page_open_with_everything_on_it(editor, model, qtbot):
    paint(qtbot, editor)
    paths.state_folder().parent.mkdir(parents=True, exist_ok=True)
    paths.state_folder().write_bytes(b"")
    editor.use()
    assert editor.isVisible()
    assert "cannot write" in editor._problem.text()
    paths.state_folder().unlink()
    editor.use()
    assert model.mask() is not None


def test_cancelling_while_the_mask_is_written_leaves_it_out(editor, model, qtbot, inline):
    inline.held = True
    paint(qtbot, editor)
    editor.use()
    editor.reject()
    inline.go()
    assert model.mask() is None


def test_a_page_that_is_closed_while_the_image_is_read_is_told_nothing(qtbot, model, inline, service):
    editor = opened(qtbot, model, inline, read=False)
    editor.reject()
    service.fail("image_refused", "/a.png is damaged", call=service.last("pixels").call)
    assert editor._problem.text() == ""


# ---- tools


def test_tools_follow_the_brush_and_change_it(editor, qtbot):
    size, hardness = named(editor, QSlider, "Brush size"), named(editor, QSlider, "Brush hardness")
    hardness.setValue(35)
    assert editor.canvas.brush().hardness == 0.35
    before = editor.canvas.brush().size
    size.setValue(size.value() + 10)
    assert editor.canvas.brush().size > before
    qtbot.keyClicks(editor.canvas, "e]")
    eraser = named(editor, QToolButton, "Eraser: removes from the mask (E)")
    assert eraser.isChecked()
    assert size.value() > 0


def test_undo_redo_and_the_whole_mask(editor, qtbot):
    undo, redo = named(editor, QToolButton, "Undo"), named(editor, QToolButton, "Redo")
    assert not undo.isEnabled()
    editor.activateWindow()
    qtbot.waitUntil(editor.isActiveWindow)
    paint(qtbot, editor)
    qtbot.keyClick(editor.canvas, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert editor._document.image().pixelColor(200, 150).red() == 0
    assert redo.isEnabled()
    redo.click()
    named(editor, QToolButton, "Invert the mask").click()
    assert editor._document.image().pixelColor(200, 150).red() == 0
    named(editor, QToolButton, "Mask the whole image").click()
    assert editor._document.image().pixelColor(200, 150).red() == 255
    named(editor, QToolButton, "Clear the mask").click()
    assert editor._document.image().pixelColor(200, 150).red() == 0


def test_everything_has_a_name_and_a_tooltip(editor):
    for kind in (QAbstractButton, QSlider, QSpinBox, QComboBox):
        for one in editor.findChildren(kind):
            if one.focusPolicy() & Qt.FocusPolicy.TabFocus and one.isVisible():
                assert one.accessibleName() or one.text(), one
                assert one.toolTip(), one
