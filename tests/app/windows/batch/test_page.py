"""The page passes on what is done to it, and shows what is."""

from pathlib import Path
from typing import Any

import pytest
from batch_window import Works, dry_row, dry_totals, progress, status
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox

from mezzotint.batch_protocol import BatchTaskPage, BatchWritten, DryRows
from mezzotint_app.viewmodel.batch.dry_run import DOES, OUTPUT, SEED, SIZE, TIME, WHY
from mezzotint_app.viewmodel.dropped.data import DropData
from mezzotint_app.windows.batch.page import BATCHES, PREVIEW, BatchPage

pytestmark = pytest.mark.requires_package("PySide6")


@pytest.fixture
def works(tmp_path, inline):
    return Works(tmp_path, inline)


@pytest.fixture
def page(qtbot, works):
    made: Any = BatchPage(works.model)
    qtbot.addWidget(made)
    made.resize(1000, 680)
    made.show()
    made.told_words = []
    made.message.connect(made.told_words.append)
    return made


def click(qtbot, button):
    assert button.isVisible() and button.isEnabled()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def write(qtbot, line, text):
    line.selectAll()
    qtbot.keyClicks(line, text)
    qtbot.keyClick(line, Qt.Key.Key_Return)


def test_every_control_changes_the_job(qtbot, page, works):
    what, where, model = page.inputs, page.outputs, works.model
    write(qtbot, what.folder.line, "/photos")
    what.prompts.setPlainText("at night\nat dawn")
    what.strength.spin().setValue(0.35)
    what.recursive.setChecked(True)
    what.sidecars.setChecked(True)
    write(qtbot, what.glob, "*.png; a*")
    what.limit.setValue(7)
    write(qtbot, what.masks.line, "/masks")
    write(qtbot, what.wildcards.line, "/lists")
    write(qtbot, what.prompts_file.line, "/w.txt")
    write(qtbot, what.table.line, "/t.csv")
    write(qtbot, what.template, "a {b}")
    what.choices.choose("one")
    what.matrix.edited.emit(what.matrix.rows() and ())
    write(qtbot, where.output.line, "/out")
    write(qtbot, where.name, "[stem]")
    where.format.choose("jpg")
    where.existing.choose("skip")
    where.keep_tree.setChecked(False)
    assert model.job() == {
        "version": 1,
        "settings": {"strength": 0.35},
        "prompts": {
            "list": ["at night", "at dawn"], "file": "/w.txt", "table": "/t.csv", "template": "a {b}",
            "wildcards": "/lists", "choices": "one",
        },
        "input": {
            "folder": "/photos", "recursive": True, "glob": ["*.png", "a*"], "limit": 7, "masks": "/masks",
            "sidecars": True,
        },
        "output": {"folder": "/out", "name": "[stem]", "format": "jpg", "existing": "skip", "keep-tree": False},
    }  # fmt: skip
    what.work.choose("edit")
    assert model.job()["input"]["work"] == "edit" and "settings" not in model.job()
    assert "masks" not in model.job()["input"]
    what.work.choose("again")
    assert model.job()["input"]["work"] == "again" and "settings" not in model.job()
    what.source.choose("words")
    assert "input" not in model.job()
    page.show_model()
    assert not what.folder.isVisible() and what.prompts.isVisible()


def test_the_pattern_of_names_that_is_offered_fits_what_they_are_made_of(page, works):
    works.model.change(source="folder")
    page.show_model()
    assert "[stem]-[seed]" in page.outputs.name.toolTip()
    works.model.change(source="words")
    page.show_model()
    assert "[prompt]-[seed]" in page.outputs.name.toolTip() and "[stem]" not in page.outputs.name.toolTip()


def test_what_is_missing_gets_the_keyboard(qtbot, page, works):
    page.activateWindow()
    click(qtbot, page.start)
    assert page.inputs.folder.line.hasFocus() and "Choose an image folder" in page.fields()["folder"].problem()
    assert works.librarian.asked == []


def test_looked_at_started_and_in_the_list(qtbot, page, works):
    works.model.use_folder("/photos/Rome")
    works.model.change(prompts="at night")
    page.show_model()
    click(qtbot, page.preview_button)
    assert page.tabs.currentIndex() == PREVIEW and page.preview.stop.isVisible()
    works.librarian.event(DryRows(rows=(dry_row(1), dry_row(2, does="skip", why="no image"))), method="batch_look")
    works.librarian.answer(dry_totals(fits=False, skipped={"unreadable": 1}), method="batch_look")
    assert page.preview.table.model().rowCount() == 2 and not page.preview.stop.isVisible()
    assert page.preview.words.text() == "1 to generate, 1 skipped (unreadable)."
    assert "Not enough disk space" in page.preview.problem.text() and "free" in page.preview.room.text()
    click(qtbot, page.start)
    works.librarian.answer(BatchWritten(path=works.librarian.last("batch_write").params.path), method="batch_write")
    assert page.tabs.currentIndex() == BATCHES and len(page.list.cards()) == 1
    works.lender.let()
    works.processes[0].event_received.emit(progress(1, total=2, failed=1))
    card = page.list.cards()[0]
    assert "1 of 2 generated" in card.words.text()
    click(qtbot, card.failed)
    qtbot.waitUntil(lambda: bool(works.librarian.open("batch_tasks")))
    works.librarian.answer(BatchTaskPage(total=0, rows=()), method="batch_tasks")
    works.processes[0].event_received.emit(progress(1, total=3, failed=2))
    qtbot.waitUntil(lambda: bool(works.librarian.open("batch_tasks")))  # one more has failed: asked again
    click(qtbot, card.stop)
    assert works.processes[0].done == ["start", "stop"]
    click(qtbot, card.stop_now)
    with qtbot.waitSignal(page.folder_asked) as asked:
        click(qtbot, card.open)
    assert asked.args == [str(works.folder / "out" / "Rome")]


def test_columns_are_as_wide_as_what_is_in_them_and_the_others_share_the_rest(qtbot, page, works):
    works.model.use_folder("/photos/Rome")
    works.model.change(prompts="at night")
    page.show_preview()
    row = dry_row(1, output=f"{'long' * 40}.png", seed=(1 << 63) - 1, width=8192, height=8192)
    works.librarian.event(DryRows(rows=(row,)), method="batch_look")
    works.librarian.answer(dry_totals(), method="batch_look")
    table = page.preview.table
    assert table.isColumnHidden(WHY)  # nothing says why
    qtbot.waitUntil(lambda: table.horizontalHeader().length() == table.viewport().width())
    for column in (DOES, SIZE, SEED, TIME):
        qtbot.waitUntil(lambda column=column: table.columnWidth(column) >= table.sizeHintForColumn(column))
    assert "long" * 40 in table.model().index(0, OUTPUT).data(Qt.ItemDataRole.ToolTipRole)
    page.show_preview()
    works.librarian.event(DryRows(rows=(dry_row(1, does="skip", why="no image"),)), method="batch_look")
    works.librarian.answer(dry_totals(), method="batch_look")
    assert not table.isColumnHidden(WHY)


def test_a_look_that_cannot_be_says_why(qtbot, page, works):
    works.model.use_folder("/photos/Rome")
    works.model.change(prompts="at night")
    page.show_preview()
    works.librarian.fail("usage", "input.folder: there is no such folder", method="batch_look")
    assert "no such folder" in page.preview.problem.text()


def test_trouble_shows_the_log_and_taking_off_asks(qtbot, page, works):
    identity, run = works.run()
    run.lines = ("Traceback", "it broke")
    run.end(1)
    card = page.list.card(identity)
    with qtbot.waitSignal(page.log_asked) as asked:
        click(qtbot, card.log)
    assert asked.args == ["Holiday", ("Traceback", "it broke")]
    click(qtbot, card.remove)
    box = page.list.findChild(QMessageBox)
    yes = next(one for one in box.buttons() if box.buttonRole(one) == QMessageBox.ButtonRole.AcceptRole)
    yes.click()
    assert works.batches.all() == () and page.list.cards() == []
    assert page.list.empty.isVisible()


def test_a_folder_beyond_the_gallery_is_offered_to_it(qtbot, page, works):
    works.batches.add({"version": 1}, "Elsewhere", "/elsewhere")
    works.librarian.answer(BatchWritten(path="/j"), method="batch_write")
    card = page.list.cards()[0]
    click(qtbot, card.gallery)
    assert works.settings.value().gallery_folders == ("/elsewhere",)
    qtbot.waitUntil(lambda: not card.gallery.isVisible())


def test_a_grid_is_shown(qtbot, page, works):
    works.batches.add({"version": 1, "output": {"grid": True}}, "Steps", "/grids/steps")
    works.librarian.answer(BatchWritten(path="/j"), method="batch_write")
    works.lender.let()
    works.processes[0].end()
    works.librarian.answer(status(done=4, total=4, is_ended=True), method="batch_status")
    with qtbot.waitSignal(page.grid_asked) as asked:
        click(qtbot, page.list.cards()[0].grid)
    assert Path(asked.args[0]) == Path("/grids/steps/mezzotint-grid.png")


def test_jobs_are_opened_and_kept_by_dialogs(qtbot, page, works):
    dialog = page.open_job()
    dialog.fileSelected.emit("/jobs/a.toml")
    dialog.reject()
    assert works.librarian.last("batch_read").params == {"path": "/jobs/a.toml"}
    assert page.save_job() is None  # nothing is filled in
    works.model.use_folder("/photos/Rome")
    works.model.change(prompts="at night")
    dialog = page.save_job()
    dialog.fileSelected.emit("/jobs/b.toml")
    dialog.reject()
    assert works.librarian.last("batch_write").params.path == "/jobs/b.toml"


def test_settings_are_taken_over_again(qtbot, page, works):
    click(qtbot, page.outputs.take)
    page.show_model()
    assert page.outputs.settings.text().startswith("starter-dit · 64x48")


def test_a_drop_on_the_page_fills_it_in(page, works):
    page.dropped.emit(DropData(paths=("/photos/Rome",)))
    assert works.model.form().folder == "/photos/Rome"
