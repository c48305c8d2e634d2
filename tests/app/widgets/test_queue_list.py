"""The list of the queue: rows in sight, and where something is dropped."""

import pytest
from PySide6.QtCore import QPoint, QStringListModel
from PySide6.QtWidgets import QAbstractItemView

from mezzotint_app.widgets.queue_list import QueueList, selected_rows


@pytest.fixture
def view(qtbot):
    view = QueueList()
    qtbot.addWidget(view)
    view.setModel(QStringListModel([f"row {number}" for number in range(1000)], view))
    view.resize(400, 300)
    view.show()
    qtbot.waitExposed(view)
    return view


def test_rows_in_sight_are_told_when_it_is_scrolled(view, qtbot):
    first, last = view.rows_in_sight()
    assert first == 0
    assert 2 <= last < 20
    with qtbot.waitSignal(view.visible_rows_changed) as told:
        view.scrollToBottom()
    assert told.args[1] == 999
    assert 980 < told.args[0] < 999


def test_a_place_between_rows_is_the_nearest(view):
    rect = view.visualRect(view.model().index(1))
    assert view.row_before(rect.topLeft() + QPoint(5, 2)) == 1
    assert view.row_before(rect.bottomLeft() + QPoint(5, -2)) == 2
    view.model().setStringList(["a", "b"])
    assert view.row_before(QPoint(5, view.viewport().height() - 2)) == 2
    assert view.row_before(QPoint(5, -5)) == 0


def test_the_selected_rows_are_in_order(view):
    view.setSelectionMode(QAbstractItemView.SelectionMode.MultiSelection)
    for row in (7, 3, 4):
        view.setCurrentIndex(view.model().index(row))
    assert selected_rows(view) == view.selected_rows() == [3, 4, 7]
    view.selectAll()
    assert len(view.selected_rows()) == 1000
