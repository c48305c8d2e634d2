"""Drive the queue of the real window: `python window_queue_driver.py PART`; results go to stdout as JSON.

Parts: `works` performs every action on entries, and closes with work left, which continues without the window; `again`
is the next start, while that work is still running.
"""

import os
import sys
import traceback
from pathlib import Path

from PySide6.QtCore import QEvent, QItemSelectionModel, QPointF, Qt, QTimer
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from window_driver import Window, tell

from mezzotint_app import main as start
from mezzotint_app.notifications import Notifications
from mezzotint_app.program import Program
from mezzotint_app.settings import Settings, settings_path
from mezzotint_app.stored import write
from mezzotint_app.windows.main_window import CREATE, GALLERY, QUEUE

LONG = 80  # steps of a task to be interrupted
MANY = 40  # images generated without the window


class Driven(Window):
    """The window driver, on a window that `main` has created and will close."""

    def __init__(self, program, window):
        self.program, self.window = program, window
        self.application = start._application()
        self.saved, self.ended, self.steps, self.previews = [], [], 0, 0
        runner = program.runner
        runner.saved.connect(lambda _task, image: self.saved.append(image))
        runner.ended.connect(lambda task, _result, failure: self.ended.append((task, failure)))
        runner.progressed.connect(self._progressed)
        self.page = window.queue_page
        self.model = program.queue.model

    def ask(self, read):
        """Query the queue's store."""
        found, failed = [], []
        self.program.access.ask(read, found.append, failed.append)
        self.wait("the store", lambda: found or failed)
        assert not failed, failed
        return found[0]

    def generate(self, prompt, steps=2, count=1):
        before = self.ask(lambda store: store.count())
        self.program.create.chosen.change(steps=steps, count=count)
        self.window.show_page(CREATE)
        self.type_prompt(prompt)
        self.wait("the alternatives", lambda: self.program.create.prompts.prompt() == prompt and counted(self, prompt))
        self.press_generate()
        self.wait("the entry", lambda: self.ask(lambda store: store.count()) == before + 1)
        self.window.show_page(QUEUE)

    def rows(self):
        return self.ask(lambda store: store.rows())

    def shown(self):
        """Return the ids in the list as displayed."""
        rows = [self.model.peek(row) for row in range(self.model.rowCount())]
        return [None if row is None else row.id for row in rows]

    def select(self, entry):
        self.wait("the entry in the list", lambda: entry in self.shown())
        index = self.model.index(self.shown().index(entry))
        self.page.list.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        self.page.list.setFocus()

    def press(self, key, modifier=Qt.KeyboardModifier.NoModifier):
        QTest.keyClick(self.page.list, key, modifier)

    def drag_to_front(self, entry):
        """Drag with the mouse: pick up, and drop above the first entry."""
        self.select(entry)
        data = self.model.mimeData([self.page.list.currentIndex()])
        first = self.page.list.visualRect(self.model.index(0))
        where = QPointF(first.center().x(), first.top() + 2)
        left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        self.page.list.dropEvent(QDropEvent(where, Qt.DropAction.MoveAction, data, left, none, QEvent.Type.Drop))


def counted(driven, prompt):
    return driven.program.create.prompts.alternatives.found().prompt == prompt


def works(driven):
    program, page, runner = driven.program, driven.page, driven.program.runner
    driven.wait("the engine", lambda: program.engine.state() == "ready")
    driven.window.show_page(QUEUE)
    driven.click(page.pause)
    driven.wait("the pause", lambda: runner.state == "paused")
    driven.generate("a {red|blue|green} house", steps=LONG)
    driven.generate("a boat")
    driven.generate("a tree")
    matrix, boat, tree = (row.id for row in driven.rows())
    driven.drag_to_front(tree)
    driven.wait("the order", lambda: [row.id for row in driven.rows()] == [tree, matrix, boat])
    driven.wait("the order in the list", lambda: driven.shown() == [tree, matrix, boat])
    driven.select(boat)
    driven.press(Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    driven.wait("the duplicate", lambda: len(driven.rows()) == 4)
    copy = driven.rows()[-1].id
    driven.select(copy)
    driven.press(Qt.Key.Key_Backspace, Qt.KeyboardModifier.ControlModifier)
    driven.wait("its cancellation", lambda: driven.rows()[-1].state == "cancelled")
    tell(
        part="arranged",
        tasks={str(row.id): row.tasks for row in driven.rows()},
        prompts=[task.request.prompt for task in driven.ask(lambda store: store.entry(matrix)).tasks],
        states=[row.state for row in driven.rows()],
        matrix=matrix,
    )

    driven.click(page.pause)  # resumes: the tree is generated, then the first house is started
    driven.wait("the tree", lambda: len(driven.saved) == 1)
    driven.wait("a step of the house", lambda: runner.task() is not None and runner.task().entry == matrix)
    steps = driven.steps
    driven.wait("a few of its steps", lambda: driven.steps > steps + 2)
    done, seed = driven.steps, runner.task().request.seed
    driven.click(page.pause)
    driven.wait("the pause", lambda: runner.state == "paused" and runner.task() is None)
    tell(part="paused", saved=len(driven.saved), steps=driven.steps - done, states=task_states(driven, matrix))
    driven.click(page.pause)
    driven.wait("the house again", lambda: runner.task() is not None)
    again = runner.task()
    driven.wait("what it takes to be finished", lambda: page.finish.isEnabled())
    driven.click(page.finish)
    driven.wait("the end of this one", lambda: runner.state == "paused" and runner.task() is None)
    tell(
        part="finished, then stopped",
        same_seed=again.request.seed == seed,
        saved=len(driven.saved),
        states=task_states(driven, matrix),
    )
    driven.wait("a time for all", lambda: program.queue.running.queue_seconds_left() is not None)
    driven.wait("that it says so", lambda: program.queue.summary.text().startswith("Paused"))
    tell(part="times", seconds=program.queue.running.queue_seconds_left(), line=program.queue.summary.text())
    driven.window.show_page(GALLERY)
    driven.wait("the images in the gallery", lambda: program.gallery.model.rowCount() == 2)

    told = []
    driven.window.findChild(Notifications).shown.connect(lambda title, text: told.append(text))
    driven.ask(lambda store: store.cancel([matrix]))
    driven.window.show_page(QUEUE)
    other = QWidget()
    other.show()
    other.activateWindow()
    driven.wait("that it is not in front", lambda: not driven.window.isActiveWindow())
    page.pause.click()
    driven.wait("the boat, and that it is told", lambda: told)
    other.close()
    driven.window.raise_window()
    driven.wait("that it is in front", driven.window.isActiveWindow)
    tell(part="told", text=told[0], saved=len(driven.saved), folder=str(Path(driven.saved[0].path).parent))

    driven.generate("a long road", steps=LONG, count=MANY)
    driven.wait("a step", lambda: runner.task() is not None and program.queue.summary.work_left())
    driven.window.close()
    driven.wait("the question", lambda: "leaving" in driven.window.dialogs._open)
    tell(part="asked", visible=driven.window.isVisible())
    driven.click(driven.window.dialogs._open["leaving"].continue_button)


def again(driven):
    program, page, runner = driven.program, driven.page, driven.program.runner
    driven.wait("the other program", lambda: runner.state == "elsewhere")
    driven.wait("how far it is", lambda: f" of {MANY} images" in program.queue.summary.text())
    driven.window.show_page(QUEUE)
    driven.wait("the list", lambda: driven.model.peek(0) is not None)
    entry = driven.model.peek(0).id
    tell(part="elsewhere", line=page.elsewhere.text(), work_left=program.queue.summary.work_left())
    driven.window.show_page(GALLERY)
    driven.wait("what was made before", lambda: program.gallery.model.is_loaded())
    before = program.gallery.model.rowCount()
    driven.wait("more in the gallery, though nothing is done here", lambda: program.gallery.model.rowCount() > before)
    driven.window.show_page(QUEUE)
    driven.click(page.pause)
    driven.wait("that the other lets go", lambda: runner.state == "paused")
    row = driven.ask(lambda store: store.row(entry))
    tell(part="taken over", state=row.state, images=row.images, error=row.error)
    driven.wait("the engine", lambda: program.engine.state() == "ready")
    driven.click(page.pause)
    driven.wait("one made here", lambda: driven.saved)
    driven.select(entry)
    driven.press(Qt.Key.Key_Backspace, Qt.KeyboardModifier.ControlModifier)
    driven.wait("its end", lambda: driven.ask(lambda store: store.row(entry)).state == "cancelled")
    images = driven.ask(lambda store: store.entry(entry)).tasks[0].images
    driven.wait("all in the gallery", lambda: program.gallery.model.rowCount() == 3 + len(images))
    tell(part="done", seeds=[one.seed for one in images], paths=[one.path for one in images])
    driven.window.close()


def task_states(driven, entry):
    return [task.state for task in driven.ask(lambda store: store.entry(entry)).tasks]


def run(script, hands=Driven):
    """Run `main`, with a driver for its window."""
    made = []

    def program():
        made.append(Program())
        return made[0]

    def open_window(of):
        window = opened(of)
        QTimer.singleShot(0, lambda: guarded(of, window))
        return window

    def guarded(of, window):
        try:
            script(hands(of, window))
        except BaseException:  # noqa: BLE001  reported, whatever it is
            tell(failed=traceback.format_exc())
            os._exit(3)

    opened = start.open_window
    vars(start).update(open_window=open_window, Program=program)
    if not settings_path().exists():
        write(settings_path(), Settings(first_run_done=True))
    tell(part="closed", code=start.main([]), without_window=made[0].continue_in_background)


if __name__ == "__main__":
    run({"works": works, "again": again}[sys.argv[1]])
