"""A grid of equal cells: arithmetic beside a plain list, keyboard, and what is in sight."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QAbstractListModel, QItemSelectionModel, QModelIndex, QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QAbstractItemView

from mezzotint_app.widgets.images.grid_view import GridView

NOWHERE = QModelIndex()


class Numbers(QAbstractListModel):
    def __init__(self, count):
        super().__init__()
        self.numbers = list(range(count))
        self.read = 0

    def rowCount(self, parent=NOWHERE):
        return 0 if parent.isValid() else len(self.numbers)

    def data(self, index, role=0):
        self.read += 1
        return str(self.numbers[index.row()]) if role == 0 else None

    def put(self, row, number):
        self.beginInsertRows(QModelIndex(), row, row)
        self.numbers.insert(row, number)
        self.endInsertRows()

    def take(self, row):
        self.beginRemoveRows(QModelIndex(), row, row)
        del self.numbers[row]
        self.endRemoveRows()


def shown(qtbot, count, size=(640, 480), cell=(100, 90)):
    view, model = GridView(), Numbers(count)
    qtbot.addWidget(view)
    view.set_cell(QSize(*cell))
    view.setModel(model)
    view.resize(*size)
    view.show()
    qtbot.waitExposed(view)
    return view, model


def row_at(view, point):
    return view.indexAt(point).row()


@pytest.mark.parametrize("direction", [Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft])
def test_every_point_of_a_cell_is_that_cells_and_none_overlap(qtbot, direction):
    view, _ = shown(qtbot, 50)
    view.setLayoutDirection(direction)
    view.verticalScrollBar().setValue(37)
    for row in view.rows_in_sight():
        rect = view.visualRect(view.model().index(row, 0))
        for point in (rect.topLeft(), rect.bottomRight(), rect.center()):
            assert row_at(view, point) == row
    assert row_at(view, QPoint(-1, 10)) == -1
    assert row_at(view, QPoint(view.viewport().width(), 10)) == -1


@given(st.integers(0, 60), st.integers(0, 100), st.sampled_from(["left", "right", "up", "down", "home", "end"]))
def test_keys_lead_where_the_eye_expects(grid, count, at, key):
    view = grid
    view.setModel(Numbers(count))
    move = QAbstractItemView.CursorAction
    action = {
        "left": move.MoveLeft, "right": move.MoveRight, "up": move.MoveUp, "down": move.MoveDown,
        "home": move.MoveHome, "end": move.MoveEnd,
    }[key]  # fmt: skip
    if count == 0:
        assert not view.moveCursor(action, Qt.KeyboardModifier.NoModifier).isValid()
        return
    row, columns = min(at, count - 1), view.columns()
    view.setCurrentIndex(view.model().index(row, 0))
    to = view.moveCursor(action, Qt.KeyboardModifier.NoModifier).row()
    line, last = row // columns, (count - 1) // columns
    wanted = {
        "left": max(0, row - 1),
        "right": min(count - 1, row + 1),
        "up": row - columns if line else row,
        "down": min(row + columns, count - 1) if line < last else row,
        "home": 0,
        "end": count - 1,
    }[key]
    assert to == wanted


@pytest.fixture(scope="module")
def grid(qapp):
    view = GridView()
    view.set_cell(QSize(100, 90))
    view.resize(640, 480)
    view.show()
    yield view
    view.close()


def test_fifty_thousand_cells_are_read_as_far_as_they_are_in_sight(qtbot):
    view, model = shown(qtbot, 50_000)
    view.grab()
    view.resize(700, 500)
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum())
    view.grab()
    view.keyboardSearch("4")
    model.put(0, -1)
    view.selectAll()
    view.grab()
    assert model.read <= 5 * 6 * 60
    assert len(view.rows_in_sight()) <= 60
    assert view.rows_in_sight().stop == 50_001


def test_the_rows_in_sight_are_told(qtbot):
    view, _ = shown(qtbot, 1000)
    columns = view.columns()
    with qtbot.waitSignal(view.visible_rows_changed) as told:
        view.verticalScrollBar().setValue(90 * 10)
    assert told.args[0] == 10 * columns
    with qtbot.waitSignal(view.visible_rows_changed):
        view.resize(300, 300)


def test_what_is_in_sight_stays_while_others_come_and_go_before_it(qtbot):
    view, model = shown(qtbot, 1000)
    columns = view.columns()
    view.verticalScrollBar().setValue(90 * 20 + 13)
    first = view.rows_in_sight().start
    number = model.numbers[first]
    for _ in range(columns):
        model.put(0, -1)
    assert model.numbers[view.rows_in_sight().start] == number
    assert view.verticalScrollBar().value() == 90 * 21 + 13
    for _ in range(2 * columns):
        model.take(0)
    assert view.verticalScrollBar().value() == 90 * 19 + 13


def test_at_the_very_top_what_is_new_comes_in_sight(qtbot):
    view, model = shown(qtbot, 1000)
    model.put(0, -1)
    assert view.verticalScrollBar().value() == 0


def test_another_size_of_cells_keeps_the_place(qtbot):
    view, _ = shown(qtbot, 1000)
    view.verticalScrollBar().setValue(90 * 50)
    first = view.rows_in_sight().start
    view.set_cell(QSize(200, 180))
    assert first in view.rows_in_sight()


def test_a_click_with_shift_selects_all_between(qtbot):
    view, model = shown(qtbot, 100)
    columns = view.columns()
    click = lambda row, keys: qtbot.mouseClick(  # noqa: E731
        view.viewport(), Qt.MouseButton.LeftButton, keys, view.visualRect(model.index(row)).center()
    )
    click(2, Qt.KeyboardModifier.NoModifier)
    click(columns + 1, Qt.KeyboardModifier.ShiftModifier)
    rows = sorted(index.row() for index in view.selectedIndexes())
    assert rows == list(range(2, columns + 2))
    click(0, Qt.KeyboardModifier.ControlModifier)
    assert 0 in [index.row() for index in view.selectedIndexes()]


def test_shift_and_arrows_select_from_where_they_began(qtbot):
    view, model = shown(qtbot, 100)
    view.setCurrentIndex(model.index(3))
    qtbot.keyClick(view, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    rows = sorted(index.row() for index in view.selectedIndexes())
    assert rows == list(range(3, 3 + view.columns() + 1))
    qtbot.keyClick(view, Qt.Key.Key_End, Qt.KeyboardModifier.ShiftModifier)
    assert len(view.selectionModel().selectedIndexes()) == 97


def test_the_current_cell_comes_in_sight(qtbot):
    view, model = shown(qtbot, 5000)
    for row in (4999, 0, 2500):
        view.setCurrentIndex(model.index(row))
        rect = view.visualRect(model.index(row))
        assert view.viewport().rect().contains(rect)
        view.scrollTo(model.index(row), QAbstractItemView.ScrollHint.PositionAtCenter)
        assert view.viewport().rect().intersects(view.visualRect(model.index(row)))


def test_what_of_a_selection_is_in_sight(qtbot):
    view, model = shown(qtbot, 5000)
    view.selectAll()
    region = view.visualRegionForSelection(view.selectionModel().selection())
    assert region.boundingRect().intersects(QRect(0, 0, 10, 10))
    assert region.rectCount() <= 60
    view.selectionModel().select(model.index(4999), QItemSelectionModel.SelectionFlag.ClearAndSelect)
    assert view.visualRegionForSelection(view.selectionModel().selection()).isEmpty()


@pytest.mark.parametrize("count", [0, 1, 50_000])
def test_all_are_selected_without_a_look_at_each(qtbot, monkeypatch, count):
    view, model = shown(qtbot, count)
    asked = []
    monkeypatch.setattr(Numbers, "rowCount", lambda self, parent=NOWHERE: asked.append(1) or len(self.numbers))
    qtbot.keyClick(view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    selected = view.selectionModel().selection()
    assert [(span.top(), span.bottom()) for span in (selected.at(at) for at in range(selected.count()))] == (
        [(0, count - 1)] if count else []
    )
    assert len(asked) < 200
    assert len(model.numbers) == count
