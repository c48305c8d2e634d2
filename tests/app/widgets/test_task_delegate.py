"""A task's lines are as high as its words need."""

import pytest
from PySide6.QtCore import QModelIndex
from PySide6.QtWidgets import QListView, QStyleOptionViewItem
from queue_made import request

from mezzotint.jobs.store import Task
from mezzotint_app.viewmodel.queue.details import TasksModel
from mezzotint_app.widgets.task_delegate import TaskDelegate


def task(error=None):
    return Task(
        id=1,
        entry=1,
        index=0,
        request=request(),
        state="failed" if error else "done",
        attempts=1,
        error_kind="out_of_memory" if error else None,
        error=error,
        images=(),
        seconds=3.0,
    )


@pytest.fixture
def height(qtbot):
    view = QListView()
    qtbot.addWidget(view)
    model = TasksModel()
    view.setModel(model)
    delegate = TaskDelegate(view)
    view.setItemDelegate(delegate)

    def of(one, width):
        view.resize(width, 400)
        view.show()
        model.set_tasks((one,))
        option = QStyleOptionViewItem()
        option.initFrom(view)
        view.grab()
        return delegate.sizeHint(option, model.index(0)).height()

    return of


def test_errors_are_whole_and_higher_where_it_is_narrow(height):
    quiet = height(task(), 400)
    error = task("needed 7.9 GB, 6.0 were free: " + "choose a smaller size " * 4)
    assert quiet < height(error, 400) < height(error, 200)


def test_a_word_wider_than_the_list_is_broken(height):
    assert height(task("/" + "x" * 300), 250) > height(task("/x"), 250) + 40


def test_a_message_of_a_megabyte_is_no_trouble(height):
    assert height(task("x " * 500_000), 300) < 10_000


def test_nothing_is_painted_for_what_is_no_task(qtbot):
    view = QListView()
    qtbot.addWidget(view)
    option = QStyleOptionViewItem()
    assert TaskDelegate(view).sizeHint(option, QModelIndex()).height() == 0
