"""Drive the real window through all its features while its thread is watched: `window_thread_driver.py PART`.

Parts: `works` reports potentially blocking calls of the thread; `watch` makes such calls on purpose.
"""

import os
import shutil
import signal
import sqlite3
import sys
import tempfile
import threading
import time
from pathlib import Path

from PySide6.QtCore import QFile, QIODevice, QPoint, QPointF, QRect, QStandardPaths, Qt
from PySide6.QtGui import QGuiApplication, QIcon, QImage, QImageReader, QPixmap
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from thread_watch import ThreadWatch
from window_driver import tell
from window_queue_driver import Driven, run

from mezzotint_app.settings import settings_path
from mezzotint_app.windows.main_window import BATCH, CANVAS, CREATE, GALLERY, MODELS, QUEUE, TRAIN

HERE = str(Path(__file__).parent)
OURS = (os.sep + "mezzotint_app" + os.sep, os.sep + "mezzotint" + os.sep, HERE)


def of_this_driver(frames):
    """Whether the call is the test's own, even if program code is further out on the stack."""
    innermost = next((name for name, _, _ in frames if any(ours in name for ours in OURS)), HERE)
    return innermost.startswith(HERE)


# Qt's own reads are not detected: icons in the style sheet, a font's first use. Modules are all imported before the
# window is shown.
ALLOWED = (("the test itself", of_this_driver),)


class Hands(Driven):
    def __init__(self, program, window):
        self.watch = ThreadWatch(ALLOWED).install()
        super().__init__(program, window)
        QTest.qWait(100)  # the first frame
        self.watch.on = True

    def rest(self, milliseconds=300):
        QTest.qWait(milliseconds)

    def close_dialogs(self):
        for widget in QApplication.topLevelWidgets():
            if widget is not self.window and widget.isVisible():
                widget.close()
        self.rest(50)

    def opened(self, show):
        """Open something over the window, and close it."""
        show()
        self.rest()
        self.close_dialogs()


def works(driven):
    parts = (starts, makes, looks_at_the_queue, looks_at_the_gallery, looks_at_one, takes_settings, begins_from_one)
    for part in (*parts, sees_the_models, settles, paints, makes_a_batch, trains, loses_the_engine):
        part(driven)
        tell(part=part.__name__, found=len(driven.watch.found))
    driven.window.leave()
    driven.wait("the end of what runs", lambda: not driven.window.isVisible())
    driven.watch.on = False
    tell(part="watched", found=[f"{what}\n{place}" for place, what in driven.watch.found.items()], **counts(driven))


def counts(driven):
    return {"passed": driven.watch.passed, "saved": len(driven.saved), "previews": driven.previews}


def starts(driven):
    program = driven.program
    driven.wait("the models", lambda: program.create.chosen.info() is not None)
    driven.wait("the engine", lambda: program.engine.state() == "ready")


def makes(driven):
    driven.generate("a red house by the sea (birds:1.2)", steps=6, count=2)
    driven.window.show_page(CREATE)
    driven.wait("two images", lambda: len(driven.saved) == 2 and driven.program.runner.task() is None)
    driven.wait("the finished image", lambda: driven.program.create.preview.path() == driven.saved[-1].path)
    view = driven.window.create_page.result.view
    for key in (Qt.Key.Key_Plus, Qt.Key.Key_Plus, Qt.Key.Key_0, Qt.Key.Key_1):
        QTest.keyClick(view, key)
        driven.rest(50)
    driven.window.create_page.copy_command()
    driven.rest()


def looks_at_the_queue(driven):
    driven.window.show_page(QUEUE)
    page = driven.page
    driven.program.runner.pause()
    driven.wait("the pause", lambda: driven.program.runner.state == "paused")
    for prompt in ("a tree", "a boat", "a {big|small} tent"):
        driven.generate(prompt, steps=2)
    driven.wait("three entries", lambda: driven.model.rowCount() == 3)
    page.list.setFocus()
    for key, more in (
        (Qt.Key.Key_End, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_Up, Qt.KeyboardModifier.ControlModifier),
        (Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier),
        (Qt.Key.Key_O, Qt.KeyboardModifier.ControlModifier),
        (Qt.Key.Key_Backspace, Qt.KeyboardModifier.ControlModifier),
    ):
        QTest.keyClick(page.list, key, more)
        driven.rest(150)
    driven.program.queue.model.show("all")
    driven.rest()
    driven.program.queue.model.show("to_do")


def looks_at_the_gallery(driven):
    program, page = driven.program, driven.window.gallery_page
    driven.window.show_page(GALLERY)
    driven.wait("the images", lambda: program.gallery.model.rowCount() == 2)
    shown = page.grid.model().index(0)
    driven.wait("a thumbnail", lambda: shown.data(Qt.ItemDataRole.UserRole + 2) is not None)
    page.grid.setFocus()
    page.grid.setCurrentIndex(shown)
    driven.wait("its details", lambda: program.gallery.details.metadata() is not None)
    for key, more in (
        (Qt.Key.Key_3, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_Period, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier),
        (Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier),
        (Qt.Key.Key_O, Qt.KeyboardModifier.ControlModifier),
    ):
        QTest.keyClick(page.grid, key, more)
        driven.rest(150)
    page.actions_of_images["copy_command"].trigger()
    QTest.keyClicks(page.bar.search, "house")
    driven.rest(600)
    page.bar.slider.setValue(page.bar.slider.value() + 64)
    driven.rest()


def looks_at_one(driven):
    dialogs, paths = driven.window.dialogs, [image.path for image in driven.saved]
    dialogs.view(paths, 0)
    driven.rest()
    viewer = dialogs._viewer
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_1, Qt.Key.Key_0, Qt.Key.Key_4, Qt.Key.Key_I):
        QTest.keyClick(viewer, key)
        driven.rest(150)
    driven.close_dialogs()
    dialogs.compare(paths)
    driven.rest()
    driven.close_dialogs()


def takes_settings(driven):
    path = driven.saved[0].path
    driven.window.show_page(CREATE)
    driven.drop(path)
    driven.wait("the differences", lambda: "differences" in driven.window.dialogs._open)
    dialog = driven.window.dialogs._open["differences"]
    driven.wait("what the image says", lambda: dialog._model.metadata() is not None)
    driven.rest()
    driven.click(driven.button("Apply all", dialog))
    driven.opened(lambda: driven.drop(str(Path(path).parent)))
    driven.opened(lambda: driven.drop(str(Path(HERE) / "thread_watch.py")))
    QGuiApplication.clipboard().setImage(QImage(64, 64, QImage.Format.Format_RGB32))
    driven.window._paste()
    driven.rest()


def begins_from_one(driven):
    images, panel = driven.program.images, driven.window.create_page.sections.image_input
    canvas, view = driven.program.canvas, driven.window.canvas_page.canvas
    driven.window.create_page.sections.sections()["image"].set_open(True)
    images.set_image(driven.saved[0].path)
    driven.wait("the image", lambda: images.image() is not None)
    for _ in range(2):  # the second time, the mask is read again
        panel.canvas_wanted.emit()
        driven.wait("the canvas", lambda: len(canvas.document.layers()) == 2 and not canvas.is_busy())
        middle = view.rect().center()
        QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=middle)
        QTest.mouseMove(view, middle + QPoint(40, 20))
        QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=middle + QPoint(40, 20))
        QTest.keyClick(view, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        QTest.keyClick(view, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
        canvas.generation.hand_over()
        driven.wait("the mask", lambda: images.mask() is not None and images.image() is not None)
        canvas.clear()
    driven.generate("a blue door", steps=2)
    images.clear()


def sees_the_models(driven):
    dialogs, library = driven.window.dialogs, driven.program.library
    driven.window.show_page(MODELS)
    driven.wait("the models", lambda: library.models)
    driven.opened(dialogs.places)
    driven.opened(dialogs.get_model)
    driven.opened(lambda: dialogs.quantize(library.models[0].id))
    call = library.verify(library.models[0].id)
    driven.wait("that its files are whole", lambda: library.job(call).state != "running")
    folder = Path(tempfile.mkdtemp())
    library.add_folder(str(folder))
    driven.rest()
    library.remove_folder(str(folder))
    driven.rest()


def settles(driven):
    dialogs = driven.window.dialogs
    for show in (dialogs.settings, dialogs.keys, dialogs.log):
        driven.opened(show)
    for theme in ("dark", "light"):
        driven.program.settings.change(theme=theme)
        driven.wait("that it is kept", lambda theme=theme: f'"{theme}"' in settings_path().read_text("utf-8"))
    driven.window.resize(1100, 700)
    driven.rest(800)


def paints(driven):
    """An image on the canvas filled, queued, saved and opened again."""
    canvas, file = driven.program.canvas, Path.home() / "a.ora"
    driven.window.show_page(CANVAS)
    canvas.add_image(driven.saved[0].path)
    driven.wait("the image", lambda: len(canvas.document.layers()) == 2)
    canvas.tools.set_tool("fill")
    canvas.tools.press(QPointF(5, 5))
    canvas.document.set_frame(QRect(0, 0, 128, 64))
    assert canvas.generation.generate()
    driven.wait("the entry", lambda: not canvas.generation.is_preparing())
    for path in (file, file.with_suffix(".png")):
        canvas.save_file(str(path))
        driven.wait("the file", lambda: not canvas.is_busy())
    canvas.open_file(str(file))
    driven.wait("the file again", lambda: not canvas.is_busy())
    driven.program.canvas_keeping.save()
    driven.rest()


def makes_a_batch(driven):
    """With the queue paused, so that it lends its turn immediately."""
    program, page = driven.program, driven.window.batch_page
    driven.window.show_page(BATCH)
    program.batch.change(source="words", prompts="a tree\na boat", settings={"model": "starter-dit", "steps": 2})
    page.preview_button.click()
    driven.wait("the look", lambda: program.batch.dry_run.totals() is not None)
    page.start.click()
    driven.wait("the batch", lambda: program.batches.all())
    identity = program.batches.all()[0].known.id
    driven.wait("its end", lambda: (now := program.batches.get(identity).status) is not None and now.is_ended)
    page.list.card(identity).open.click()
    driven.rest()


def trains(driven):
    """With a caption edited, an epoch with a sample, and the LoRA used."""
    program, page = driven.program, driven.window.train_page
    driven.window.show_page(TRAIN)
    page.use_sample()
    images = Path.home() / "images"
    shutil.copytree(program.train.folder(), images)
    program.train.use_folder(str(images))
    program.train.change(
        trigger="zibble", model="starter-dit", steps=2, batch=2, resolution=64, regularization=0, epochs=1
    )
    driven.wait("the check", lambda: program.train.can_start() and not program.train.checks.is_checking())
    driven.rest()
    program.train.dataset.setData(program.train.dataset.index(0), "a zibble on a hill")
    driven.wait("the caption", lambda: not program.train.checks.is_checking())
    page.show_model()
    page.start.click()
    driven.wait("its end", lambda: program.train.runs.all() and program.train.runs.all()[0].lora)
    driven.rest(500)
    page.runs.open.click()
    page.runs.epochs.cards()[1].use.click()
    driven.rest()


def loses_the_engine(driven):
    program, before = driven.program, len(driven.saved)
    program.runner.resume()
    driven.wait("a task", lambda: program.runner.task() is not None)
    os.kill(program.engine.process_id(), signal.SIGKILL)
    driven.wait("its end", lambda: program.engine.state() != "ready")
    driven.wait("an image after that", lambda: len(driven.saved) > before)
    driven.wait("nothing more to do", lambda: program.runner.task() is None and not program.queue.summary.work_left())
    os.kill(program.librarian.process_id(), signal.SIGKILL)
    driven.wait("the librarian again", lambda: program.librarian.state() == "ready")
    driven.rest()


# ---- the watch itself


def forbidden(folder):
    """Return every forbidden call by name."""
    image = folder / "image.png"
    QImage(8, 8, QImage.Format.Format_RGB32).save(str(image))
    data = image.read_bytes()
    return {
        "open": lambda: image.read_bytes(),
        "write": lambda: (folder / "a").write_text("a"),
        "list": lambda: list(folder.iterdir()),
        "rename": lambda: image.replace(image),
        "look": lambda: image.exists(),
        "make": lambda: (folder / "b").mkdir(exist_ok=True),
        "space": lambda: os.statvfs(folder),
        "database": lambda: sqlite3.connect(folder / "c"),
        "database for all": lambda: sqlite3.connect(folder / "d", check_same_thread=False),
        "process": lambda: os.system("true"),
        "sleep": lambda: time.sleep(0.001),
        "decode": lambda: QImage(str(image)),
        "decode bytes": lambda: QImage.fromData(data),
        "pixmap": lambda: QPixmap(str(image)),
        "icon": lambda: QIcon(str(image)),
        "reader": lambda: QImageReader(str(image)).read(),
        "Qt's file": lambda: QFile(str(image)).open(QIODevice.OpenModeFlag.ReadOnly),
        "Qt's places": lambda: QStandardPaths.writableLocation(QStandardPaths.StandardLocation.PicturesLocation),
    }


def watch():
    application = QGuiApplication([])
    watched = ThreadWatch().install()
    with tempfile.TemporaryDirectory() as folder:
        acts = forbidden(Path(folder))
        watched.on = True
        seen = {name: seen_of(watched, act) for name, act in acts.items()}
        elsewhere = {name: seen_elsewhere(watched, act) for name, act in acts.items()}
        watched.on = False
    del application
    tell(part="watch", seen=seen, elsewhere=elsewhere)


def seen_of(watched, act):
    watched.found.clear()
    act()
    return len(watched.found)


def seen_elsewhere(watched, act):
    watched.found.clear()
    thread = threading.Thread(target=act)
    thread.start()
    thread.join()
    return len(watched.found)


if __name__ == "__main__":
    if sys.argv[1] == "watch":
        watch()
    else:
        run(works, Hands)
