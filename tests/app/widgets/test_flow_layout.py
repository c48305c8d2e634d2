"""Widgets in lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QWidget

from mezzotint_app.widgets.flow_layout import FlowLayout


def made(widths, margins=0):
    parent = QWidget()
    layout = FlowLayout(parent, spacing=8)
    layout.setContentsMargins(margins, margins, margins, margins)
    for width in widths:
        widget = QWidget()
        widget.setFixedSize(width, 20)
        layout.addWidget(widget)
    return parent, layout


@given(st.lists(st.integers(10, 200), max_size=10), st.integers(60, 500), st.integers(0, 12))
def test_nothing_overlaps_and_the_height_is_that_of_all_lines(qapp, widths, width, margins):
    parent, layout = made(widths, margins)
    height = layout.heightForWidth(width)
    layout.setGeometry(QRect(0, 0, width, height))
    places = [layout.itemAt(number).geometry() for number in range(layout.count())]
    assert all(not a.intersects(b) for number, a in enumerate(places) for b in places[:number])
    room = max(width - 2 * margins, max(widths, default=0))
    assert all(margins <= place.left() and place.right() < margins + room for place in places)
    assert max((place.bottom() + 1 for place in places), default=margins) + margins == height
    assert parent.isHidden()


def test_hidden_widgets_take_no_room(qapp):
    parent, layout = made([100, 100])
    layout.itemAt(0).widget().hide()
    assert layout.heightForWidth(120) == 20
    parent.deleteLater()


def test_lines_begin_at_the_right_where_people_read_so(qapp):
    parent, layout = made([100, 50])
    parent.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    layout.setGeometry(QRect(0, 0, 400, 40))
    assert layout.itemAt(0).geometry().right() == 399
    assert layout.itemAt(1).geometry().right() == 399 - 108


@pytest.mark.parametrize("at", [-1, 2])
def test_there_is_nothing_beyond_the_ends(qapp, at):
    parent, layout = made([10, 10])
    assert layout.itemAt(at) is None
    assert layout.takeAt(at) is None
    assert layout.takeAt(0).widget() is not None
    assert layout.count() == 1
    parent.deleteLater()
