"""Notices take room only while there are some."""

import pytest
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from mezzotint_app.widgets.notice_column import NoticeColumn


@pytest.fixture
def column(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    first, second = QLabel("one"), QLabel("two")
    first.hide()
    second.hide()
    column = NoticeColumn(first, second)
    QVBoxLayout(window).addWidget(column)
    window.show()
    yield column, first, second
    window.close()


def test_it_is_there_while_one_of_them_is(column):
    column, first, second = column
    assert not column.isVisible()
    second.show()
    assert column.isVisible()
    first.show()
    second.hide()
    assert column.isVisible()
    first.hide()
    assert not column.isVisible()
