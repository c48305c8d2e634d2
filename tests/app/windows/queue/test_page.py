"""The Queue page: what keys, buttons and the mouse do to the queue, and what is shown of it."""

import pytest
from PySide6.QtCore import QCoreApplication, QItemSelectionModel, QPoint, QPointF, Qt
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QAbstractButton, QMenu, QMessageBox, QToolButton
from queue_made import OWNER, finish, image, queue_in, request

from mezzotint.protocol import Step
from mezzotint_app.windows.queue.page import QueuePage

CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def made(tmp_path, qtbot):
    one = queue_in(tmp_path)
    one.page = QueuePage(one.queue)
    one.page.resize(1000, 700)
    qtbot.addWidget(one.page)
    one.page.show()
    qtbot.waitExposed(one.page)
    one.page.list.setFocus()
    yield one
    one.access.close()


def turn():
    for _ in range(8):
        QCoreApplication.processEvents()


def add(made, count, **options):
    ids = made.change(lambda store: [store.add([request(f"number {number}")], **options) for number in range(count)])
    turn()
    return ids


def select(made, *rows):
    turn()
    selection = made.page.list.selectionModel()
    selection.clear()
    for row in rows:
        selection.select(made.queue.model.index(row), QItemSelectionModel.SelectionFlag.Select)
    selection.setCurrentIndex(made.queue.model.index(rows[0]), QItemSelectionModel.SelectionFlag.NoUpdate)


def press(qtbot, made, key, modifiers=Qt.KeyboardModifier.NoModifier):
    qtbot.keyClick(made.page.list, key, modifiers)
    turn()


def states(made):
    return [row.state for row in made.store.rows()]


def box_of(made):
    return made.page.findChild(QMessageBox)


def agree(qtbot, made):
    box = box_of(made)
    button = next(one for one in box.buttons() if box.buttonRole(one) == QMessageBox.ButtonRole.AcceptRole)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    turn()


def test_an_empty_queue_says_what_it_is_for_and_leads_to_the_create_page(made, qtbot):
    assert not made.page.list.isVisible()
    assert made.page.empty.title() == "Queue empty"
    with qtbot.waitSignal(made.page.create_asked):
        qtbot.mouseClick(made.page.empty.button, Qt.MouseButton.LeftButton)
    add(made, 1)
    assert made.page.list.isVisible()


@pytest.mark.parametrize(
    ("key", "modifiers", "after"),
    [
        (Qt.Key.Key_Up, CONTROL, [1, 0, 2, 3]),
        (Qt.Key.Key_Down, CONTROL, [0, 2, 1, 3]),
        (Qt.Key.Key_Home, CONTROL, [1, 0, 2, 3]),
    ],
)
def test_keys_change_the_order_and_the_entry_stays_selected(made, qtbot, key, modifiers, after):
    ids = add(made, 4)
    select(made, 1)
    press(qtbot, made, key, modifiers)
    assert made.ids() == [ids[number] for number in after]
    (index,) = made.page.list.selectedIndexes()
    assert made.queue.model.peek(index.row()).id == ids[1]


def test_several_entries_are_dragged_at_once(made, qtbot):
    ids = add(made, 5)
    select(made, 0, 3)
    view = made.page.list
    data = made.queue.model.mimeData(view.selectedIndexes())
    place = view.visualRect(made.queue.model.index(2))
    below = QPointF(place.center().x(), place.bottom() - 2)
    event = QDropEvent(below, Qt.DropAction.MoveAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    view.dropEvent(event)
    turn()
    assert made.ids() == [ids[1], ids[2], ids[0], ids[3], ids[4]]
    assert view.row_before(QPoint(20, place.top() + 2)) == 2
    assert view.row_before(QPoint(20, 600)) == 5


def test_keys_cancel_retry_duplicate_and_edit(made, qtbot):
    ids = add(made, 2)
    select(made, 0, 1)
    press(qtbot, made, Qt.Key.Key_Backspace, CONTROL)
    assert states(made) == ["cancelled", "cancelled"]
    made.queue.model.show("all")
    select(made, 0)
    press(qtbot, made, Qt.Key.Key_R, CONTROL)
    assert states(made) == ["waiting", "cancelled"]
    press(qtbot, made, Qt.Key.Key_D, CONTROL)
    assert len(made.ids()) == 3
    with qtbot.waitSignal(made.page.edit_again) as told:
        press(qtbot, made, Qt.Key.Key_F2)
    assert told.args[0].prompt == "number 0"
    assert made.ids()[0] == ids[0]


def test_what_is_not_finished_is_removed_after_a_question(made, qtbot):
    ids = add(made, 3)
    select(made, 0, 1)
    press(qtbot, made, Qt.Key.Key_Delete)
    assert made.ids() == ids
    assert "2 jobs" in box_of(made).text()
    agree(qtbot, made)
    assert made.ids() == ids[2:]


def test_what_is_finished_is_removed_without_one(made, qtbot):
    add(made, 1)
    made.change(finish)
    made.queue.model.show("finished")
    select(made, 0)
    press(qtbot, made, Qt.Key.Key_Delete)
    assert made.ids() == []


def test_buttons_pause_resume_finish_and_clear(made, qtbot):
    add(made, 2)
    task = made.change(lambda store: store.claim(OWNER))
    page, click = made.page, lambda button: qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert page.pause.text() == "Pause"
    assert not page.finish.isEnabled()
    made.runner.begin(task)
    assert page.finish.isEnabled()
    click(page.finish)
    click(page.pause)
    made.change(lambda store: store.pause())
    assert page.pause.text() == page.pause.accessibleName() == "Resume"
    click(page.pause)
    assert made.runner.done == ["pause_after_current", "pause", "resume"]
    made.change(lambda store: store.saved(task.id, image(task)))
    made.change(lambda store: store.finish(task.id))
    click(page.clear)
    assert len(made.ids()) == 1


def test_what_another_program_makes_can_be_finished_and_then_stopped(made, qtbot):
    add(made, 2)
    made.runner.state, made.runner.who = "elsewhere", "mezzotint queue run"
    made.runner.changed.emit()
    assert not made.page.finish.isEnabled()
    made.change(lambda store: store.claim("another"))
    turn()
    assert made.page.elsewhere.text().startswith("mezzotint queue run is processing this queue: 0 of ")
    assert made.page.finish.isEnabled()
    qtbot.mouseClick(made.page.finish, Qt.MouseButton.LeftButton)
    assert made.runner.done == ["pause_after_current"]


def test_the_list_that_is_shown_is_chosen(made, qtbot):
    add(made, 2)
    made.change(finish)
    turn()
    assert made.queue.model.rowCount() == 1
    made.page.which.setCurrentIndex(made.page.which.findData("all"))
    turn()
    assert made.queue.model.rowCount() == 2
    made.page.which.setCurrentIndex(made.page.which.findData("finished"))
    turn()
    assert made.queue.model.rowCount() == 1


def test_selection_and_the_current_entry_survive_changes(made, qtbot):
    ids = add(made, 6)
    select(made, 2, 4)
    for change in (
        lambda store: store.add([request("new")], front=True),
        lambda store: store.remove([ids[0]]),
        lambda store: store.move([ids[5]], ids[1]),
    ):
        made.change(change)
        turn()
    chosen = {made.queue.model.peek(index.row()).id for index in made.page.list.selectedIndexes()}
    assert chosen == {ids[2], ids[4]}
    assert made.queue.model.peek(made.page.list.currentIndex().row()).id == ids[2]


def test_details_follow_the_current_entry_and_tell_what_went_wrong(made, qtbot):
    ids = made.change(lambda store: [store.add([request("a", 2), request("b")]), store.add([request("c")])])
    task = made.change(lambda store: store.claim(OWNER))
    made.change(lambda store: store.saved(task.id, image(task)))
    made.change(lambda store: store.fail(task.id, "out_of_memory", "<b>needed 7.9 GB</b>"))
    select(made, 0)
    turn()
    assert made.queue.details.entry().row.id == ids[0]
    assert made.page.details._error.text() == "<b>needed 7.9 GB</b>"
    assert "smaller size" in made.page.details._advice.text()
    assert made.page.details._tasks.isVisibleTo(made.page)
    with qtbot.waitSignal(made.page.open_full_screen) as told:
        press(qtbot, made, Qt.Key.Key_Return)
    assert told.args == [[image(task).path], 0]
    select(made, 1)
    turn()
    assert not made.page.details._error.isVisibleTo(made.page)


def test_what_can_be_done_is_enabled(made, qtbot):
    add(made, 2)
    task = made.change(lambda store: store.claim(OWNER))
    made.change(lambda store: store.fail(task.id, "storage", "full"))
    page = made.page
    select(made, 0)
    turn()
    assert (page.retry.isEnabled(), page.cancel.isEnabled(), page.folder.isEnabled()) == (True, False, False)
    select(made, 1)
    turn()
    assert (page.retry.isEnabled(), page.cancel.isEnabled()) == (False, True)
    page.list.clearSelection()
    assert not page.remove.isEnabled()


@pytest.mark.parametrize(
    ("button", "after"), [("resume_interrupted", "waiting"), ("keep_paused", "interrupted"), ("discard", "cancelled")]
)
def test_a_crash_is_asked_about_once(made, qtbot, button, after):
    add(made, 1)
    made.change(lambda store: store.claim(OWNER))
    made.change(lambda store: store.recover(lambda _owner: False))
    turn()
    assert made.page.interrupted.isVisible()
    qtbot.mouseClick(getattr(made.page, button), Qt.MouseButton.LeftButton)
    turn()
    assert not made.page.interrupted.isVisible()
    assert states(made) == [after]


def test_who_else_works_is_told(made):
    made.runner.state, made.runner.who = "elsewhere", "mezzotint queue run"
    made.runner.changed.emit()
    assert made.page.elsewhere.text() == "mezzotint queue run is processing this queue"
    made.runner.state = "idle"
    made.runner.changed.emit()
    assert not made.page.elsewhere.isVisible()


def test_trouble_is_told_in_words_and_can_be_hidden(made, qtbot):
    made.queue.actions.edit(77)
    assert "no entry 77" in made.page.problem.text()
    qtbot.mouseClick(made.page.problem.findChild(QToolButton), Qt.MouseButton.LeftButton)
    assert made.page.problem.isHidden()
    made.access.unusable.emit("the queue is of a newer version")
    assert made.page.problem.text() == "the queue is of a newer version"


def test_the_menu_has_every_action(made, qtbot):
    add(made, 1)
    select(made, 0)
    made.page.list.customContextMenuRequested.emit(QPoint(10, 10))
    menu = made.page.findChild(QMenu)
    texts = [action.text() for action in menu.actions() if not action.isSeparator()]
    page = made.page
    wanted = [page.up, page.down, page.front, page.cancel, page.retry, page.duplicate, page.edit, page.folder]
    assert texts == [action.text() for action in [*wanted, page.remove]]
    menu.close()


def test_ten_thousand_entries_are_painted_as_far_as_they_are_in_sight(made, qtbot, monkeypatch):
    made.store.add([request()])
    with made.store._database.writing():
        made.store._database.connection.execute(
            "WITH RECURSIVE n(x) AS (SELECT 2 UNION ALL SELECT x + 1 FROM n WHERE x < 10000) "
            "INSERT INTO entries (position, title, kind, model, created, waiting, tasks, pictures_asked) "
            "SELECT x, 'number ' || x, 'generate', 'm', 0, 1, 1, 1 FROM n"
        )
    made.queue.watch.look()
    turn()
    read = []
    item = made.queue.model.item
    monkeypatch.setattr(made.queue.model, "item", lambda row: read.append(row) or item(row))
    made.page.list.scrollToBottom()
    turn()
    made.page.list.grab()
    made.page.list.keyboardSearch("n")
    assert made.queue.model.rowCount() == 10_000
    assert made.queue.model.peek(9_999).title == "number 10000"
    assert len(read) < 400


def test_progress_repaints_one_row(made, qtbot):
    add(made, 3)
    task = made.change(lambda store: store.claim(OWNER))
    made.runner.begin(task)
    turn()
    changed = []
    made.queue.model.dataChanged.connect(lambda first, last: changed.append((first.row(), last.row())))
    step = Step(image=0, images=1, stage=0, stages=1, step=5, steps=10, sigma=1.0, preview=None)
    made.runner.progressed.emit(task, step)
    assert changed == [(0, 0)]
    assert made.page._summary.text().startswith("0 of 1 image")


def test_every_control_has_a_name_and_a_tooltip(made):
    add(made, 1)
    select(made, 0)
    for button in made.page.findChildren(QAbstractButton):
        assert button.accessibleName() or button.text() or button.objectName().startswith("qt_")
        assert button.toolTip() or not button.isVisibleTo(made.page) or button.objectName().startswith("qt_")
    assert made.page.list.accessibleName()
