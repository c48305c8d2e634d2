"""The image on the screen: what lies under the pointer stays, its pixels are seen, keys do what the mouse does."""

import pytest
from skip_rules import skip_module_without

skip_module_without("PySide6")

from PySide6.QtCore import QEvent, QPoint, QPointF, QSize, Qt  # noqa: E402
from PySide6.QtGui import QColor, QImage, QKeyEvent, QNativeGestureEvent, QPainter, QPointingDevice, QWheelEvent  # noqa: E402
from PySide6.QtWidgets import QApplication  # noqa: E402

from mezzotint_app.widgets.images.compare_slider import CompareSlider  # noqa: E402
from mezzotint_app.widgets.images.image_view import ImageView  # noqa: E402


def halves(width=200, height=100, left="#ff0000", right="#0000ff"):
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(QColor(left))
    painter = QPainter(image)
    painter.fillRect(width // 2, 0, width, height, QColor(right))
    painter.end()
    return image


@pytest.fixture
def view(qtbot, inline):
    made = ImageView(pool=inline)
    qtbot.addWidget(made)
    made.resize(400, 300)
    made.show()
    return made


def wheel(view, at, notches, control=True):
    keys = Qt.KeyboardModifier.ControlModifier if control else Qt.KeyboardModifier.NoModifier
    event = QWheelEvent(
        QPointF(at),
        QPointF(view.mapToGlobal(at)),
        QPoint(),
        QPoint(0, 120 * notches),
        Qt.MouseButton.NoButton,
        keys,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view, event)
    return event


def at_pixel(view, x, y):
    return view.grab().toImage().pixelColor(QPoint(x, y) * view.devicePixelRatioF())


def test_a_new_image_is_seen_whole(view):
    view.show_image(halves())
    assert view.image_rect().width() == pytest.approx(400)
    assert at_pixel(view, 20, 150) == QColor("#ff0000")
    assert at_pixel(view, 380, 150) == QColor("#0000ff")


def test_it_stays_whole_when_the_view_changes_until_somebody_zooms(view):
    view.show_image(halves())
    view.resize(200, 200)
    assert view.image_rect().width() == pytest.approx(200)
    view.zoom_by(2)
    view.resize(220, 220)
    assert view.image_rect().width() == pytest.approx(400)
    view.fit()
    view.resize(100, 100)
    assert view.image_rect().width() == pytest.approx(100)


@pytest.mark.parametrize("at", [QPoint(133, 140), QPoint(300, 200)])
def test_control_and_wheel_zoom_around_the_pointer(view, at):
    view.show_image(halves(2000, 1500))
    view.zoom_by(4)
    before = view.viewport_now().to_image(at.x(), at.y())
    wheel(view, at, 3)
    assert view.viewport_now().to_image(at.x(), at.y()) == pytest.approx(before)
    assert view.zoom() > 1


def test_a_wheel_that_means_nothing_goes_on_to_the_page(view):
    assert not wheel(view, QPoint(10, 10), 1, control=False).isAccepted()
    view.show_image(halves())
    assert not wheel(view, QPoint(10, 10), 1, control=False).isAccepted()
    view.zoom_by(4)
    assert wheel(view, QPoint(10, 10), 1, control=False).isAccepted()


def test_pinching_zooms(view):
    view.show_image(halves())
    before = view.zoom()
    event = QNativeGestureEvent(
        Qt.NativeGestureType.ZoomNativeGesture,
        QPointingDevice.primaryPointingDevice(),
        2,
        QPointF(50, 50),
        QPointF(50, 50),
        QPointF(50, 50),
        0.5,
        QPointF(),
    )
    QApplication.sendEvent(view, event)
    assert view.zoom() == pytest.approx(1.5 * before)


def test_keys_zoom_and_move(view, qtbot):
    view.show_image(halves(1000, 1000))
    whole = view.zoom()
    qtbot.keyClicks(view, "+")
    assert view.zoom() > whole
    qtbot.keyClicks(view, "-")
    assert view.zoom() == pytest.approx(whole)
    qtbot.keyClicks(view, "1")
    assert view.zoom() == pytest.approx(1)
    x = view.viewport_now().x
    qtbot.keyClick(view, Qt.Key.Key_Right)
    assert view.viewport_now().x > x
    qtbot.keyClicks(view, "0")
    assert view.zoom() == pytest.approx(whole)


def test_keys_without_a_meaning_go_on_to_the_window(view):
    view.show_image(halves())
    event = _key(Qt.Key.Key_Right)
    QApplication.sendEvent(view, event)
    assert not event.isAccepted(), "nothing is out of sight: the window may turn the page"
    view.leave_digits()
    event = _key(Qt.Key.Key_1, "1")
    QApplication.sendEvent(view, event)
    assert not event.isAccepted()


def _key(key, text=""):
    event = QKeyEvent(QEvent.Type.KeyPress, key, Qt.KeyboardModifier.NoModifier, text)
    event.setAccepted(False)
    return event


def test_dragging_moves_the_image_with_the_pointer(view, qtbot):
    view.show_image(halves(2000, 2000))
    view.actual_size()
    start, end = QPoint(200, 150), QPoint(150, 120)
    place = view.viewport_now().to_image(start.x(), start.y())
    qtbot.mousePress(view, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(view, end)
    qtbot.mouseRelease(view, Qt.MouseButton.LeftButton, pos=end)
    assert view.viewport_now().to_image(end.x(), end.y()) == pytest.approx(place)
    qtbot.mouseMove(view, start)
    assert view.viewport_now().to_image(end.x(), end.y()) == pytest.approx(place), "it is let go of"


def test_enter_and_a_double_click_activate(view, qtbot):
    view.show_image(halves())
    with qtbot.waitSignal(view.activated):
        qtbot.keyClick(view, Qt.Key.Key_Return)
    with qtbot.waitSignal(view.activated):
        qtbot.mouseDClick(view, Qt.MouseButton.LeftButton, pos=QPoint(50, 150))


def test_pixels_are_seen_as_squares_when_they_are_large(view):
    view.show_image(halves(4, 3))
    fitted = at_pixel(view, 199, 150)
    assert fitted not in (QColor("#ff0000"), QColor("#0000ff"))  # nobody has zoomed in
    view.zoom_by(1.0)
    middle = [at_pixel(view, x, 150) for x in (190, 199, 201, 210)]
    assert middle == [QColor("#ff0000")] * 2 + [QColor("#0000ff")] * 2


def test_one_pixel_is_one_pixel_of_the_screen_at_actual_size(view):
    image = halves(1000, 1000)
    image.setPixelColor(500, 500, QColor("#00ff00"))
    view.show_image(image)
    view.actual_size()
    ratio = view.devicePixelRatioF()
    grabbed = view.grab().toImage()
    across, down = view.viewport_now().to_view(500, 500)
    assert grabbed.pixelColor(round(across * ratio), round(down * ratio)) == QColor("#00ff00")
    assert grabbed.pixelColor(round(across * ratio) + 1, round(down * ratio)) == QColor("#0000ff")


def test_a_small_copy_stands_for_the_image_until_it_is_there(view):
    view.show_image(halves(50, 25), size=QSize(200, 100))
    view.zoom_by(3)
    before = view.image_rect()
    view.show_image(halves(200, 100), keep_view=True)
    assert view.image_rect() == before
    assert view.image_size() == QSize(200, 100)


def test_an_image_of_another_size_keeps_its_place_on_the_screen(view):
    view.show_image(halves(50, 25))
    view.zoom_by(3)
    before = view.image_rect()
    view.show_image(halves(500, 250), keep_view=True)
    assert view.image_rect().width() == pytest.approx(before.width())
    assert view.image_rect().left() == pytest.approx(before.left())


def test_transparent_parts_show_squares(view):
    image = QImage(100, 100, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    view.show_image(image)
    grabbed = view.grab().toImage()
    assert len({grabbed.pixelColor(200 + 8 * step, 150).rgb() for step in range(2)}) == 2


def test_an_empty_view_shows_words_as_they_are(view):
    view.clear("<b>nothing</b> yet")
    assert not view.has_image()
    assert view.accessibleDescription() == "<b>nothing</b> yet"
    view.grab()
    view.show_image(QImage())
    assert not view.has_image()


def test_screen_readers_hear_size_and_zoom(view):
    view.show_image(halves())
    assert view.accessibleName()
    assert "200" in view.accessibleDescription()
    assert f"{round(200 * view.devicePixelRatioF())} %" in view.accessibleDescription()


# ---- comparison


def slider(view):
    return view.findChild(CompareSlider)


def test_the_image_before_lies_left_of_the_line(view):
    view.show_image(halves(left="#ff0000", right="#ff0000"))
    view.compare(halves(left="#00ff00", right="#00ff00"))
    assert at_pixel(view, 20, 150) == QColor("#00ff00")
    assert at_pixel(view, 380, 150) == QColor("#ff0000")
    view.compare(None)
    assert at_pixel(view, 20, 150) == QColor("#ff0000")
    assert slider(view).isHidden()


def test_the_line_is_pushed_with_the_pointer(view, qtbot):
    view.show_image(halves(left="#ff0000", right="#ff0000"))
    view.compare(halves(left="#00ff00", right="#00ff00"))
    qtbot.mousePress(view, Qt.MouseButton.LeftButton, pos=QPoint(200, 100))
    qtbot.mouseMove(view, QPoint(300, 100))
    qtbot.mouseRelease(view, Qt.MouseButton.LeftButton, pos=QPoint(300, 100))
    assert slider(view).part() == pytest.approx(0.75, abs=0.01)
    assert at_pixel(view, 280, 150) == QColor("#00ff00")


def test_the_line_is_pushed_with_keys(view, qtbot):
    view.show_image(halves())
    view.compare(halves())
    qtbot.keyClick(view, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert slider(view).part() < 0.5
    qtbot.keyClick(slider(view), Qt.Key.Key_End)
    assert slider(view).part() == 1
    assert slider(view).accessibleName()
    assert slider(view).focusPolicy() & Qt.FocusPolicy.TabFocus


def test_the_line_can_be_reached_however_far_one_zooms(view):
    view.show_image(halves(2000, 2000))
    view.compare(halves(2000, 2000))
    view.zoom_by(10)
    for part in (0.0, 0.5, 1.0):
        slider(view).set_part(part)
        assert 0 <= view._line() <= view.width()
