"""Splitters and columns come back as they were left, and a file that says nonsense changes nothing."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSplitter, QTableWidget, QVBoxLayout, QWidget

from mezzotint_app.stored import Stored, read
from mezzotint_app.window_state import WindowState
from mezzotint_app.windows.layout_persistence import LayoutPersistence


class Page(QWidget):
    def __init__(self):
        super().__init__()
        self.splitter, self.table = QSplitter(Qt.Orientation.Horizontal), QTableWidget(0, 3)
        self.splitter.setObjectName("split")
        self.table.horizontalHeader().setObjectName("columns")
        for part in (QLabel("a"), QLabel("b")):
            self.splitter.addWidget(part)
        column = QVBoxLayout(self)
        column.addWidget(self.splitter)
        column.addWidget(self.table)
        self.resize(600, 400)


@pytest.fixture
def state(qapp, tmp_path, inline):
    return Stored(tmp_path / "layout.json", WindowState(), inline)


def shown(qtbot, state):
    page = Page()
    qtbot.addWidget(page)
    LayoutPersistence(state, page).follow(page)
    page.show()
    return page


def test_what_was_moved_comes_back_after_a_kill(qtbot, state, tmp_path, inline):
    page = shown(qtbot, state)
    page.splitter.moveSplitter(180, 1)
    page.table.setColumnWidth(1, 222)
    qtbot.waitUntil(lambda: (tmp_path / "layout.json").exists() and set(state.value().parts) == {"split", "columns"})
    again, notice = read(WindowState, tmp_path / "layout.json")
    assert notice is None
    other = shown(qtbot, Stored(tmp_path / "other.json", again, inline))
    assert other.splitter.sizes() == page.splitter.sizes()
    assert other.table.columnWidth(1) == 222


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.integers(-(2**40), 2**40), max_size=5))
def test_nonsense_in_the_file_hides_nothing(qtbot, state, sizes):
    state.change(parts={"split": tuple(sizes), "columns": tuple(sizes), "unknown": (1,)})
    page = shown(qtbot, state)
    assert sum(page.splitter.sizes()) > 0
    assert all(page.table.columnWidth(column) > 0 for column in range(3))


def test_parts_without_a_name_are_left_alone(qtbot, state):
    page = Page()
    page.splitter.setObjectName("")
    qtbot.addWidget(page)
    kept = LayoutPersistence(state, page)
    kept.follow(page)
    page.show()
    page.splitter.moveSplitter(100, 1)
    kept.keep()
    assert state.value().parts == {}
