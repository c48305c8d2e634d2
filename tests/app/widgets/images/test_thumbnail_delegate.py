"""An image in a grid as it is painted."""

import pytest
from PySide6.QtCore import QAbstractListModel, QModelIndex, QRect, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QListView, QStyle, QStyleOptionViewItem

from mezzotint_app import theme
from mezzotint_app.widgets.images.thumbnail_delegate import ThumbnailDelegate

THUMBNAIL, BROKEN, HEADING, RATING = range(1000, 1004)
NOWHERE = QModelIndex()


class One(QAbstractListModel):
    def __init__(self, shown):
        super().__init__()
        self.shown = shown

    def rowCount(self, parent=NOWHERE):
        return 0 if parent.isValid() else 1

    def data(self, index, role=0):
        return self.shown.get(role)


@pytest.fixture
def paint(qtbot, qapp):
    theme.apply(qapp, "dark")

    def painted(shown, state=QStyle.StateFlag.State_Enabled, side=128):
        model, view = One(shown), QListView()
        qtbot.addWidget(view)
        delegate = ThumbnailDelegate(thumbnail=THUMBNAIL, broken=BROKEN, heading=HEADING, rating=RATING, parent=view)
        delegate.set_side(side)
        option = QStyleOptionViewItem()
        option.initFrom(view)
        option.state, option.rect = state, QRect(delegate.cell().width() * 0, 0, *delegate.cell().toTuple())
        image = QImage(delegate.cell(), QImage.Format.Format_RGB32)
        image.fill(theme.colour("surface"))
        painter = QPainter(image)
        delegate.paint(painter, option, model.index(0))
        painter.end()
        return image

    yield painted
    theme.apply(qapp, "light")


def red(width, height):
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.red)
    return image


def places(image, colour):
    return [(x, y) for x in range(image.width()) for y in range(image.height()) if image.pixelColor(x, y) == colour]


@pytest.mark.parametrize(("width", "height"), [(256, 256), (256, 64), (64, 256), (16, 8)])
def test_an_image_fills_its_place_and_keeps_its_shape(paint, width, height):
    found = places(paint({THUMBNAIL: red(width, height)}), Qt.GlobalColor.red)
    wide = max(x for x, _ in found) - min(x for x, _ in found) + 1
    high = max(y for _, y in found) - min(y for _, y in found) + 1
    assert max(wide, high) == pytest.approx(128, abs=3)
    assert wide / high == pytest.approx(width / height, rel=0.1)


def test_what_cannot_be_shown_says_so(paint):
    under_way, broken = paint({}), paint({BROKEN: "it is damaged"})
    assert broken != under_way
    assert places(broken, theme.colour("warning"))


def test_selection_has_a_frame_and_a_tick(paint):
    plain = paint({THUMBNAIL: red(128, 128)})
    selected = paint({THUMBNAIL: red(128, 128)}, QStyle.StateFlag.State_Selected)
    accent = theme.colour("accent")
    assert not places(plain, accent)
    tick = [(x, y) for x, y in places(selected, accent) if 100 < x < 130 and 118 < y < 148]
    assert tick


def test_focus_is_seen(paint):
    focused = paint({THUMBNAIL: red(128, 128)}, QStyle.StateFlag.State_HasFocus)
    assert places(focused, theme.colour("focus"))


def test_each_star_is_painted(paint):
    inked = [len(places(paint({RATING: stars}), theme.colour("accent"))) for stars in range(6)]
    assert inked[0] == 0
    assert inked == sorted(inked)
    assert len(set(inked)) == 6


@pytest.mark.parametrize("heading", ["Today", "x" * 500, "<b>x</b>"])
@pytest.mark.parametrize("stars", [0, 5])
def test_a_new_date_is_told_above_the_image_and_covers_nothing_of_it(paint, heading, stars):
    shown = {THUMBNAIL: red(128, 128), RATING: stars}
    with_date, without = paint(shown | {HEADING: heading}), paint(shown)
    assert places(with_date, Qt.GlobalColor.red) == places(without, Qt.GlobalColor.red)
    assert len(places(with_date, theme.colour("accent"))) >= len(places(without, theme.colour("accent"))) - 40
    differs = [
        (x, y)
        for x in range(without.width())
        for y in range(without.height())
        if with_date.pixelColor(x, y) != without.pixelColor(x, y)
    ]
    assert differs
    assert max(y for _, y in differs) < 24
