"""The viewer does by keys what its buttons do, and shows strangers' words as they are."""

import pytest
from skip_rules import skip_module_without

skip_module_without("PySide6")

from PySide6.QtCore import Qt  # noqa: E402
from PySide6.QtGui import QColor, QGuiApplication, QImage  # noqa: E402
from PySide6.QtWidgets import QAbstractButton, QLabel, QPlainTextEdit  # noqa: E402

from mezzotint.protocol import ImageMetadata  # noqa: E402
from mezzotint_app.viewmodel.gallery.viewer import ViewerModel  # noqa: E402
from mezzotint_app.windows.gallery.viewer import Viewer  # noqa: E402

PATHS = ["/a/0.png", "/a/1.png", "/a/2.png"]
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def image(colour="#ff0000", side=100):
    made = QImage(side, side, QImage.Format.Format_RGB32)
    made.fill(QColor(colour))
    return made


def says(prompt):
    fields = (
        "negative_prompt",
        "width",
        "height",
        "seed",
        "steps",
        "sampler",
        "schedule",
        "guidance_scale",
        "strength",
    )
    others = dict.fromkeys((*fields, "model", "model_hash", "request"))
    return ImageMetadata(program="a1111", prompt=prompt, other={}, **others)


@pytest.fixture
def model(service, inline, qapp):
    return ViewerModel(service, inline, rating_of=lambda _path: 0)


@pytest.fixture
def viewer(qtbot, model, inline):
    made = Viewer(model, pool=inline)
    qtbot.addWidget(made)
    made.resize(900, 600)
    made.open_at(PATHS, 1)
    for path, colour in zip(PATHS, ("#ff0000", "#00ff00", "#0000ff"), strict=True):
        model._loaded(path, image(colour))
    return made


def shown(viewer):
    return viewer.view.image().pixelColor(5, 5).name()


def test_it_opens_over_the_whole_screen_at_the_image(viewer):
    assert viewer.isFullScreen()
    assert shown(viewer) == "#00ff00"


@pytest.mark.parametrize(
    ("key", "path"),
    [
        (Qt.Key.Key_Right, 2),
        (Qt.Key.Key_PageDown, 2),
        (Qt.Key.Key_Space, 2),
        (Qt.Key.Key_Left, 0),
        (Qt.Key.Key_Backspace, 0),
        (Qt.Key.Key_Home, 0),
        (Qt.Key.Key_End, 2),
    ],
)
def test_keys_turn_the_page(viewer, model, qtbot, key, path):
    qtbot.keyClick(viewer.view, key)
    assert model.path() == PATHS[path]
    assert shown(viewer) == ("#ff0000", "#00ff00", "#0000ff")[path]


def test_arrows_move_an_image_that_is_out_of_sight(viewer, model, qtbot):
    viewer.view.zoom_by(20)
    qtbot.keyClick(viewer.view, Qt.Key.Key_Right)
    assert model.path() == PATHS[1]
    qtbot.keyClick(viewer.view, Qt.Key.Key_PageDown)
    assert model.path() == PATHS[2]


def test_digits_are_stars(viewer, model, qtbot):
    wanted = []
    model.star_wanted.connect(lambda path, stars: wanted.append((path, stars)))
    zoom = viewer.view.zoom()
    for digit in "4016":
        qtbot.keyClicks(viewer.view, digit)
    assert wanted == [(PATHS[1], 4), (PATHS[1], 0), (PATHS[1], 1)]
    assert viewer.view.zoom() == zoom


def test_stars_can_be_clicked(viewer, model):
    wanted = []
    model.star_wanted.connect(lambda _path, stars: wanted.append(stars))
    stars = [one for one in viewer.findChildren(QAbstractButton) if "(key: the digit" in one.accessibleName()]
    stars[2].click()
    stars[2].click()
    assert wanted == [3, 0]


def test_delete_asks_and_the_next_one_follows(viewer, model, qtbot):
    model.delete_wanted.connect(model.forget)
    qtbot.keyClick(viewer.view, Qt.Key.Key_Delete)
    assert model.path() == PATHS[2]
    qtbot.keyClick(viewer.view, Qt.Key.Key_Delete)
    qtbot.keyClick(viewer.view, Qt.Key.Key_Delete)
    assert not viewer.isVisible(), "nothing is left to look at"


def test_two_are_compared_at_the_same_place(viewer, model, qtbot):
    qtbot.keyClick(viewer.view, Qt.Key.Key_C)
    viewer.view.zoom_by(10)
    place = viewer.view.image_rect()
    qtbot.keyClick(viewer.view, Qt.Key.Key_PageDown)
    assert viewer.view.is_comparing()
    assert viewer.view.image_rect() == place
    qtbot.keyClick(viewer.view, Qt.Key.Key_C)
    assert not viewer.view.is_comparing()


def test_the_image_and_its_settings_are_copied_apart(viewer, service, qtbot):
    clipboard = QGuiApplication.clipboard()
    qtbot.keyClick(viewer.view, Qt.Key.Key_C, CONTROL)
    assert clipboard.image().pixelColor(5, 5) == QColor("#00ff00")
    qtbot.keyClick(viewer.view, Qt.Key.Key_C, CONTROL | SHIFT)
    service.answer(says("a house"), method="metadata")
    assert "a house" in clipboard.text()


def test_its_words_are_plain_and_bounded(viewer, model, service, qtbot):
    qtbot.keyClick(viewer.view, Qt.Key.Key_I)
    assert viewer.info.isVisible()
    service.answer(says("<b>bold</b> " * 100_000), method="metadata")
    readers = [one for one in viewer.info.findChildren(QPlainTextEdit) if one.isVisible()]
    assert readers[0].toPlainText().startswith("<b>bold</b>")
    assert len(readers[0].toPlainText()) < 25_000
    assert all(label.textFormat() == Qt.TextFormat.PlainText for label in viewer.info.findChildren(QLabel))
    qtbot.keyClick(viewer.view, Qt.Key.Key_I)
    assert not viewer.info.isVisible()


def test_a_damaged_image_says_why_and_the_next_can_be_seen(viewer, model, service, qtbot):
    model.open(["/a/bad.png", *PATHS], 0)
    service.fail("image_refused", "bad.png is damaged", call=service.last("pixels").call)
    assert viewer.view.accessibleDescription() == "bad.png is damaged"
    qtbot.keyClick(viewer.view, Qt.Key.Key_Right)
    assert model.path() == PATHS[0]


def test_escape_closes_and_lets_go_of_the_images(viewer, model, qtbot):
    qtbot.keyClick(viewer.view, Qt.Key.Key_Right)
    with qtbot.waitSignal(viewer.closed) as closed:
        qtbot.keyClick(viewer.view, Qt.Key.Key_Escape)
    assert closed.args == ["/a/2.png"] and not viewer.isVisible()
    assert model._images == {}


def test_it_can_be_opened_again(viewer, model, qtbot):
    viewer.close()
    viewer.open_at(PATHS, 0)
    model._loaded(PATHS[0], image("#123456"))
    assert shown(viewer) == "#123456"


def test_everything_has_a_name_and_a_tooltip(viewer):
    for one in viewer.findChildren(QAbstractButton):
        assert one.accessibleName()
        assert one.toolTip()


def test_a_slideshow_goes_round_until_it_is_stopped(qtbot, viewer, model):
    qtbot.keyClick(viewer, Qt.Key.Key_S)
    assert viewer.slides.isActive()
    for index in (2, 0, 1):
        viewer.slides.timeout.emit()
        assert model.index() == index
    qtbot.keyClick(viewer, Qt.Key.Key_S)
    assert not viewer.slides.isActive()
    qtbot.keyClick(viewer, Qt.Key.Key_S)
    model.open(["/a/9.png", PATHS[0]], 0)
    viewer.slides.timeout.emit()
    assert model.index() == 0  # still being read
    viewer.close()
    assert not viewer.slides.isActive()


def test_keys_star_and_vary(qtbot, viewer, model):
    stars = []
    model.star_wanted.connect(lambda _path, number: stars.append(number))
    for _ in range(2):
        qtbot.keyClick(viewer, Qt.Key.Key_Period)
    assert stars == [5, 0]
    with qtbot.waitSignal(viewer.variations_asked) as told:
        qtbot.keyClick(viewer, Qt.Key.Key_V)
    assert told.args == [PATHS[1]]
