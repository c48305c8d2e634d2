"""The scenes that screenshots of the window show."""

import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QScrollArea, QWidget

from mezzotint.jobs.store import JobStore
from mezzotint.library_protocol import GalleryPage, GalleryQuery, Rating
from mezzotint.paths import assets_folder
from mezzotint.protocol import Cascade, GenerateRequest, ModelRef
from mezzotint.protocol import Stage as ImageStage
from mezzotint_app.viewmodel.batch.form import MatrixRow
from mezzotint_app.viewmodel.gallery.gallery import ThumbnailRole
from mezzotint_app.widgets.images.grid_view import GridView
from mezzotint_app.windows.differences_dialog import DifferencesDialog
from mezzotint_app.windows.gallery.viewer import Viewer
from mezzotint_app.windows.log_dialog import LogDialog
from mezzotint_app.windows.main_window import BATCH, CANVAS, CREATE, GALLERY, MODELS, QUEUE, TRAIN
from mezzotint_app.windows.models.get_model_dialog import GetModelDialog
from mezzotint_app.windows.models.model_folders_dialog import ModelFoldersDialog
from mezzotint_app.windows.models.quantize_dialog import QuantizeDialog
from mezzotint_app.windows.quit_dialog import QuitDialog
from mezzotint_app.windows.settings_dialog import SettingsDialog
from mezzotint_app.windows.shortcuts_dialog import ShortcutsDialog
from mezzotint_app.windows.styles.save_style_dialog import SaveStyleDialog
from mezzotint_app.windows.styles.styles_dialog import StylesDialog
from mezzotint_app.windows.train.page import DATASET, TRAININGS, TrainPage
from scenes import engine_setup
from window_stage import Stage, use_folders

DAY = 24 * 3600
_SAMPLES = Path(__file__).resolve().parents[1] / "assets" / "samples" / "jobs" / "images"
_COPIES = 20  # of each, in a batch's folder
_BATCHES = 2
_MADE = 16  # images of a batch that are finished when the screenshot is taken
PROMPT = "a red house by the sea at dusk"
_XL, _DIT = "starter-xl", "starter-dit"
# Contents of the gallery, newest first: prompt, model, rating.
MADE = (
    ("a white lighthouse on the coast at night", _XL, 5), ("a yellow balloon over the sea at dawn", _XL, 0),
    ("a blue boat on the sea by day", _DIT, 3), ("a big red tree in a meadow at dawn", _XL, 0),
    ("an orange tent in the mountains at night", _XL, 4), ("a purple castle in the forest at sunset", _DIT, 0),
    ("a green tree in the snow", _XL, 0), ("a yellow car in the desert by day", _XL, 2),
    ("a pink balloon over the mountains at dusk", _DIT, 0), ("a red boat at sunset", _XL, 5),
    ("a black house in the snow", _XL, 0), ("a big orange lighthouse at sunset", _DIT, 0),
    ("a yellow castle in the rain", _XL, 0), ("a purple tree on an island by day", _XL, 3),
    ("a brown balloon at sunset", _DIT, 0), ("a white tent in the mountains at dusk", _XL, 0),
    ("a blue car in the forest", _XL, 0), ("a red lighthouse on an island by day", _XL, 4),
    ("a green boat at dawn", _DIT, 0), ("a yellow house in the forest in the rain", _XL, 0),
)  # fmt: skip
_OF_TODAY, _OF_YESTERDAY = 8, 14  # index of the first image of an earlier day
_WAITING = (("two balloons over the sea at dawn", 1), ("a castle in the mountains at night", 4), ("a boat", 2))
_STROKE = ((0.62, 0.34), (0.7, 0.42), (0.62, 0.5), (0.7, 0.56))  # of a mask, relative to the canvas
_LONG = 120  # steps of the task that runs during the screenshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Brings the window to a state, and returns the widget to capture."""

    bring: Callable[[Stage], QWidget]
    kept: str = ""  # theme in which it is part of assets/screenshots
    empty: bool = False  # before anything was generated


def take(
    themes: Mapping[str, Sequence[str]], folder: Path, output: Path, size: tuple[int, int], application: QApplication
) -> Iterator[Path]:
    """Capture the named scenes and yield the paths as they are written."""
    for empty in (True, False):
        wanted = [name for name, scene in SCENES.items() if name in themes and scene.empty == empty]
        if not wanted:
            continue
        place = folder / ("empty" if empty else "full")
        if not empty:
            fill(application, place)
            leave_trouble(place)
        stage = Stage(application, place, size, first_run=empty)
        try:
            for name in wanted:
                yield from stage.photograph(SCENES[name].bring(stage), name, themes[name], output)
                stage.close_others()
        finally:
            stage.end()


# ---- preparation


def fill(application: QApplication, folder: Path) -> None:
    """Generate the gallery's images once per folder, rate them, and spread them over some days."""
    done = folder / "made"
    if done.exists():
        return
    stage = Stage(application, folder, (1280, 840), first_run=False)
    for number, (prompt, model, _) in enumerate(reversed(MADE)):
        stage.make(prompt, model=model, seed=100 + number)
    stage.until_saved(len(MADE))
    found: list[GalleryPage] = []
    stage.wait("the gallery", lambda: _all_in_gallery(stage, found))
    told: list[object] = []
    for item in found[-1].items:
        stars = next((stars for prompt, _, stars in MADE if prompt == item.prompt), 0)
        stage.program.librarian.ask("gallery.rate", Rating(paths=(item.path,), rating=stars), then=told.append)
    stage.wait("the stars", lambda: len(told) == len(found[-1].items))
    stage.end()
    for number, item in enumerate(found[-1].items):
        days = 0 if number < _OF_TODAY else 1 if number < _OF_YESTERDAY else 4
        when = time.time() - days * DAY - 300 * (number + 1)
        os.utime(item.path, (when, when))
    done.write_text("\n".join(Path(item.path).name for item in found[-1].items), "utf-8")


def _all_in_gallery(stage: Stage, found: list[GalleryPage]) -> bool:
    if found and len(found[-1].items) >= len(MADE):
        return True
    QTest.qWait(200)
    stage.program.librarian.ask("gallery.query", GalleryQuery(), answer=GalleryPage, then=found.append)
    return False


def leave_trouble(folder: Path) -> None:
    """Leave only finished entries and one that crashed the engine twice in the queue, and delete later images."""
    use_folders(folder)
    first = set((folder / "made").read_text("utf-8").splitlines())
    for path in (folder / "Images").rglob("*.png"):
        if path.name not in first:
            path.unlink()
    with JobStore.open().store as store:
        store.remove([row.id for row in store.rows() if row.state != "done"])
        store.resume()
        stage = ImageStage(model=ModelRef(id="starter-dit"), width=2048, height=2048)
        store.add([GenerateRequest(prompt="an endless forest", cascade=Cascade(stages=(stage,)))], front=True)
        while (task := store.claim("screenshots")) is not None:
            store.on_engine_death(task.id, because="The engine ran out of memory: needed 7.9 GB, 6.0 GB were free")


# ---- first run and empty pages


def _first_run(stage: Stage) -> QWidget:
    return stage.window


def _empty_page(number: int) -> Callable[[Stage], QWidget]:
    return lambda stage: stage.page(number)


# ---- pages


def _create(stage: Stage) -> QWidget:
    stage.page(CREATE)
    before = stage.saved
    stage.make(PROMPT, count=4, seed=3)
    stage.until_saved(before + 4)
    stage.wait("the image", lambda: stage.window.create_page.result.view.has_image())
    stage.program.create.chosen.change(count=1)
    _open_sections(stage)
    return stage.window


def _create_settings(stage: Stage) -> QWidget:
    stage.page(CREATE)
    create = stage.program.create
    create.prompts.set_prompt(PROMPT)
    create.chosen.change(sampler="dpmpp_2m", refiner="starter-xl-refiner", second_pass=True)
    _show_section(stage, "sampling", "cascade")
    return stage.window


def _create_speed(stage: Stage) -> QWidget:
    stage.page(CREATE)
    stage.program.create.chosen.change(sparse_attention=("pooled", 0.5), step_cache=0.1)
    _show_section(stage, "speed")
    return stage.window


def _create_control(stage: Stage) -> QWidget:
    stage.page(CREATE)
    stage.program.create.chosen.set_model("starter-xl")
    controls = stage.window.create_page.sections.controls
    controls.add(["/pictures/house-edges.png"])
    controls.use_model(0, "/models/controlnet/canny-sdxl.safetensors")
    stage.program.create.chosen.change(count=1)
    _show_section(stage, "control")
    return stage.window


def _edit(stage: Stage) -> QWidget:
    stage.page(CREATE)
    create, before = stage.program.create, stage.saved
    create.edit_image(_first_path(stage))
    create.chosen.change(count=1, second_pass=False)
    create.prompts.set_prompt("make it night")
    _open_sections(stage, "references")
    create.generate()
    stage.until_saved(before + 1)
    stage.wait("the image", lambda: stage.window.create_page.result.view.has_image())
    QTest.qWait(100)
    return stage.window


def _show_section(stage: Stage, *names: str) -> None:
    """Open these sections, and scroll to the first."""
    _open_sections(stage, *names)
    QTest.qWait(100)
    scroll = stage.window.create_page.findChild(QScrollArea)
    section = stage.window.create_page.sections.sections()[names[0]]
    scroll.verticalScrollBar().setValue(section.mapTo(scroll.widget(), QPoint(0, 0)).y() - 12)


def _open_sections(stage: Stage, *names: str) -> None:
    for name, section in stage.window.create_page.sections.sections().items():
        section.set_open(name in names)


def _working(stage: Stage) -> QWidget:
    _begin_long_work(stage)
    stage.page(CREATE)
    _open_sections(stage)
    stage.program.create.prompts.set_prompt(PROMPT)
    return stage.window


def _queue(stage: Stage) -> QWidget:
    _begin_long_work(stage)
    stage.page(QUEUE)
    return stage.window


def _begin_long_work(stage: Stage) -> None:
    program = stage.program
    if program.runner.task() is not None:
        return
    elsewhere = ImageStage(model=ModelRef(id="sdxl-base-1.0"))
    request = GenerateRequest(prompt="a portrait of a sailor", count=2, cascade=Cascade(stages=(elsewhere,)))
    failed: list[object] = []
    program.runner.ended.connect(lambda task, *_: failed.append(task))
    program.access.change(lambda store: store.add([request], front=True))
    stage.wait("what cannot be made", lambda: failed)
    stage.make(PROMPT, count=2, steps=_LONG)
    for prompt, count in _WAITING:
        stage.make(prompt, count=count)
    stage.wait("a third of an image", lambda: stage.steps > _LONG // 3)


def _gallery(stage: Stage) -> QWidget:
    stage.page(GALLERY)
    stage.wait("the gallery", lambda: stage.program.gallery.model.rowCount() >= len(MADE))
    stage.window.gallery_page.grid.setFocus()
    _wait_for_thumbnails(stage, stage.window.gallery_page.grid)
    return stage.window


def _wait_for_thumbnails(stage: Stage, grid: GridView) -> None:
    model = grid.model()

    def are_there() -> bool:
        return all(model.index(row, 0).data(ThumbnailRole) is not None for row in grid.rows_in_sight())

    QTest.qWait(100)
    stage.wait("the small images", are_there)


def _batch(stage: Stage) -> QWidget:
    """One batch that is running, and one that is waiting."""
    _fill_batch(stage)
    batches = stage.program.batches
    if not batches.all():
        stage.program.batch.begin()
        stage.wait("a batch", lambda: batches.all())
        stage.program.batch.change(title="Boats in the snow", output="~/Pictures/Boats in the snow")
        stage.program.batch.begin()
        stage.wait("another", lambda: len(batches.all()) == _BATCHES)
        stage.program.batch.change(title="", output="~/Pictures/Night and dawn")
    first = batches.all()[-1].known.id
    stage.wait("a part of it", lambda: (now := batches.get(first)) and now.progress and now.progress.done >= _MADE)
    stage.window.batch_page.tabs.setCurrentIndex(0)
    return stage.window


def _batch_look(stage: Stage) -> QWidget:
    _fill_batch(stage)
    stage.program.batch.start_dry_run()
    stage.wait("the look", lambda: stage.program.batch.dry_run.totals())
    stage.window.batch_page.tabs.setCurrentIndex(1)
    return stage.window


def _fill_batch(stage: Stage) -> None:
    stage.page(BATCH)
    given = Path.home() / "Pictures" / "Holiday"
    if not given.exists():
        given.mkdir(parents=True)
        for number, path in enumerate(sorted(_SAMPLES.glob("*.png")) * _COPIES):
            (given / f"IMG_{2041 + number}.png").write_bytes(path.read_bytes())
    stage.program.create.chosen.set_model("starter-dit")
    batch = stage.program.batch
    batch.change(
        source="folder",
        folder="~/Pictures/Holiday",
        prompts="at night, snow\nat dawn, fog",
        strength=0.6,
        output="~/Pictures/Night and dawn",
        matrix=(MatrixRow(setting="seed", values="1, 2, 3"),),
    )
    batch.take_settings()


def _train(stage: Stage) -> QWidget:
    """A training of which a few epochs are done."""
    page, train = _use_sample(stage), stage.program.train
    train.change(steps=60, regularization=8, validation=0.2, epochs=3, prompts="a zibble\na zibble at night")
    if not train.runs.all():
        stage.wait("the check", lambda: train.can_start() and not train.checks.is_checking())
        page.begin()
        stage.wait("the end", lambda: train.runs.all() and train.runs.all()[0].lora)
    page.tabs.setCurrentIndex(TRAININGS)
    return stage.window


def _use_sample(stage: Stage) -> TrainPage:
    """A copy of the bundled images, in the home folder."""
    copy = Path.home() / "Pictures" / "Zibbles"
    if not copy.exists():
        shutil.copytree(assets_folder() / "samples" / "train" / "zibble", copy)
    stage.program.train.change(folder="~/Pictures/Zibbles", trigger="zibble", word="castle", model="starter-dit")
    return stage.page(TRAIN).train_page


def _train_images(stage: Stage) -> QWidget:
    page = _use_sample(stage)
    stage.wait("the check", lambda: stage.program.train.checks.found())
    page.tabs.setCurrentIndex(DATASET)
    return stage.window


def _models(stage: Stage) -> QWidget:
    stage.page(MODELS)
    for model in stage.program.library.models:
        stage.wait("the plans", lambda model=model: stage.program.library.memory_plan(model.id) is not None)
    return stage.window


# ---- dialogs


def _settings(stage: Stage) -> QWidget:
    stage.window.dialogs.settings()
    return stage.opened(SettingsDialog)


def _settings_machine(stage: Stage) -> QWidget:
    stage.window.dialogs.settings()
    dialog = stage.opened(SettingsDialog)
    dialog.tabs.setCurrentIndex(2)
    return dialog


def _first_path(stage: Stage) -> str:
    model = stage.program.gallery.model
    stage.page(GALLERY)
    stage.wait("the gallery", lambda: model.peek(0) is not None)
    item = model.peek(0)
    return item.path if item is not None else ""


def _canvas(stage: Stage) -> QWidget:
    """An image with a mask on its edge, and a frame that reaches beyond it."""
    path, canvas = _first_path(stage), stage.program.canvas
    window = stage.page(CANVAS)
    canvas.clear()
    canvas.add_image(path)
    stage.wait("the image", lambda: len(canvas.document.layers()) == 2)
    canvas.new_layer("mask")
    where = canvas.document.content()
    canvas.document.set_frame(where.translated(where.width() // 2, 0))
    canvas.tools.set_brush(size=where.height() / 5)
    for number, (across, down) in enumerate(_STROKE):
        at = QPointF(where.width() * across, where.height() * down)
        canvas.tools.move(at) if number else canvas.tools.press(at)
    canvas.tools.release()
    window.canvas_page.canvas.fit()
    return window


def _differences(stage: Stage) -> QWidget:
    path = _first_path(stage)
    stage.program.images.clear()
    stage.program.create.prompts.set_prompt(PROMPT)
    stage.program.create.chosen.change(steps=30, sampler="dpmpp_2m")
    stage.window.dialogs.settings_of_image(path)
    return stage.opened(DifferencesDialog)


def _viewer(stage: Stage) -> QWidget:
    model = stage.program.gallery.model
    _first_path(stage)
    stage.window.dialogs.view([item.path for row in range(6) if (item := model.peek(row)) is not None], 1)
    viewer = stage.opened(Viewer)
    viewer.showNormal()
    viewer.resize(stage.window.size())
    QTest.keyClick(viewer, Qt.Key.Key_I)
    return viewer


def _get(stage: Stage) -> QWidget:
    stage.window.dialogs.get_model()
    dialog = stage.opened(GetModelDialog)
    stage.wait("the models that are known", lambda: dialog.list.count())
    return dialog


def _dialog(kind: type[QWidget], open_it: Callable[[Stage], object]) -> Callable[[Stage], QWidget]:
    def bring(stage: Stage) -> QWidget:
        open_it(stage)
        return stage.opened(kind)

    return bring


def _styles(stage: Stage) -> QWidget:
    stage.page(CREATE)
    create = stage.program.create
    stage.wait("the styles", create.styles.all)
    for style in create.styles.all()[8:10]:
        create.styles.use(style, create.request(styled=False))
    stage.window.dialogs.styles()
    dialog = stage.opened(StylesDialog)
    dialog.select("Watercolour")
    return dialog


def _create_styles(stage: Stage) -> QWidget:
    _styles(stage)
    stage.program.create.prompts.set_prompt(PROMPT)
    return stage.page(CREATE)


SCENES = {
    "first-run": Scene(bring=_first_run, empty=True),
    "first-run-engine": Scene(bring=engine_setup.first_run, empty=True),
    "settings-engine": Scene(bring=engine_setup.settings, empty=True),
    "create-empty": Scene(bring=_empty_page(CREATE), empty=True),
    "queue-empty": Scene(bring=_empty_page(QUEUE), empty=True),
    "gallery-empty": Scene(bring=_empty_page(GALLERY), empty=True),
    "create": Scene(bring=_create, kept="dark"),
    "create-settings": Scene(bring=_create_settings),
    "create-speed": Scene(bring=_create_speed),
    "create-control": Scene(bring=_create_control, empty=True),
    "create-styles": Scene(bring=_create_styles, empty=True),
    "styles": Scene(bring=_styles, empty=True),
    "save-style": Scene(bring=_dialog(SaveStyleDialog, lambda stage: stage.window.dialogs.save_style()), empty=True),
    "edit": Scene(bring=_edit),
    "gallery": Scene(bring=_gallery, kept="light"),
    "models": Scene(bring=_models, kept="light"),
    "batch-look": Scene(bring=_batch_look, empty=True),
    "batch": Scene(bring=_batch, kept="light", empty=True),
    "train-images": Scene(bring=_train_images, empty=True),
    "train": Scene(bring=_train, kept="light", empty=True),
    "settings": Scene(bring=_settings),
    "settings-machine": Scene(bring=_settings_machine),
    "canvas": Scene(bring=_canvas),
    "differences": Scene(bring=_differences),
    "viewer": Scene(bring=_viewer),
    "get": Scene(bring=_get),
    "quantize": Scene(bring=_dialog(QuantizeDialog, lambda stage: stage.window.dialogs.quantize("starter-xl"))),
    "places": Scene(bring=_dialog(ModelFoldersDialog, lambda stage: stage.window.dialogs.places())),
    "keys": Scene(bring=_dialog(ShortcutsDialog, lambda stage: stage.window.dialogs.keys())),
    "log": Scene(bring=_dialog(LogDialog, lambda stage: stage.window.dialogs.log())),
    "queue": Scene(bring=_queue, kept="dark"),
    "create-working": Scene(bring=_working, kept="dark"),
    "leaving": Scene(bring=_dialog(QuitDialog, lambda stage: stage.window.dialogs.leave(lambda: None))),
}
