"""Two to four images side by side: they move together, and say what is different about them."""

import pytest
from gallery_made import metadata
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QImage

from mezzotint_app.viewmodel.gallery.comparison import ComparisonModel
from mezzotint_app.windows.gallery.compare_window import CompareWindow

PATHS = [f"/a/{number}.png" for number in range(4)]


def image(side=800):
    made = QImage(side, side, QImage.Format.Format_RGB32)
    made.fill(QColor("#446688"))
    return made


@pytest.fixture
def compared(qtbot, service, inline):
    def compare(count, sides=(800, 800, 800, 800)):
        model = ComparisonModel(service, inline, rating_of=lambda _path: 2)
        window = CompareWindow(model, pool=inline)
        qtbot.addWidget(window)
        window.open(PATHS[:count])
        window.showNormal()
        window.resize(1000, 700)
        for path, side in zip(PATHS[:count], sides, strict=False):
            model._loaded(path, image(side))
        return model, window

    return compare


def places(window):
    seen = [one.view.viewport_now() for one in window.images]
    return [(round(one.x / one.content.width, 3), round(one.scale * one.content.width)) for one in seen]


def test_four_zoom_and_move_together_whatever_their_sizes(compared):
    _, window = compared(4, (800, 800, 400, 1600))
    views = [one.view for one in window.images]
    views[1].zoom_by(6, QPointF(10, 10))
    assert len(set(places(window))) == 1
    views[3].push_image(-40, 0)
    assert len(set(places(window))) == 1
    views[2].fit()
    assert len({round(view.zoom() * view.image_size().width()) for view in views}) == 1


def test_what_differs_is_said_below_each(compared, service):
    _, window = compared(2)
    for path, steps in zip(PATHS[:2], (9, 20), strict=True):
        assert window.images[0].about.isHidden()
        call = next(one for one in service.open("metadata") if one.params["path"] == path)
        service.answer(metadata(prompt="a house", steps=steps, seed=7), call=call.call)
    assert [one.about.text() for one in window.images] == ["Steps: 9", "Steps: 20"]


def test_two_are_laid_over_each_other_by_c(compared, qtbot):
    _, window = compared(2)
    assert not window.slider.isHidden() and not window.images[1].view.is_comparing()
    qtbot.keyClick(window, Qt.Key.Key_C)
    assert window.images[0].isHidden() and window.images[1].view.is_comparing()
    window.images[1].view.zoom_by(4)
    qtbot.keyClick(window, Qt.Key.Key_C)
    assert not window.images[1].view.is_comparing() and len(set(places(window))) == 1


def test_digits_rate_the_focused_and_escape_closes(compared, qtbot):
    model, window = compared(3)
    assert window.slider.isHidden()
    window.activateWindow()
    window.images[2].view.setFocus()
    with qtbot.waitSignal(model.star_wanted) as told:
        qtbot.keyClick(window.images[2].view, Qt.Key.Key_4)
    assert told.args == [PATHS[2], 4] and [model.rating(index) for index in range(3)] == [2, 2, 4]
    window.images[0].stars.chosen.emit(1)
    assert model.rating(0) == 1
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert window.isHidden() and model.paths() == ()


def test_an_unreadable_one_says_why_and_others_can_follow(compared, service):
    model, window = compared(2)
    window.open(PATHS[:3])
    for method in ("pixels", "metadata"):
        service.fail(message="cannot be read", call=service.open(method)[-1].call)
    assert [model.problem(index) for index in range(3)].count("cannot be read") == 1
    assert model.differences(0) == [] and len(window.images) == 3
