"""An entry as it is painted."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QAbstractListModel, QModelIndex, QRect, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QListView, QStyle, QStyleOptionViewItem

from mezzotint_app import theme
from mezzotint_app.viewmodel.queue.queue import ThumbnailRole, ViewRole
from mezzotint_app.viewmodel.queue.texts import EntryView
from mezzotint_app.widgets.queue_delegate import QueueDelegate

NOWHERE = QModelIndex()
VIEW = EntryView(
    id=1,
    title="a hare",
    state="waiting",
    word="Waiting",
    about="0 of 4 images",
    note="",
    trouble=False,
    fraction=None,
    busy=False,
    first_image=None,
)


class One(QAbstractListModel):
    def __init__(self, view, image=None):
        super().__init__()
        self.shown = {ViewRole: view, ThumbnailRole: image}

    def rowCount(self, parent=NOWHERE):
        return 0 if parent.isValid() else 1

    def data(self, index, role=0):
        return self.shown.get(role)


@pytest.fixture
def paint(qtbot, qapp):
    theme.apply(qapp, "light")

    def painted(view, *, thumbnail=None, state=QStyle.StateFlag.State_Enabled, width=500, mirrored=False):
        model, list_view = One(view, thumbnail), QListView()
        qtbot.addWidget(list_view)
        delegate = QueueDelegate(list_view)
        option = QStyleOptionViewItem()
        option.initFrom(list_view)
        option.state = state
        option.direction = Qt.LayoutDirection.RightToLeft if mirrored else Qt.LayoutDirection.LeftToRight
        height = delegate.sizeHint(option, model.index(0)).height()
        option.rect = QRect(0, 0, width, height)
        image = QImage(width, height, QImage.Format.Format_RGB32)
        image.fill(theme.colour("surface"))
        painter = QPainter(image)
        delegate.paint(painter, option, model.index(0))
        painter.end()
        return image

    return painted


def colours(image, rect):
    return {
        image.pixelColor(x, y).name()
        for x in range(max(0, rect.left()), min(image.width(), rect.right()))
        for y in range(max(0, rect.top()), min(image.height(), rect.bottom()))
    }


def test_a_placeholder_is_painted_while_the_entry_is_under_way(paint):
    image = paint(None)
    assert len(colours(image, image.rect())) > 1


def test_the_bar_is_as_long_as_what_is_done(paint):
    accent = theme.colour("accent").name()
    lengths = []
    for fraction in (0.0, 0.5, 1.0):
        image = paint(replace(VIEW, state="running", word="Running", fraction=fraction))
        line = image.height() - 11
        lengths.append(sum(image.pixelColor(x, line).name() == accent for x in range(image.width())))
    assert lengths[0] == 0
    assert lengths[2] > 300
    assert lengths[1] == pytest.approx(lengths[2] / 2, abs=4)


def test_selection_and_focus_are_seen_without_colour(paint):
    plain = paint(VIEW)
    selected = paint(VIEW, state=QStyle.StateFlag.State_Enabled | QStyle.StateFlag.State_Selected)
    focused = paint(VIEW, state=QStyle.StateFlag.State_Enabled | QStyle.StateFlag.State_HasFocus)
    bar = QRect(0, 10, 3, 20)
    assert colours(selected, bar) == {theme.colour("accent").name()}
    assert colours(plain, bar) == {theme.colour("surface").name()}
    assert focused != plain


def test_an_error_has_a_drawing_beside_its_words(paint):
    quiet = paint(replace(VIEW, note="it ended"))
    trouble = paint(replace(VIEW, note="it ended", trouble=True))
    danger = theme.colour("danger").name()
    assert danger in colours(trouble, trouble.rect())
    assert danger not in colours(quiet, quiet.rect())


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("title", ["x" * 5000, "<b>not bold</b>", "منزل أحمر على شاطئ البحر", "\u202e\u0000\n", ""])
@pytest.mark.parametrize("width", [40, 700])
def test_no_title_is_too_strange(paint, title, width, mirrored):
    image = paint(replace(VIEW, title=title, note=title), width=width, mirrored=mirrored)
    assert image.width() == width


def test_the_image_keeps_its_shape(paint):
    thumbnail = QImage(200, 50, QImage.Format.Format_RGB32)
    thumbnail.fill(Qt.GlobalColor.red)
    image = paint(VIEW, thumbnail=thumbnail)
    red = [
        (x, y)
        for x in range(image.width())
        for y in range(image.height())
        if image.pixelColor(x, y) == Qt.GlobalColor.red
    ]
    wide = max(x for x, _ in red) - min(x for x, _ in red) + 1
    high = max(y for _, y in red) - min(y for _, y in red) + 1
    assert wide / high == pytest.approx(4, rel=0.15)
