"""The card of a batch offers what can be done with it as it is now."""

from dataclasses import replace

import pytest
from batch_window import failed_row, progress, status, step
from PySide6.QtCore import Qt

from mezzotint.batch_protocol import BatchOwner, BatchTaskPage
from mezzotint_app.viewmodel.batch.failures import BatchFailures
from mezzotint_app.viewmodel.batch.state import Batch, KnownBatch
from mezzotint_app.widgets.batch_card import BatchCard

pytestmark = pytest.mark.requires_package("PySide6")

BUTTONS = ("stop", "stop_now", "resume", "retry", "failed", "grid", "open", "gallery", "log", "remove")
RESTS = Batch(known=KnownBatch(id="1", title="Holiday", folder="/out/Holiday"))
OWNER = BatchOwner(pid=7, host="studio", since=0.0)


@pytest.fixture
def card(qtbot):
    made = BatchCard()
    qtbot.addWidget(made)
    made.resize(700, 300)
    made.show()
    return made


def show(card, batch, waiting="Waits.", in_gallery=True, has_log=False):
    card.show_batch(batch, waiting, in_gallery=in_gallery, has_log=has_log)
    return {name for name in BUTTONS if getattr(card, name).isVisible()}


@pytest.mark.parametrize(
    ("changes", "offered"),
    [
        ({}, {"resume", "open", "remove"}),
        ({"stage": "waiting"}, {"stop", "open", "remove"}),
        ({"stage": "running"}, {"stop", "stop_now", "open"}),
        ({"stage": "stopping"}, {"stop_now", "open"}),
        ({"stage": "running", "progress": progress(3, failed=1)}, {"stop", "stop_now", "open", "failed"}),
        ({"status": status(done=3, total=9)}, {"resume", "open", "remove"}),
        ({"status": status(done=3, failed=2, is_ended=True)}, {"resume", "retry", "failed", "open", "remove"}),
        ({"status": status(done=9, total=9, is_ended=True)}, {"open", "remove"}),
        ({"status": status(done=9, failed=1, running=(OWNER,))}, {"failed", "open", "remove"}),
    ],
)
def test_what_can_be_done(card, changes, offered):
    assert show(card, replace(RESTS, **changes)) == offered


def test_a_finished_batch_names_what_failed_and_why(card):
    ended = replace(RESTS, status=status(done=3, failed=1, is_ended=True))
    show(card, replace(ended, failures=(failed_row(7),)))
    assert card.failures.isVisible()
    assert card.failures.text() == "7.jpg: it is cut off"
    show(card, replace(RESTS, status=status(done=4, total=4, is_ended=True)))
    assert not card.failures.isVisible()


@pytest.mark.parametrize(("done", "shown"), [(9, True), (3, False)])
def test_a_grid_is_shown_once_it_is_whole(card, done, shown):
    grid = replace(RESTS.known, grid=True)
    batch = replace(RESTS, known=grid, status=status(done=done, total=9, is_ended=done == 9))
    assert ("grid" in show(card, batch)) is shown


def test_the_gallery_and_the_log_are_offered_where_they_help(card):
    assert "gallery" in show(card, RESTS, in_gallery=False)
    assert "log" not in show(card, RESTS, has_log=True)
    assert "log" in show(card, replace(RESTS, problem="it crashed"), has_log=True)


def test_what_is_pressed_is_told(qtbot, card):
    show(card, replace(RESTS, problem="x", status=status(failed=1)), in_gallery=False, has_log=True)
    for button, signal in (
        (card.resume, card.resume_asked),
        (card.retry, card.retry_asked),
        (card.open, card.folder_asked),
        (card.gallery, card.gallery_asked),
        (card.log, card.log_asked),
        (card.remove, card.remove_asked),
        (card.failed, card.failures_asked),
    ):
        with qtbot.waitSignal(signal):
            qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    show(card, replace(RESTS, stage="running"))
    for button, signal in ((card.stop, card.stop_asked), (card.stop_now, card.stop_now_asked)):
        with qtbot.waitSignal(signal):
            qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_a_batch_without_an_image_has_another_sign_than_one_that_is_done(card):
    signs = []
    for known in (status(done=4, total=4, is_ended=True), status(done=0, skipped=4, total=4, is_ended=True)):
        show(card, replace(RESTS, status=known))
        signs.append(card._state.pixmap().toImage())
    assert signs[0] != signs[1]


def test_how_far_it_is(card):
    show(card, replace(RESTS, stage="running", progress=progress(25, total=100), step=step()))
    assert card.bar.value() == card.bar.maximum() / 4
    assert "25 of 100 generated" in card.words.text() and "step 1 of 8" in card.now.whole_text()
    show(card, replace(RESTS, stage="running"))
    assert card.bar.maximum() == 0  # it moves, and says nothing
    show(card, replace(RESTS, stage="waiting"))
    assert not card.bar.isVisible() and card.words.text() == "Waits." and not card.now.isVisible()


def test_trouble_is_told_and_goes_again(card):
    show(card, replace(RESTS, stage="running", notice="the disk is full", silent=True))
    assert "the disk is full" in card.problem.text() and "not responded" in card.problem.text()
    show(card, replace(RESTS, problem="The batch crashed."))
    assert card.problem.text() == "The batch crashed."
    show(card, RESTS)
    assert not card.problem.isVisible()


def test_what_failed_is_listed_with_the_whole_error_of_one(qtbot, card, service):
    show(card, replace(RESTS, status=status(failed=3)))
    card.show_failures(BatchFailures(service, "/out", card))
    qtbot.waitUntil(lambda: bool(service.open("batch_tasks")))
    rows = tuple(failed_row(number, f"error {number}") for number in range(3))
    service.answer(BatchTaskPage(total=3, rows=rows))
    assert card.list.isVisible() and card.list.model().rowCount() == 3
    assert card.whole.toPlainText() == "0.png\nerror 0"
    qtbot.keyClick(card.list, Qt.Key.Key_Down)
    assert card.whole.toPlainText() == "1.png\nerror 1"
    card.show_failures(None)
    assert not card.list.isVisible() and not card.failed.isChecked()
