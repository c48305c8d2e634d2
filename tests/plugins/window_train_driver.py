"""Drive the Train page of the real window: `python window_train_driver.py PART`; results go to stdout as JSON.

Parts: `works` chooses pictures, writes a caption, trains, pauses, and closes the window; `again` is the next start,
where the training is resumed and a LoRA is used.
"""

import os
import sys
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from window_driver import Window, tell

from mezzotint_app.viewmodel.create.state import loras_in_use
from mezzotint_app.windows.main_window import CREATE, TRAIN
from mezzotint_app.windows.train.page import DATASET, TRAININGS


def opened():
    driven = Window()
    driven.program.settings.change(first_run_done=True)
    driven.wait("the engine", lambda: driven.program.engine.state() == "ready")
    driven.wait("the models", lambda: driven.program.train.model() != "")
    driven.window.rail.setVisible(True)
    driven.window.show_page(TRAIN)
    return driven


def checked(driven):
    train = driven.program.train
    driven.wait("the check", lambda: train.checks.found() is not None and not train.checks.is_checking())
    QTest.qWait(50)
    return train.checks.found()


def works():
    driven = opened()
    page, train = driven.window.train_page, driven.program.train
    first = not page.start.isEnabled() and page.dataset.sample.isVisible()
    folder = Path.home() / "pictures"
    page.form.folder._chosen(str(folder))
    found = checked(driven)
    model = train.dataset
    driven.wait("a thumbnail", lambda: model.data(model.index(0), Qt.ItemDataRole.UserRole) is not None)
    tell(
        part="checked",
        first=first,
        images=[[Path(one.path).name, list(one.captions)] for one in found.images],
        problems=page.dataset.problems.text(),
        tab=page.tabs.currentIndex() == DATASET,
    )

    page.dataset.edit.click()
    editor = driven.application.focusWidget()
    QTest.keyClicks(editor, "a zibble at night")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    driven.wait("the caption", lambda: checked(driven).captioned == found.captioned + 1)
    tell(part="written", row=model.data(model.index(0), Qt.ItemDataRole.EditRole))

    for line, text in ((page.form.trigger, "zibble"), (page.form.word, "castle")):
        line.setFocus()
        QTest.keyClicks(line, text)
    train.change(model="starter-dit", steps=60, batch=4, resolution=128, regularization=0, epochs=3, prompts="a zibble")
    checked(driven)
    driven.wait("the summary", lambda: "60 steps" in page.summary.text())
    tell(part="summed up", summary=page.summary.text(), name=train.name(), can_start=page.start.isEnabled())

    driven.click(page.start)
    driven.wait("the training", lambda: train.runs.live.state().step >= 20)
    queue = driven.program.queue.summary.text()
    driven.wait("an epoch", lambda: bool(train.runs.all()[0].epochs))
    driven.click(page.runs.pause)
    driven.wait("the pause", lambda: not train.runs.runs() and page.runs.words.text().startswith("Paused"))
    (info,) = train.runs.all()
    tell(
        part="paused",
        tab=page.tabs.currentIndex() == TRAININGS,
        queue=queue,
        words=page.runs.words.text(),
        folder=info.folder,
        step=info.step,
        cards=[card.title.text() for card in page.runs.epochs.cards()],
        losses=len(train.runs.losses(info.folder)),
    )
    driven.click(page.runs.resume)
    driven.wait("the next step", lambda: train.runs.live.state().step > info.step)
    left = []
    driven.window.closing.connect(lambda: driven.program.leave(lambda: left.append(True)))
    driven.window.close()
    driven.wait("the pause", lambda: left)
    driven.program.finish()
    tell(part="closed")


def again():
    driven = opened()
    page, train = driven.window.train_page, driven.program.train
    driven.wait("the list", lambda: len(train.runs.all()) == 1)
    page.tabs.setCurrentIndex(TRAININGS)
    page.show_model()
    tell(part="listed", words=page.runs.words.text())
    driven.click(page.runs.resume)
    driven.wait("the end", lambda: page.runs.words.text().startswith("Finished"))
    (info,) = train.runs.all()
    cards = page.runs.epochs.cards()
    tell(part="finished", lora=info.lora, cards=[card.title.text() for card in cards], steps=info.step)
    card = cards[1]
    driven.wait("a sample", lambda: not card.samples()[0]._image.isNull())
    driven.click(card.use)
    create = driven.program.create
    tell(
        part="used",
        page=driven.window.pages.currentIndex() == CREATE,
        loras=[one.path for one in loras_in_use(create.chosen.settings())],
        model=create.chosen.model(),
        prompt=create.prompts.prompt(),
    )
    create.chosen.change(steps=2)
    driven.press_generate()
    driven.wait("an image with it", lambda: driven.saved and driven.program.runner.task() is None)
    tell(part="made", path=driven.saved[0].path)
    driven.window.leave()
    driven.program.finish()
    tell(part="closed")


if __name__ == "__main__":
    {"works": works, "again": again}[sys.argv[1]]()
    sys.stdout.flush()
    os._exit(0)
