"""Drive the real window inside its own process and watch its event loop: `app_scenes.py PART`, used by app.py.

The measurements go to stdout as one line of JSON.
"""

import itertools
import json
import math
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QBrush, QImage, QPainter, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QAbstractScrollArea, QApplication, QWidget

import mezzotint_app.main
from mezzotint_app.main import open_window
from mezzotint_app.program import Program
from mezzotint_app.settings import output_folder
from mezzotint_app.windows.main_window import CANVAS, CREATE, GALLERY, MODELS, QUEUE, MainWindow

sys.path.insert(0, str(Path(__file__).resolve().parent))  # also where Python leaves the script's folder out of sys.path

from stalls import StallMonitor

KEYS = 60.0  # milliseconds between keystrokes of a fast typist
HELD = 30.0  # between repeats of a held key
WHEEL = 16.0  # between notches of a wheel
IDLE = 10.0  # seconds for which an idle window is watched
MOVED = 100  # entries moved in the queue
_WORDS = "a red lighthouse on an island by day, painted in oil, with a very wide sky and calm sea (birds:1.2), "
_NOTCH = -120

Modifier = Qt.KeyboardModifier


class Scenes:
    """The program, and the monitor in its thread."""

    def __init__(self, program: Program, window: MainWindow) -> None:
        self.program, self.window, self.monitor = program, window, StallMonitor()
        self.saved = self.previews = 0
        program.runner.saved.connect(self._saved)
        program.create.preview.image_changed.connect(self._previewed)
        self.extra: dict[str, Any] = {}

    def _saved(self, *_: object) -> None:
        self.saved += 1

    def _previewed(self) -> None:
        self.previews += 1

    # ---- user input

    def typing(self, keys: int) -> Iterator[Callable[[], object]]:
        """Type this many characters into the prompt."""
        edit = self.window.create_page.prompts.prompt
        edit.setFocus()
        return self.text(edit, itertools.islice(itertools.cycle(_WORDS), keys))

    def text(self, widget: QWidget, letters: Iterable[str]) -> Iterator[Callable[[], object]]:
        """Type letters one by one."""
        return ((lambda letter=letter: QTest.keyClick(widget, letter)) for letter in letters)

    def keys(self, widget: QWidget, keys: Iterable[Qt.Key]) -> Iterator[Callable[[], object]]:
        """Press keys one by one."""
        return ((lambda key=key: QTest.keyClick(widget, key)) for key in keys)

    def wheel(self, view: QAbstractScrollArea, steps: int) -> Iterator[Callable[[], object]]:
        """Scroll down by `steps` notches."""
        for _ in range(steps):
            yield lambda: turn(view.viewport())

    def key(
        self, widget: QWidget, key: Qt.Key, times: int = 1, **more: Qt.KeyboardModifier
    ) -> Iterator[Callable[[], object]]:
        """Press one key repeatedly."""
        for _ in range(times):
            yield lambda: QTest.keyClick(widget, key, **more)

    def pages(self, times: int) -> Iterator[Callable[[], object]]:
        """Cycle through the pages."""
        for number in range(times):
            yield lambda number=number: self.window.show_page((CREATE, QUEUE, GALLERY, MODELS)[number % 4])

    def until(
        self, actions: Iterator[Callable[[], object]], over: Callable[[], bool]
    ) -> Iterator[Callable[[], object]]:
        """Take actions until `over` is true."""
        return itertools.takewhile(lambda _: not over(), actions)

    # ---- waiting

    def ready(self) -> bool:
        """Whether the engine is ready."""
        return self.program.engine.state() == "ready"

    def begun(self) -> bool:
        """Whether the engine has loaded its libraries and the library service has scanned the folders."""
        return bool(self.program.engine_state.device()) and not self.program.gallery.scanner.is_running()

    def settled(self) -> None:
        """Wait until everything is started and nothing is running."""
        program, wait = self.program, self.monitor.wait
        wait("the engine", self.ready)
        wait("the models", lambda: program.create.chosen.info() is not None)
        wait("the scan", lambda: not program.gallery.scanner.is_running())
        self.monitor.rest(1500)

    # ---- the parts

    def life(self) -> None:
        """Run a session: startup, work, and failures."""
        self.play("engine and librarian start, typing", self.until(self.typing(100_000), self.begun), KEYS)
        self.settled()
        self.play("typing in the prompt", self.typing(200), KEYS)
        self.play("pages switched", self.pages(60), 100)
        self._scan()
        self._job()
        self._kill()
        self._dialogs()
        theme = self.program.settings.change
        self.play("light and dark", [lambda name=name: theme(theme=name) for name in ("dark", "light") * 2], 400)
        self.play("a long prompt pasted", [lambda: self.paste(_WORDS * 90), *self.typing(20)], KEYS)

    def _scan(self) -> None:
        """Reread all images while the gallery is scrolled."""
        scanner, folder = self.program.gallery.scanner, output_folder(self.program.settings.value())
        for path in folder.rglob("*.png"):
            os.utime(path)
        self.window.show_page(GALLERY)
        self.monitor.rest(500)
        with self.monitor.watch("the librarian scans, the gallery is scrolled"):
            scanner.scan()
            self.monitor.act(
                self.until(self.wheel(self.window.gallery_page.grid, 100_000), lambda: not scanner.is_running()), WHEEL
            )
            self.monitor.rest(500)

    def _job(self) -> None:
        before = self.saved
        self.window.show_page(CREATE)
        self.program.create.chosen.change(count=2)
        with self.monitor.watch("a job with previews, typing"):
            self._generate()
            self.monitor.act(self.until(self.typing(100_000), lambda: self.saved >= before + 2), KEYS)
            self.monitor.wait("the end of the job", lambda: self.program.runner.task() is None)
            self.monitor.rest(500)
        self.extra["previews"] = self.previews

    def _kill(self) -> None:
        program, before = self.program, self.saved
        program.create.chosen.change(count=1)
        self._generate()
        shown = self.previews
        self.monitor.wait("a preview", lambda: self.previews > shown + 1)
        with self.monitor.watch("the engine is killed and starts again, typing"):
            os.kill(program.engine.process_id(), signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
            self.monitor.act(self.until(self.typing(100_000), lambda: self.saved > before), KEYS)

    def _generate(self) -> None:
        if not self.program.create.generate():
            raise RuntimeError(f"nothing can be made: {self.program.create.problems()}")

    def _dialogs(self) -> None:
        dialogs, library = self.window.dialogs, self.program.library
        opened = {
            "settings": dialogs.settings,
            "shortcuts": dialogs.keys,
            "log": dialogs.log,
            "folders of models": dialogs.places,
            "get a model": dialogs.get_model,
            "quantize": lambda: dialogs.quantize(library.models[0].id),
            "settings of an image": lambda: dialogs.settings_of_image(self._images()[0]),
            "full screen": lambda: dialogs.view(self._images(), 0),
        }
        for name, show in opened.items():
            for time_ in ("", ", again"):
                self.play(f"opened: {name}{time_}", [show], KEYS, 400)
                self.close_dialogs()

    def _images(self) -> list[str]:
        return [result.path for result in self.program.create.preview.results()]

    def close_dialogs(self) -> None:
        """Close everything except the main window."""
        for widget in QApplication.topLevelWidgets():
            if widget is not self.window and widget.isVisible():
                widget.close()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # a nested event loop does not process these
        self.monitor.rest(100)

    def paste(self, text: str) -> None:
        """Replace the prompt by pasting."""
        edit = self.window.create_page.prompts.prompt
        QApplication.clipboard().setText(text)
        edit.selectAll()
        edit.paste()

    def play(self, name: str, actions: Iterable[Callable[[], object]], every: float, rest: float = 500) -> None:
        """Perform the actions and watch the event loop until their effects settle."""
        with self.monitor.watch(name):
            self.monitor.act(actions, every)
            self.monitor.rest(rest)

    def queue(self) -> None:
        """Use a queue of all entries."""
        view, control, shift = self.window.queue_page.list, Modifier.ControlModifier, Modifier.ShiftModifier
        self.settled()
        self.play("the Queue page for the first time", [lambda: self.window.show_page(QUEUE)], KEYS)
        self.extra["entries"] = rows = view.model().rowCount()
        view.setFocus()
        self.play("scrolled by wheel", self.wheel(view, 300), WHEEL)
        down = self.key(view, Qt.Key.Key_PageDown, rows)
        self.play("from top to end by page keys", self.until(down, lambda: is_at(view, rows - 1)), HELD)
        self.play("to the top and to the end", self.keys(view, [Qt.Key.Key_Home, Qt.Key.Key_End] * 5), 100)
        self.play("all selected", self.key(view, Qt.Key.Key_A, modifier=control), KEYS)
        QTest.keyClick(view, Qt.Key.Key_Home)
        self.play(f"{MOVED} selected", self.key(view, Qt.Key.Key_Down, MOVED - 1, modifier=shift), HELD)
        self.extra["selected"] = view.selected_count()
        end = rows - self.extra["selected"]
        self.play(f"{MOVED} moved to the end", [lambda: view.model().move_rows(view.selected_rows(), rows)], KEYS, 1500)
        self.extra["stands at the end"] = view.selected_rows()[0] == end
        self.play(f"{MOVED} moved by one place", self.key(view, Qt.Key.Key_Up, 5, modifier=control), 400)
        every_other = range(0, 2 * MOVED, 2)
        self.play(f"{MOVED} that lie apart removed", [lambda: self._remove(every_other)], KEYS, 1500)
        self.play("all removed", [lambda: self._remove(range(view.model().rowCount()))], KEYS, 3000)
        self.extra["left"] = view.model().rowCount()

    def _remove(self, rows: Sequence[int]) -> None:
        queue = self.program.queue
        queue.model.gather(rows, lambda found: queue.actions.remove([row.id for row in found]))

    def gallery(self) -> None:
        """Use a gallery of all images."""
        page, model, scanner = self.window.gallery_page, self.program.gallery.model, self.program.gallery.scanner
        grid, bar = page.grid, page.grid.verticalScrollBar()
        self._count_thumbnails()
        self.window.show_page(GALLERY)
        scrolled = self.until(self.wheel(grid, 100_000), lambda: self.ready() and not scanner.is_running())
        self.play("all are read for the first time, the page is scrolled", scrolled, WHEEL)
        self.settled()
        self.extra["images"] = rows = model.rowCount()
        grid.setFocus()
        QTest.keyClick(grid, Qt.Key.Key_Home)
        self.play("scrolled by wheel", self.wheel(grid, 400), WHEEL)
        self.play("held arrow key", self.key(grid, Qt.Key.Key_Down, 300), HELD)
        down = self.key(grid, Qt.Key.Key_PageDown, rows)
        self.play("to the end by page keys", self.until(down, lambda: is_at(grid, rows - 1)), HELD)
        drawn = [lambda at=at: bar.setValue(bar.maximum() * at // 100) for at in (*range(101), *range(100, -1, -1))]
        self.play("the handle of the scroll bar drawn from end to end", drawn, WHEEL)
        self.play("searched letter by letter", self.text(page.bar.search, "castle in the desert"), 150, 1500)
        self.extra["found"] = model.rowCount()
        model.widen()
        self.monitor.wait("all images", lambda: model.rowCount() == rows)
        self.play("all selected", self.key(grid, Qt.Key.Key_A, modifier=Modifier.ControlModifier), KEYS)

    def _count_thumbnails(self) -> None:
        librarian, extra = self.program.librarian, self.extra
        ask, extra["thumbnails asked"] = librarian.ask, 0

        def counted(method: str, *words: object, **more: Any) -> int:
            extra["thumbnails asked"] += method == "thumbnail"
            return ask(method, *words, **more)

        librarian.ask = counted

    def canvas(self) -> None:
        """Pan, zoom and paint on a picture of 8192x8192 pixels with a mask; the view is what is redrawn."""
        document, tools, view = self.program.canvas.document, self.program.canvas.tools, self.window.canvas_page.canvas
        self.window.show_page(CANVAS)
        document.add_layer("image", "", noise(8192))
        document.add_layer("mask", "")
        self.window.resize(1900, 1150)
        view.setFixedSize(1400, 900)
        self.monitor.stop()
        for name, show in (("whole", view.fit), ("at a third", lambda: view.zoom_by(3)), ("1:1", view.actual_size)):
            show()
            self.monitor.rest(4000)
            swing = [40 if number % 60 < 30 else -40 for number in range(120)]
            self.frames(f"panned, {name}", [lambda by=by: view.pan(by, by / 2) for by in swing])
            tools.set_brush(size=64 / view.scale())
            spots = [QPointF(300 + 5 * number, 450 + 200 * math.sin(number / 8)) for number in range(120)]
            tools.press(view.to_canvas(spots[0]))
            self.frames(f"painted, {name}", [lambda at=at: tools.move(view.to_canvas(at)) for at in spots])
            tools.release()
        zoomed = [1.05 if number % 80 < 40 else 1 / 1.05 for number in range(160)]
        view.fit()
        self.frames("zoomed", [lambda by=by: view.zoom_by(by) for by in zoomed])

    def frames(self, name: str, actions: Iterable[Callable[[], object]]) -> None:
        """Note how many milliseconds each action takes until the view is drawn, and how many of them are work."""
        times = self.extra[name] = []
        for act in actions:
            begun, worked = time.perf_counter(), time.thread_time()
            act()
            QApplication.sendEvent(self.window, QEvent(QEvent.Type.UpdateRequest))  # redraws what is to be redrawn
            times.append((1000 * (time.perf_counter() - begun), 1000 * (time.thread_time() - worked)))
            QApplication.processEvents()

    def idle(self) -> None:
        """Measure CPU time while nothing is done."""
        self.settled()
        self.monitor.stop()
        self.monitor.rest(3000)
        begun, worked = time.perf_counter(), time.process_time()
        self.monitor.rest(1000 * IDLE)
        self.extra["seconds"] = time.perf_counter() - begun
        self.extra["worked"] = time.process_time() - worked


def noise(side: int) -> QImage:
    """Return an image that does not compress, of a small one repeated."""
    small = QImage(os.urandom(512 * 512 * 4), 512, 512, QImage.Format.Format_RGB32)
    image = QImage(side, side, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    painter.fillRect(image.rect(), QBrush(small))
    painter.end()
    return image


def is_at(view: QAbstractItemView, row: int) -> bool:
    """Whether the current row is `row` or a later one."""
    return view.currentIndex().row() >= row


def turn(widget: QWidget) -> None:
    """Turn the wheel over a widget by one notch."""
    middle = QPointF(widget.rect().center())
    none = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase
    event = QWheelEvent(middle, QPointF(widget.mapToGlobal(middle)), QPoint(), QPoint(0, _NOTCH), *none, False)
    QApplication.sendEvent(widget, event)


def run(scenes: Scenes, part: str) -> None:
    """Drive one part, print the measurements, and close the window as a user would."""
    try:
        getattr(scenes, part)()
    except BaseException:  # noqa: BLE001  the process must end in any case
        sys.excepthook(*sys.exc_info())
        os._exit(1)
    watched = [one.told() for one in scenes.monitor.all]
    print(json.dumps({"watched": watched, "extra": scenes.extra, "torch": "torch" in sys.modules}), flush=True)
    scenes.close_dialogs()
    scenes.window.leave()


def main(part: str, *more: str) -> int:
    """Start the program and drive its window; with `explain`, stderr shows what runs during each gap."""

    def opened(program: Program) -> MainWindow:
        window = open_window(program)
        scenes = Scenes(program, window)
        if "explain" in more:
            scenes.monitor.explain(sys.stderr)
        QTimer.singleShot(0, lambda: run(scenes, part))
        return window

    mezzotint_app.main.open_window = opened
    return mezzotint_app.main.main([])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
