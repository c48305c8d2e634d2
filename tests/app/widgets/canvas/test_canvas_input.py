"""Mouse, pen, wheel and keys reach the tools, and the view shows the document where it says."""

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QColor, QImage, QInputDevice, QPointingDevice, QTabletEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from mezzotint_app.viewmodel.canvas.document import CanvasDocument
from mezzotint_app.viewmodel.canvas.tools import CanvasTools
from mezzotint_app.widgets.canvas.canvas_input import Canvas

LEFT, RIGHT, NONE = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton, Qt.KeyboardModifier.NoModifier
CONTROL, ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier


@pytest.fixture
def canvas(qtbot):
    document = CanvasDocument()
    made = Canvas(document, CanvasTools(document))
    qtbot.addWidget(made)
    made.resize(400, 300)
    made.show()
    made.show_part(QRect(0, 0, 352, 252))  # at its own size
    made.tools.set_colour(QColor("red"))
    return made


def drag(canvas, *way, button=LEFT, keys=NONE):
    QTest.mousePress(canvas, button, keys, way[0])
    for at in way[1:]:
        QTest.mouseMove(canvas, at)
    QTest.mouseRelease(canvas, button, keys, way[-1])


def shown(canvas, x, y):
    canvas._settling.stop()
    return canvas.grab().toImage().pixelColor(canvas.to_view(QPointF(x, y)).toPoint())


def pen(canvas, kind, at, pressure, tip=QPointingDevice.PointerType.Pen):
    device = QPointingDevice("pen", 1, QInputDevice.DeviceType.Stylus, tip, QInputDevice.Capability.Pressure, 1, 1)
    where = QPointF(at), QPointF(canvas.mapToGlobal(at))
    event = QTabletEvent(kind, device, *where, pressure, 0, 0, 0, 0, 0, NONE, LEFT, LEFT)
    QApplication.sendEvent(canvas, event)


def test_a_drag_paints_and_is_seen(canvas):
    drag(canvas, QPoint(100, 100), QPoint(200, 100))
    assert shown(canvas, 100, 76) == QColor("red")
    assert canvas.document.can_undo()
    canvas.zoom_by(1 / 6)
    assert canvas.level() == 2 and shown(canvas, 100, 76) == QColor("red")
    drag(canvas, QPoint(100, 100), QPoint(140, 100), button=RIGHT)
    assert shown(canvas, 100, 76) == QColor("red"), "panning moves the picture with its pixels"


def test_a_control_layer_is_on_black_as_it_is_used(canvas):
    ground = shown(canvas, 20, 20)
    identity = canvas.document.add_layer("control", "", QImage(9, 9, QImage.Format.Format_RGB32), (90, 90))
    assert shown(canvas, 20, 20) == QColor("black") != ground
    canvas.document.change_layer(identity, visible=False)
    assert shown(canvas, 20, 20) == ground


def test_what_is_shown_stays_in_sight_until_the_view_is_moved(canvas):
    canvas.resize(400, 200)
    assert canvas.rect_in_view(QRect(0, 0, 352, 252)).bottom() < 200
    canvas.tools.press(QPointF(5, 5))
    scale = canvas.scale()
    canvas.resize(400, 150)
    assert canvas.scale() == scale, "not during a stroke"
    canvas.tools.release()
    canvas.pan(5, 5)
    canvas.resize(400, 300)
    assert canvas.scale() == scale


def test_the_wheel_zooms_around_the_pointer_and_two_fingers_pan(canvas):
    at = QPointF(100, 50)
    before = canvas.to_canvas(at)
    for pixels, turned in ((QPoint(), QPoint(0, 120)), (QPoint(30, 8), QPoint())):
        phase = Qt.ScrollPhase.NoScrollPhase
        event = QWheelEvent(at, at, pixels, turned, Qt.MouseButton.NoButton, NONE, phase, False)
        QApplication.sendEvent(canvas, event)
    moved = canvas.to_view(before) - at
    assert canvas.scale() == pytest.approx(1.25)
    assert (moved.x(), moved.y()) == (pytest.approx(30, abs=1), pytest.approx(8, abs=1))


def test_a_pen_presses_with_its_pressure_and_erases_with_its_other_end(canvas):
    for pressure in (0.05, 1.0):
        pen(canvas, QEvent.Type.TabletPress, QPoint(200, 100), pressure)
        pen(canvas, QEvent.Type.TabletMove, QPoint(201, 100), pressure)
        pen(canvas, QEvent.Type.TabletRelease, QPoint(201, 100), 0.0)
    widths = [canvas.document.store(canvas.document.active().id).content().width()]
    canvas.document.undo()
    widths.append(canvas.document.store(canvas.document.active().id).content().width())
    assert widths[0] > 40 > 15 > widths[1] > 0
    pen(canvas, QEvent.Type.TabletPress, QPoint(10, 10), 1.0, QPointingDevice.PointerType.Eraser)
    assert canvas.tools.tool() == "eraser"


def test_everything_by_keys(canvas):
    canvas.setFocus()
    QTest.keyClick(canvas, Qt.Key.Key_Return)  # holds the brush
    for _ in range(5):
        QTest.keyClick(canvas, Qt.Key.Key_Right)
    QTest.keyClick(canvas, Qt.Key.Key_Return)
    assert canvas.document.store(canvas.document.active().id).content().width() > 100
    QTest.keyClicks(canvas, "r")
    QTest.keyPress(canvas, Qt.Key.Key_Space)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Left):
        QTest.keyClick(canvas, key)
    QTest.keyClick(canvas, Qt.Key.Key_Escape)
    assert not canvas.tools.is_busy()
    size = canvas.tools.brush().size
    QTest.keyClicks(canvas, "[[")
    assert canvas.tools.brush().size < size and canvas.tools.tool() == "rectangle"
    for _ in range(60):
        QTest.keyClick(canvas, Qt.Key.Key_Right)
    assert canvas.rect().contains(canvas.to_view(canvas.pointer()).toPoint()), "the pointer stays in sight"
    QTest.keyClicks(canvas, "0")
    assert canvas.rect().contains(canvas.rect_in_view(canvas.document.frame()).toRect())


def test_shapes_are_outlined_control_erases_and_alt_picks(canvas):
    canvas.tools.set_tool("rectangle")
    drag(canvas, QPoint(50, 50), QPoint(150, 150))
    drag(canvas, QPoint(100, 100), QPoint(150, 150), keys=CONTROL)
    assert canvas.document.colour_at(QPoint(40, 40)) == QColor("red")
    assert canvas.document.colour_at(QPoint(100, 100)) is None
    canvas.tools.set_colour(QColor("blue"))
    QTest.mouseClick(canvas, LEFT, ALT, QPoint(60, 60))
    assert canvas.tools.colour() == QColor("red")


def test_what_is_generated_lies_over_its_frame(canvas):
    image = QImage(QSize(20, 20), QImage.Format.Format_RGB32)
    image.fill(QColor("lime"))
    canvas.show_overlay((image, QRect(100, 100, 40, 40)))
    assert shown(canvas, 120, 120) == QColor("lime")
    canvas.tools.set_tool("frame")
    canvas.show_overlay(None)
    assert shown(canvas, 120, 120) != QColor("lime")
