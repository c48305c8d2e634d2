"""Drive the Batch page of the real window: `python window_batch_driver.py PART`; results go to stdout as JSON.

Parts: `works` goes from a dropped folder through a dry run, a run, a stop, a resume and an image of the queue, and ends
while another batch runs; `again` is the next start.
"""

import os
import sys
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox
from window_driver import Window, tell

from mezzotint.jobs.store import JobStore
from mezzotint_app.settings import Settings, settings_path
from mezzotint_app.stored import write
from mezzotint_app.viewmodel.batch.texts import state_words, totals_words
from mezzotint_app.windows.batch.page import BATCHES, PREVIEW
from mezzotint_app.windows.main_window import BATCH, CREATE
from mezzotint_app.windows.quit_dialog import QuitDialog

IMAGES = 60  # enough that a stop takes effect before all are done
SIDE = 64
MODEL = "starter-dit"


def photos(folder):
    """Write small images of one colour each, and a broken one."""
    folder.mkdir()
    for number in range(IMAGES):
        image = QImage(SIDE, SIDE, QImage.Format.Format_RGB32)
        image.fill(QColor.fromHsv(number * 25, 200, 200))
        assert image.save(str(folder / f"{number:02}.png"))
    (folder / "broken.png").write_text("no image at all")
    return folder


class Driven(Window):
    """The window driver, on the Batch page."""

    def __init__(self):
        super().__init__()
        self.page, self.batches = self.window.batch_page, self.program.batches
        self.wait("the models", lambda: self.program.create.models.known())

    def all(self):
        return self.batches.all()

    def words(self, identity):
        return state_words(self.batches.get(identity), self.batches.words_of_waiting(identity))

    def rests(self, identity):
        batch = self.batches.get(identity)
        return batch.stage == "resting" and batch.status is not None and not self.batches.is_asking(identity)

    def count(self, state):
        found = []
        self.program.access.ask(lambda store: store.count([state]), found.append)
        self.wait("the store", lambda: found)
        return found[0]

    def close(self):
        over = []
        self.window.closing.connect(lambda: self.program.leave(lambda: over.append(True)))
        self.window.leave()
        self.wait("the end", lambda: over)
        self.program.finish()


def settled():
    """Store settings of a returning user, without desktop notifications."""
    write(settings_path(), Settings(first_run_done=True, notify=False, keep_awake=False))


def works():
    settled()
    folder = photos(Path(os.environ["HOME"]) / "photos")
    driven = Driven()
    program, page = driven.program, driven.page
    program.create.chosen.set_model(MODEL)
    program.create.chosen.change(steps=2)
    driven.window.show_page(CREATE)
    driven.type_prompt("at night, snow")
    driven.drop(str(folder))
    questions = driven.window.dialogs.questions
    driven.wait("the question", lambda: questions.open_question() is not None)
    box = questions.open_question()
    yes = next(one for one in box.buttons() if box.buttonRole(one) == QMessageBox.ButtonRole.AcceptRole)
    driven.click(yes)
    driven.wait("the Batch page", lambda: driven.window.pages.currentIndex() == BATCH)
    unasked = program.batch.form().settings
    driven.click(page.outputs.take)
    form = program.batch.form()
    tell(
        part="dropped", folder=form.folder, prompts=form.prompts, settings=form.settings, unasked=unasked,
        output=program.batch.output(),
    )  # fmt: skip

    driven.click(page.preview_button)
    driven.wait("the look", lambda: program.batch.dry_run.state() in ("done", "failed"))
    look = program.batch.dry_run
    table = look.table
    rows = [[table.index(row, column).data() for column in range(7)] for row in range(table.rowCount())]
    tell(
        part="looked",
        problem=look.problem(),
        rows=rows,
        words=look.totals() and totals_words(look.totals()),
        tab=page.tabs.currentIndex() == PREVIEW,
    )

    driven.click(page.start)
    driven.wait("the batch in the list", lambda: driven.all())
    identity = driven.all()[0].known.id
    card = page.list.card(identity)
    driven.wait("an image", lambda: (now := driven.batches.get(identity).progress) is not None and now.done >= 1)
    line = driven.words(identity)
    driven.window.show_page(CREATE)
    driven.type_prompt("a blue boat")
    driven.press_generate()
    driven.wait("the queue to say so", lambda: "batch is running" in program.queue.summary.text())
    tell(part="runs", line=line, queue=program.queue.summary.text(), tab=page.tabs.currentIndex() == BATCHES)
    driven.window.show_page(BATCH)
    driven.click(card.stop)
    driven.wait("the stop", lambda: driven.rests(identity))
    stopped = driven.batches.get(identity)
    tell(part="stopped", done=stopped.status.done, problem=stopped.problem, line=driven.words(identity))

    driven.wait("the queue's own image", lambda: driven.saved)
    driven.wait("the end of the queue", lambda: program.runner.task() is None)
    driven.click(card.resume)
    driven.wait("the rest", lambda: driven.batches.get(identity).stage == "running")
    driven.wait("all of it", lambda: driven.rests(identity) and driven.batches.get(identity).status.is_ended)
    driven.wait("what failed", card.failures.isVisible)
    status = driven.batches.get(identity).status
    tell(
        part="done",
        done=status.done,
        errors=status.failed,
        failures=card.failures.text(),
        skipped=status.skipped,
        line=driven.words(identity),
        problem=driven.batches.get(identity).problem,
        folder=driven.batches.get(identity).known.folder,
    )

    program.batch.change(source="words", prompts="\n".join(f"boat {n}" for n in range(200)), output="", title="Boats")
    driven.click(page.start)
    driven.wait("the second batch", lambda: len(driven.all()) == 2)
    second = driven.all()[0].known.id
    driven.wait("an image of it", lambda: (now := driven.batches.get(second).progress) is not None and now.done >= 1)
    driven.window.close()
    driven.wait("the question", lambda: any(isinstance(one, QuitDialog) for one in QApplication.topLevelWidgets()))
    dialog = next(one for one in QApplication.topLevelWidgets() if isinstance(one, QuitDialog) and one.isVisible())
    tell(part="asked", go_on=dialog.continue_button.isVisible(), visible=driven.window.isVisible())
    dialog.reject()
    driven.close()
    tell(part="closed", problem=driven.batches.get(second).problem, stage=driven.batches.get(second).stage)


def again():
    driven = Driven()
    driven.window.show_page(BATCH)
    driven.wait("what their folders say", lambda: all(one.status is not None for one in driven.all()))
    listed = [
        {"title": one.known.title, "line": driven.words(one.known.id), "done": one.status.done} for one in driven.all()
    ]
    buttons = [driven.page.list.card(one.known.id).resume.isVisible() for one in driven.all()]
    boats = driven.all()[0]
    QTest.mouseClick(driven.page.list.card(boats.known.id).open, Qt.MouseButton.LeftButton)
    tell(part="listed", batches=listed, go_on=buttons)
    driven.close()
    with JobStore.open().store as store:
        tell(part="closed", running=store.count(["running"]))


if __name__ == "__main__":
    {"works": works, "again": again}[sys.argv[1]]()
