"""A Create page with a real queue and services that answer when the test says so."""

from dataclasses import dataclass, field
from pathlib import Path

from fake_service import FakeService, InlineBackground
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox
from shiboken6 import delete

from mezzotint.jobs.store import JobStore
from mezzotint.protocol import GeneratedImage, ModelDefaults, ModelInfo
from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.create.create import CreateModel
from mezzotint_app.viewmodel.create.images.image_input import ImageInputModel
from mezzotint_app.viewmodel.create.state import CreateState
from mezzotint_app.viewmodel.queue.access import QueueAccess
from mezzotint_app.viewmodel.thumbnails import Thumbnails
from mezzotint_app.windows.create.page import CreatePage


class FakeRunner(QObject):
    """A runner whose events come from the test."""

    started = Signal(object)
    progressed = Signal(object, object)
    saved = Signal(object, object)
    ended = Signal(object, object, object)
    changed = Signal()

    def __init__(self):
        super().__init__()
        self.state = "idle"
        self.current = None
        self.stopped = self.skipped = 0

    def task(self):
        return self.current

    def held_by(self):
        return ""

    def is_lent(self):
        return False

    def pause(self):
        self.state = "paused"

    def resume(self):
        self.state = "idle"

    def pause_after_current(self):
        self.state = "stopping"

    def stop_now(self):
        self.stopped += 1

    def skip_image(self):
        self.skipped += 1

    def begin(self, task):
        self.current, self.state = task, "working"
        self.started.emit(task)
        self.changed.emit()

    def end(self, result=None, failure=None):
        task, self.current, self.state = self.current, None, "idle"
        self.ended.emit(task, result, failure)
        self.changed.emit()


class FakeLife(QObject):
    """An engine whose state the test sets."""

    changed = Signal()

    def __init__(self, state="ready", reason="", info=None):
        super().__init__()
        self._state, self._reason, self._info = state, reason, info

    def state(self):
        return self._state

    def reason(self):
        return self._reason

    def info(self):
        return self._info

    def become(self, state, reason="", info=None):
        self._state, self._reason, self._info = state, reason, info or self._info
        self.changed.emit()


def model_info(identity, family="sdxl", variant="base", side=1024, steps=30, guidance=5.0, **more) -> ModelInfo:
    return ModelInfo(
        **{
            "id": identity,
            "path": f"/models/{identity}",
            "layout": "folder",
            "family": family,
            "variant": variant,
            "bytes": 1 << 20,
            "source": "models",
            "defaults": ModelDefaults(width=side, height=side, steps=steps, guidance_scale=guidance),
            "problem": None,
            **more,
        }
    )


MODELS = (
    model_info("base", source="bundled"),
    model_info("dit", "pixart", "sigma", steps=20, guidance=4.5),
    model_info("turbo", variant="turbo", side=512, steps=4, guidance=1.0),
    model_info("refiner", variant="refiner"),
    model_info("small-refiner", variant="refiner", side=128),
    model_info("broken", problem="The file is damaged: it ends too early."),
)


@dataclass
class Kit:
    """Everything a page consists of."""

    folder: Path
    models: tuple = MODELS
    engine: FakeService = field(default_factory=FakeService)
    librarian: FakeService = field(default_factory=FakeService)
    background: InlineBackground = field(default_factory=InlineBackground)
    pool: InlineBackground = field(default_factory=InlineBackground)
    runner: FakeRunner = field(default_factory=FakeRunner)
    life: FakeLife = field(default_factory=FakeLife)
    said: list = field(default_factory=list)
    entries: list = field(default_factory=list)

    def __post_init__(self):
        self.queue = QueueAccess(self.background, lambda: JobStore.open(self.folder / "queue.sqlite"))
        self.queue.open()
        self.settings = Stored(
            self.folder / "window.json", Settings(output_folder=str(self.folder / "out")), self.background
        )
        self.state = Stored(self.folder / "create.json", CreateState(), self.background)
        self.images = ImageInputModel(self.librarian, self.pool)
        self.create = CreateModel(
            self.engine,
            self.librarian,
            self.queue,
            self.runner,
            self.images,
            self.settings,
            self.state,
            self.pool,
            life=self.life,
        )
        self.create.noticed.connect(self.said.append)
        self.create.not_queued.connect(self.said.append)
        self.create.queued.connect(self.entries.append)
        self.create.models.use(self.models)

    def write(self, prompt="a house by the sea"):
        self.create.prompts.set_prompt(prompt)
        return self

    def close(self):
        """Close it and its timers, so that none fires during the next test."""
        self.queue.close()
        delete(self.create)
        delete(self.images)

    def queued(self):
        found = []
        self.queue.ask(lambda store: found.extend(store.rows()))
        return found

    def tasks(self, entry):
        found = []
        self.queue.ask(lambda store: found.append(store.entry(entry)))
        return found[0].tasks


def generated(path, seed=7, index=0, side=64) -> GeneratedImage:
    return GeneratedImage(path=str(path), width=side, height=side, seed=seed, index=index, sha256="0" * 64)


def kit_of(folder):
    """Fixture body: `yield from kit_of(tmp_path)`."""
    kit = Kit(folder)
    yield kit
    kit.close()


def page_of(kit, qtbot) -> CreatePage:
    """Return the page, shown with all sections unfolded."""
    kit.write("a house")
    page = CreatePage(kit.create, Thumbnails(kit.librarian, kit.pool), kit.pool)
    page.resize(1100, 760)
    qtbot.addWidget(page)
    for section in page.sections.sections().values():
        section.set_open(True)
    with qtbot.waitExposed(page):
        page.show()
    return page


def typed(spin, text) -> None:
    """Type into a spin box and press Return."""
    spin.setFocus()
    spin.selectAll()
    QTest.keyClicks(spin, text)
    QTest.keyClick(spin, Qt.Key.Key_Return)


def clicked(button) -> None:
    """Click a button."""
    if isinstance(button, QCheckBox):
        QTest.keyClick(button, Qt.Key.Key_Space)
    else:
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
