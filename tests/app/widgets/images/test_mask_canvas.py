"""Strokes of the mouse and of the keys change the mask where they should; edges of the frame can be dragged."""

import pytest
from skip_rules import skip_module_without

skip_module_without("PySide6")

from PySide6.QtCore import QPoint, QPointF, QSize, Qt  # noqa: E402
from PySide6.QtGui import QColor, QImage  # noqa: E402

from mezzotint_app.viewmodel.create.images.mask import MaskDocument  # noqa: E402
from mezzotint_app.viewmodel.create.images.mask_stroke import Brush  # noqa: E402
from mezzotint_app.viewmodel.create.images.outpaint_padding import OutpaintPadding  # noqa: E402
from mezzotint_app.widgets.images.mask_canvas import MaskCanvas  # noqa: E402

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def document():
    return MaskDocument(400, 300)


@pytest.fixture
def canvas(qtbot, inline, document):
    made = MaskCanvas(document, pool=inline)
    qtbot.addWidget(made)
    made.resize(500, 400)
    made.show()
    image = QImage(400, 300, QImage.Format.Format_RGB32)
    image.fill(QColor("#607080"))
    made.show_image(image)
    made.set_brush(Brush(size=20, hardness=1))
    return made


def point(canvas, x, y):
    across, down = canvas.viewport_now().to_view(x, y)
    return QPoint(round(across), round(down))


def light(document, x, y):
    return document.image().pixelColor(x, y).red() == 255


def painted(document):
    image = document.image()
    return any(image.pixelColor(x, y).red() for x in range(0, image.width(), 4) for y in range(0, image.height(), 4))


def stroke(qtbot, canvas, start, end, keys=Qt.KeyboardModifier.NoModifier):
    qtbot.mousePress(canvas, LEFT, keys, point(canvas, *start))
    qtbot.mouseMove(canvas, point(canvas, *end))
    qtbot.mouseRelease(canvas, LEFT, keys, point(canvas, *end))


def test_the_mouse_paints_where_it_is(canvas, document, qtbot):
    stroke(qtbot, canvas, (100, 100), (200, 150))
    assert light(document, 100, 100)
    assert light(document, 150, 125)
    assert light(document, 200, 150)
    assert not light(document, 200, 100)
    document.undo()
    assert not painted(document)


def test_it_paints_there_however_one_has_zoomed(canvas, document, qtbot):
    canvas.zoom_by(5, QPointF(250, 200))
    stroke(qtbot, canvas, (205, 155), (215, 155))
    assert light(document, 210, 155)
    assert not light(document, 240, 155)


def test_the_mask_of_a_large_image_is_painted_in_its_own_pixels(canvas, document, qtbot):
    image = QImage(400, 300, QImage.Format.Format_RGB32)
    canvas.show_image(image, size=QSize(4000, 3000))
    canvas.set_brush(Brush(size=200, hardness=1))
    stroke(qtbot, canvas, (1000, 1000), (2000, 1500))
    assert light(document, 100, 100)
    assert light(document, 200, 150)
    assert not light(document, 100, 130)


def test_shift_draws_a_straight_line_from_the_last_place(canvas, document, qtbot):
    stroke(qtbot, canvas, (50, 50), (50, 50))
    stroke(qtbot, canvas, (250, 250), (250, 250), Qt.KeyboardModifier.ShiftModifier)
    assert light(document, 150, 150)


def test_the_middle_button_moves_the_image_and_paints_nothing(canvas, document, qtbot):
    canvas.zoom_by(6)
    x = canvas.viewport_now().x
    qtbot.mousePress(canvas, Qt.MouseButton.MiddleButton, pos=QPoint(250, 200))
    qtbot.mouseMove(canvas, QPoint(200, 200))
    qtbot.mouseRelease(canvas, Qt.MouseButton.MiddleButton, pos=QPoint(200, 200))
    assert canvas.viewport_now().x > x
    assert not painted(document)


def test_the_eraser_takes_away(canvas, document, qtbot):
    document.fill()
    qtbot.keyClicks(canvas, "e")
    stroke(qtbot, canvas, (100, 100), (120, 100))
    assert not light(document, 110, 100)
    assert light(document, 110, 140)
    qtbot.keyClicks(canvas, "b")
    stroke(qtbot, canvas, (100, 100), (120, 100))
    assert light(document, 110, 100)
    qtbot.keyClicks(canvas, "x")
    assert canvas.brush().erase


def test_keys_change_the_brush_within_its_bounds(canvas, qtbot):
    qtbot.keyClicks(canvas, "]")
    assert canvas.brush().size == 25
    qtbot.keyClicks(canvas, "[" * 40)
    assert canvas.brush().size == 2
    qtbot.keyClicks(canvas, "]" * 60)
    assert canvas.brush().size == 1024
    qtbot.keyClicks(canvas, "{" * 20)
    assert canvas.brush().hardness == 0
    qtbot.keyClicks(canvas, "}" * 20)
    assert canvas.brush().hardness == 1


# ---- without a mouse


def test_arrow_keys_and_space_paint(canvas, document, qtbot):
    qtbot.keyPress(canvas, Qt.Key.Key_Space)
    for _ in range(10):
        qtbot.keyClick(canvas, Qt.Key.Key_Right)
    qtbot.keyRelease(canvas, Qt.Key.Key_Space)
    assert light(document, 200, 150), "from the middle"
    assert light(document, 240, 150)
    for _ in range(10):
        qtbot.keyClick(canvas, Qt.Key.Key_Down)
    assert not light(document, 250, 190), "Space is up"
    document.undo()
    assert not painted(document), "one stroke, one step"


def test_enter_keeps_the_brush_down_for_hands_that_cannot_hold_a_key(canvas, document, qtbot):
    qtbot.keyClick(canvas, Qt.Key.Key_Return)
    for _ in range(10):
        qtbot.keyClick(canvas, Qt.Key.Key_Up)
    assert "painting" in canvas.accessibleDescription()
    qtbot.keyClick(canvas, Qt.Key.Key_Return)
    assert not document.is_painting()
    assert light(document, 200, 120)


def test_the_brush_stays_in_the_image_and_in_sight(canvas, qtbot):
    canvas.zoom_by(8)
    for _ in range(200):
        qtbot.keyClick(canvas, Qt.Key.Key_Left)
    across, down = canvas.viewport_now().to_view(canvas._at.x(), canvas._at.y())
    assert canvas._at.x() == 0
    assert 0 <= across <= canvas.width()
    assert 0 <= down <= canvas.height()


def test_shift_moves_the_brush_by_a_pixel(canvas, qtbot):
    qtbot.keyClick(canvas, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert canvas._at == QPointF(201, 150)


def test_a_stroke_ends_when_the_keyboard_goes_elsewhere(canvas, document, qtbot):
    qtbot.keyPress(canvas, Qt.Key.Key_Space)
    assert document.is_painting()
    canvas.clearFocus()
    assert not document.is_painting()


# ---- the frame


def edge(canvas, name):
    frame = canvas.frame_rect()
    middle = frame.center()
    places = {
        "right": QPointF(frame.right(), middle.y()),
        "left": QPointF(frame.left(), middle.y()),
        "bottom right": frame.bottomRight(),
    }
    return places[name].toPoint()


def drag(qtbot, canvas, start, by):
    qtbot.mousePress(canvas, LEFT, pos=start)
    qtbot.mouseMove(canvas, start + by)
    qtbot.mouseRelease(canvas, LEFT, pos=start + by)


def test_an_edge_is_dragged_outwards_and_back(canvas, document, qtbot):
    told = []
    canvas.outpaint_padding_changed.connect(lambda: told.append(canvas.outpaint_padding()))
    scale = canvas.viewport_now().scale
    drag(qtbot, canvas, edge(canvas, "right"), QPoint(round(64 * scale), 0))
    assert canvas.outpaint_padding() == OutpaintPadding(right=64)
    assert told
    assert not painted(document)
    drag(qtbot, canvas, edge(canvas, "right"), QPoint(-300, 0))
    assert canvas.outpaint_padding() == OutpaintPadding()


def test_a_corner_drags_two_edges(canvas, qtbot):
    scale = canvas.viewport_now().scale
    drag(qtbot, canvas, edge(canvas, "bottom right"), QPoint(round(32 * scale), round(16 * scale)))
    assert canvas.outpaint_padding() == OutpaintPadding(right=32, bottom=16)


def test_all_of_the_grown_image_can_be_seen(canvas):
    canvas.set_outpaint_padding(OutpaintPadding(left=400, bottom=300))
    frame = canvas.frame_rect()
    assert frame.left() >= 0
    assert frame.bottom() <= canvas.height()
    assert frame.width() == pytest.approx(800 * canvas.viewport_now().scale)


def test_the_pointer_tells_what_can_be_held(canvas):
    assert canvas.cursor_at(QPointF(edge(canvas, "left"))) == Qt.CursorShape.SizeHorCursor
    assert canvas.cursor_at(QPointF(edge(canvas, "bottom right"))) == Qt.CursorShape.SizeFDiagCursor
    assert canvas.cursor_at(QPointF(250, 200)) == Qt.CursorShape.CrossCursor


# ---- what is seen


def test_the_mask_is_seen_and_only_it(canvas, document):
    before = canvas.grab().toImage()
    document.begin(Brush(size=60, hardness=1), 100, 100)
    document.end()
    after = canvas.grab().toImage()
    ratio = canvas.devicePixelRatioF()
    inside, outside = point(canvas, 100, 100) * ratio, point(canvas, 300, 200) * ratio
    assert before.pixelColor(inside) != after.pixelColor(inside)
    assert before.pixelColor(outside) == after.pixelColor(outside)


def test_a_stroke_repaints_only_its_surroundings(canvas, document, monkeypatch):
    asked = []
    monkeypatch.setattr(canvas, "update", lambda *where: asked.extend(where))
    document.begin(Brush(size=20, hardness=1), 100, 100)
    assert asked
    scale = canvas.viewport_now().scale
    assert all(where.width() <= 30 * scale + 10 and where.height() <= 30 * scale + 10 for where in asked)


def test_without_an_image_nothing_happens(qtbot, inline, document):
    empty = MaskCanvas(document, pool=inline)
    qtbot.addWidget(empty)
    empty.show()
    qtbot.mouseClick(empty, LEFT)
    qtbot.keyClick(empty, Qt.Key.Key_Space)
    qtbot.keyClicks(empty, "e]")
    assert not painted(document)
    assert empty.brush() == Brush()
