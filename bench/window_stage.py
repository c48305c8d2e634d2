"""Run the program for screenshots: bring the window to a state as a user would, and capture it."""

import io
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from PIL import Image
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from mezzotint.codec import to_json
from mezzotint.protocol import Step
from mezzotint_app.main import open_window
from mezzotint_app.program import Program
from mezzotint_app.settings import Settings, settings_path
from mezzotint_app.windows.main_window import FIRST_RUN, MainWindow

SECONDS = 600.0  # timeout of any wait
SETTLING = 800  # milliseconds for thumbnails and animations to settle

W = TypeVar("W", bound=QWidget)


class Stage:
    """A Program with its window, in separate folders."""

    def __init__(self, application: QApplication, folder: Path, size: tuple[int, int], *, first_run: bool) -> None:
        use_folders(folder)
        self.application = application
        self.saved = self.steps = 0
        _settle_beforehand(folder, first_run=first_run)
        self.program = Program()
        self.program.runner.saved.connect(self._saved)
        self.program.runner.progressed.connect(self._progressed)
        self.told: list[str] = []
        self.program.message.connect(self.told.append)
        self.program.create.noticed.connect(self.told.append)
        self.window = open_window(self.program)
        self.window.resize(*size)
        self.wait("the engine", lambda: self.program.engine.state() == "ready")
        self.wait("the models", lambda: len(self.program.library.models) > 0)

    def _saved(self, *_: object) -> None:
        self.saved += 1

    def _progressed(self, _task: object, event: object) -> None:
        self.steps = event.step if isinstance(event, Step) else 0

    def wait(self, what: str, condition: Callable[[], object]) -> None:
        """Wait until the condition holds. Raises TimeoutError."""
        end = time.monotonic() + SECONDS
        while not condition():
            if time.monotonic() > end:
                told = "\n".join((*self.told, *self.program.engine.last_log()[-20:]))
                raise TimeoutError(
                    f"waited in vain for {what}; what was told, and the end of the engine's log:\n{told}"
                )
            QTest.qWait(20)

    def page(self, number: int) -> MainWindow:
        """Switch to a page and return the window."""
        if self.window.pages.currentIndex() == FIRST_RUN:
            self.window.first_run.skipped.emit()
        self.window.show_page(number)
        return self.window

    def opened(self, kind: type[W]) -> W:
        """Return an open dialog or window of this kind, waiting for it if needed."""
        found: list[W] = []

        def is_there() -> bool:
            found[:] = [one for one in self._open() if isinstance(one, kind)]
            return bool(found)

        self.wait(kind.__name__, is_there)
        return found[0]

    def close_others(self) -> None:
        """Close everything except the main window."""
        for widget in self._open():
            if widget is not self.window:
                widget.close()
        QTest.qWait(50)

    def _open(self) -> list[QWidget]:
        return [one for one in QApplication.topLevelWidgets() if one.isVisible()]

    def make(self, prompt: str, *, count: int = 1, model: str = "starter-xl", seed: int = 7, steps: int = 0) -> None:
        """Generate with a hires fix pass, as if the Generate button were clicked."""
        create = self.program.create
        create.chosen.set_model(model)
        create.chosen.change(count=count, second_pass=True, second_scale=2.0, steps=steps or None)
        create.prompts.set_prompt(prompt)
        create.seed.set(seed)
        if not create.generate():
            raise RuntimeError(f"nothing could be made: {create.problems()}")
        create.seed.fix(False)  # a locked seed would show a notice that the same image results again

    def until_saved(self, number: int) -> None:
        """Wait until this many images have been saved since the start and nothing runs."""
        self.wait(f"{number} images", lambda: self.saved >= number and self.program.runner.task() is None)

    def photograph(self, widget: QWidget, name: str, themes: Sequence[str], folder: Path) -> list[Path]:
        """Capture a widget in these themes."""
        folder.mkdir(parents=True, exist_ok=True)
        written = []
        for choice in themes:
            self.program.settings.change(theme=choice)
            QTest.qWait(SETTLING)
            path = folder / f"{name}-{choice}.webp"
            path.write_bytes(compressed(widget.grab().toImage()))
            written.append(path)
        return written

    def end(self) -> None:
        """Stop and requeue what runs, and close."""
        self.close_others()
        for batch in self.program.batches.all():
            self.program.batches.stop(batch.known.id, now=True)
        left: list[bool] = []
        self.window.leave()
        self.program.leave(lambda: left.append(True))
        self.wait("the end of what runs", lambda: left)
        self.program.finish()


def use_folders(folder: Path) -> None:
    """Use separate folders for models, settings and images instead of the user's own."""
    places = {"MODELS": "models", "CONFIG": "config", "CACHE": "cache", "STATE": "state"}
    os.environ.update({f"MEZZOTINT_{name}": str(folder / place) for name, place in places.items()})
    os.environ.update(HOME=str(folder), HF_HOME=str(folder / "hub"))


def _settle_beforehand(folder: Path, *, first_run: bool) -> None:
    """Write the settings of a returning user, or of a first run."""
    settings = Settings(
        output_folder=str(folder / "Images"), first_run_done=not first_run, notify=False, keep_awake=False
    )
    path = settings_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(to_json(settings), "utf-8")


def compressed(image: QImage) -> bytes:
    """Encode as WebP, lossless if that is smaller, as it is for text on plain backgrounds."""
    image = image.convertToFormat(QImage.Format.Format_RGB888)
    size = (image.width(), image.height())
    pixels = Image.frombytes("RGB", size, bytes(image.constBits()), "raw", "RGB", image.bytesPerLine())
    found = []
    for options in ({"lossless": True, "quality": 100}, {"quality": 82}):
        buffer = io.BytesIO()
        pixels.save(buffer, "WEBP", method=6, **options)
        found.append(buffer.getvalue())
    return min(found, key=len)
