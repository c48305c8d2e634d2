"""Drive the real window in a separate process: `python window_driver.py PART`; results go to stdout as JSON.

Parts: `first` goes from a fresh machine through an image, its settings and an engine crash, and ends in the middle of a
job, waiting to be killed; `second` is the next start.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from mezzotint.protocol import Step
from mezzotint_app import theme
from mezzotint_app.main import make_application, open_window
from mezzotint_app.program import Program
from mezzotint_app.windows.main_window import CREATE, GALLERY, QUEUE

SECONDS = 240.0  # timeout of any wait; generous, for busy machines
LONG = 60  # steps of a job to be killed


def tell(**facts):
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


class Window:
    def __init__(self):
        self.application = make_application()
        self.program = Program()
        theme.apply(self.application, "dark")
        self.window = open_window(self.program)
        self.window.activateWindow()
        if not QTest.qWaitForWindowActive(self.window, 20_000):
            tell(failed="the window is not in front")
        self.saved, self.ended, self.steps, self.previews = [], [], 0, 0
        runner = self.program.runner
        runner.saved.connect(lambda _task, image: self.saved.append(image))
        runner.ended.connect(lambda task, _result, failure: self.ended.append((task, failure)))
        runner.progressed.connect(self._progressed)

    def _progressed(self, _task, event):
        if isinstance(event, Step):
            self.steps += 1
            self.previews += event.preview is not None

    def wait(self, what, condition):
        end = time.monotonic() + SECONDS
        while not condition():
            if time.monotonic() > end:
                tell(failed=what, log=list(self.program.engine.last_log())[-20:], notice=self.window.notice.text())
                os._exit(3)
            QTest.qWait(20)

    def click(self, button):
        assert button.isEnabled(), button.text()
        assert button.isVisible(), button.text()
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    def button(self, words, inside=None):
        found = [one for one in (inside or self.window).findChildren(QPushButton) if one.text() == words]
        assert found, words
        return found[0]

    def type_prompt(self, text):
        edit = self.window.create_page.prompts.prompt
        edit.setFocus()
        QTest.keyClick(edit, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
        QTest.keyClicks(edit, text)
        assert self.program.create.prompts.prompt() == text

    def press_generate(self):
        edit = self.window.create_page.prompts.prompt
        edit.setFocus()
        QTest.keyClick(edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)

    def key(self, key, modifier=Qt.KeyboardModifier.NoModifier):
        QTest.keyClick(self.application.focusWidget() or self.window, key, modifier)
        QTest.qWait(50)

    def drop(self, path):
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(path)])
        where, buttons, keys = self.window.rect().center(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        action = Qt.DropAction.CopyAction
        entered = QDragEnterEvent(where, action, data, buttons, keys)
        self.application.sendEvent(self.window, entered)
        assert entered.isAccepted()
        dropped = QDropEvent(QPointF(where), action, data, buttons, keys, QEvent.Type.Drop)
        self.application.sendEvent(self.window, dropped)


def first():
    driven = Window()
    program, window = driven.program, driven.window
    shown = window.pages.currentWidget() is window.first_run
    QTest.keyClick(window.first_run.prompt, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(window.first_run.prompt, "a blue boat on the sea")
    driven.click(window.first_run.make_button)
    driven.wait("the first image", lambda: driven.saved and driven.ended)
    first_image = driven.saved[0]
    view = window.create_page.result.view
    driven.wait("the finished image on the page", lambda: view.image_size().width() == first_image.width)
    tell(
        part="first image",
        first_run=shown,
        previews=driven.previews,
        steps=driven.steps,
        size=[first_image.width, first_image.height],
        shown=[view.image_size().width(), view.image_size().height()],
        path=first_image.path,
    )

    driven.key(Qt.Key.Key_3, Qt.KeyboardModifier.ControlModifier)
    assert window.pages.currentIndex() == GALLERY
    driven.wait("the image in the gallery", lambda: program.gallery.model.rowCount() == 1)
    program.gallery.model.show_rows(0, 0)
    driven.wait("its row", lambda: program.gallery.model.item(0) is not None)
    found = program.gallery.model.item(0)
    tell(part="gallery", path=found.path, prompt=found.prompt, seed=found.seed)

    driven.key(Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
    assert window.pages.currentIndex() == CREATE
    driven.type_prompt("a green tree")
    program.create.seed.set(12345)
    program.create.chosen.change(steps=7)
    driven.drop(first_image.path)
    driven.wait("the differences", lambda: "differences" in window.dialogs._open)
    dialog: Any = window.dialogs._open["differences"]
    driven.wait("what the image says", lambda: dialog._model.metadata() is not None)
    driven.click(driven.button("Apply all", dialog))
    request = program.create.request()
    tell(
        part="dropped back",
        prompt=request.prompt,
        seed=request.seed,
        steps=request.cascade.stages[0].sampling.steps,
        first_seed=first_image.seed,
    )

    driven.saved.clear(), driven.ended.clear()
    program.create.chosen.change(steps=LONG, count=1)
    driven.type_prompt("a red house by the sea")
    steps = driven.steps
    driven.press_generate()
    driven.wait("a step", lambda: driven.steps > steps + 2)
    engine = program.engine.process_id()
    os.kill(engine, signal.SIGKILL)
    driven.wait("the engine gone", lambda: program.engine.state() != "ready")
    reason = program.engine.reason()
    driven.wait("the image after the engine's death", lambda: driven.saved and program.runner.task() is None)
    tell(
        part="engine killed",
        reason=reason,
        another=program.engine.process_id() != engine,
        saved=len(driven.saved),
        files=sorted(str(path) for path in Path(first_image.path).parent.glob("*.png")),
    )

    driven.saved.clear()
    program.create.chosen.change(steps=4 * LONG, count=2)
    steps = driven.steps
    driven.press_generate()
    driven.wait("a step", lambda: driven.steps > steps + 2)
    tell(part="working", engine=program.engine.process_id(), librarian=program.librarian.process_id())
    QTest.qWait(int(SECONDS * 1000))


def second():
    driven = Window()
    program, window = driven.program, driven.window
    driven.wait("the offer", lambda: bool(program.queue.interrupted.text()))
    QTest.qWait(500)
    tell(part="offered", text=program.queue.interrupted.text(), saved=len(driven.saved), state=program.runner.state)
    program.create.chosen.change(steps=5)
    window.show_page(QUEUE)
    driven.click(window.queue_page.resume_interrupted)
    driven.wait("the rest", lambda: len(driven.saved) == 2 and program.runner.task() is None)
    tell(part="resumed", seeds=[image.seed for image in driven.saved], paths=[image.path for image in driven.saved])
    window.leave()
    program.finish()
    tell(part="closed")


if __name__ == "__main__":
    {"first": first, "second": second}[sys.argv[1]]()
    sys.stdout.flush()
    os._exit(0)
