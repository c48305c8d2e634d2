"""Every window, page and dialog with content, without subprocesses; external data is hostile."""

from dataclasses import replace
from datetime import datetime
from functools import partialmethod

from answering import Answering
from batch_shown import failures, fill_form, fill_list, fill_look
from canvas_shown import fill_canvas
from fake_engine import model_info
from made_plans import plan
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget
from queue_shown import fill_queue
from settled import settle, until
from setup_windows import first_run_without_engine, settings_engine
from train_made import check, epoch, image, problem, request, run_info
from train_made import plan as training_plan

from mezzotint.library_protocol import (
    Board,
    Dropped,
    GalleryItem,
    GalleryPage,
    GalleryScanned,
    GalleryTags,
    KnownModel,
    ModelCard,
    ModelPlace,
    Offer,
    QuantizeRequest,
    Style,
    Styles,
    TokenCount,
)  # fmt: skip
from mezzotint.protocol import HubModel, ImageMetadata, ModelDefaults, ModelPart, Progress
from mezzotint.values.regions import RegionRef
from mezzotint_app.processes.service import Failure
from mezzotint_app.viewmodel.create.controls import ControlChoice
from mezzotint_app.viewmodel.create.state import LoraChoice, Result
from mezzotint_app.viewmodel.pixels import LoadedImage
from mezzotint_app.widgets.collapsible_section import CollapsibleSection
from mezzotint_app.widgets.confirm import confirm
from mezzotint_app.windows.main_window import BATCH, CREATE, FIRST_RUN, GALLERY, MODELS, QUEUE, TRAIN, MainWindow
from mezzotint_app.windows.models.get_model_dialog import GetModelDialog
from mezzotint_app.windows.quit_dialog import QuitDialog
from mezzotint_app.windows.train.page import DATASET, TRAININGS

HOSTILE = "<b>bold</b> <img src='x'> & more"  # displayed in bold if a label parses it as markup
NOON = datetime(2026, 11, 21, 12).timestamp()
MODELS_HERE = (
    model_info(
        id="base", family="sdxl", variant="base", source="bundled",
        defaults=ModelDefaults(width=1024, height=1024, steps=30, guidance_scale=5.0),
        parts=(ModelPart(name="unet", bytes=5 << 30, layers={"float16": 100}),),
    ),
    model_info(id="refiner", family="sdxl", variant="refiner"),
    model_info(id=f"broken {HOSTILE}", family="", variant="", problem=HOSTILE),
)  # fmt: skip
KNOWN = KnownModel(
    id="a/b", title=HOSTILE, good_at=HOSTILE, licence="Apache-2.0", licence_url="https://example.org", family="sdxl",
    bytes=7 << 30, smallest_vram_bytes=3 << 30, gated=True, runs=True,
)  # fmt: skip
OFFER = Offer(
    source="a/b", revision="abc", title=HOSTILE, licence=HOSTILE, files=("a.safetensors", HOSTILE), bytes=7 << 30,
    bytes_left=2 << 30, free_bytes=90 << 30, target=HOSTILE, problem=None,
)  # fmt: skip
FOUND = HubModel(id=HOSTILE, family="", runs=None, licence=HOSTILE, downloads=9, bytes=7 << 30, gated=True)
STYLE = Style(name=HOSTILE, prompt=HOSTILE, negative=HOSTILE, settings={"steps": 7, "model": HOSTILE})
CARD = ModelCard(
    path=f"/loras/{HOSTILE}", name=HOSTILE, title=HOSTILE, base=HOSTILE, tags=(HOSTILE,), trigger_words=(HOSTILE,),
    description=HOSTILE, notes=HOSTILE, problem=HOSTILE,
)  # fmt: skip
CHECK = check(image(0), image(1, HOSTILE), problems=(problem(0, HOSTILE), problem(path="/photos", message=HOSTILE)))
RUN = run_info(
    epochs=(epoch(1, validation=0.2), epoch(2, validation=0.3)), request=request("castle", prompts=(HOSTILE,))
)
SAID = ImageMetadata(
    program="a1111", prompt=HOSTILE, negative_prompt=HOSTILE, width=512, height=768, seed=9, steps=20, sampler="euler",
    schedule="karras", guidance_scale=7.0, strength=None, model=HOSTILE, model_hash=None, request=None, other={},
)  # fmt: skip


def librarian():
    """A library service with models, images and their metadata."""
    return Answering(
        {
            "models": MODELS_HERE,
            "places": (
                ModelPlace(path="/models", source="models", own=False),
                ModelPlace(path=HOSTILE, source="folder", own=True, problem=HOSTILE),
            ),
            "notices": (HOSTILE,),
            "inspect": lambda ref: next(one for one in MODELS_HERE if one.id == ref.id),
            "tokens": tuple(
                TokenCount(encoder=name, tokens=90, limit=75, chunks=2, cut=0, honours_weights=True)
                for name in ("text_encoder", "text_encoder_2")
            ),
            "metadata": SAID,
            "gallery.query": lambda query: GalleryPage(
                total=30, items=tuple(map(_item, range(30)))[query.offset : query.offset + query.limit]
            ),
            "gallery.models": ("base", HOSTILE),
            "gallery.boards": GalleryTags(boards=(Board(name=HOSTILE, search=None, count=3),), tags=(HOSTILE,)),
            "gallery.scan": GalleryScanned(added=0, removed=0, total=30, unreadable=1),
            "known_models": (KNOWN,),
            "offer": OFFER,
            "batch_tasks": failures(HOSTILE),
            "styles": Styles(styles=(STYLE,), problems=(HOSTILE,)),
            "style_of": STYLE,
            "loras": (CARD,),
            "cards": lambda asked: tuple(replace(CARD, path=path) for path in asked["paths"]),
            "training_check": CHECK,
            "training_runs": (RUN,),
        }
    )


def engine():
    """An engine that only plans."""
    training = training_plan(checkpointing="blocks", optimizer="adamw-8bit", quantization="int4", vae_tile=512)
    return Answering({"plan": plan(reasons=(HOSTILE,)), "training_plan": training})


def _item(number):
    return GalleryItem(
        id=number,
        path=f"/images/{number} {HOSTILE}.png".replace("/b", "b"),
        width=512,
        height=768,
        bytes=1_700_000,
        made=NOON - 7200 * number,
        prompt=HOSTILE,
        model="base",
        seed=number,
        rating=number % 6,
    )


def pixels(width=200, height=150):
    """Return an image of one colour."""
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(QColor("#446688"))
    return image


class Windows:
    """Opens them one at a time; closing the program is left to its creator."""

    def __init__(self, program):
        self.program = program
        self._viewer = self._compared = None
        program.settings.change(first_run_done=True)
        self.main = MainWindow(program)
        self.main.resize(1024, 680)
        self.main.show()
        program.library.refresh()
        settle()

    # ---- pages

    def _page(self, number):
        self.main.show_page(number)
        settle()
        return self.main

    def create(self):
        """With everything expanded and filled in."""
        window, create = self._page(CREATE), self.program.create
        create.prompts.set_prompt(f"a house {HOSTILE}")
        create.prompts.set_negative_prompt("blurry")
        create.chosen.change(
            loras=(LoraChoice(path=f"/loras/{HOSTILE}.safetensors"),), embeddings=("/words/hare.pt",),
            refiner="refiner", second_pass=True, steps=12, vae_tile=512, sampler="heun",
            controls=(ControlChoice(image=f"/images/{HOSTILE}", model=f"/nets/{HOSTILE}.safetensors"),),
            regions=(RegionRef(box=(0.1, 0, 0.5, 1), prompt=HOSTILE),),
        )  # fmt: skip
        self.program.images.set_image(f"/images/{HOSTILE}")
        self.program.images._loaded(LoadedImage(image=pixels(), width=400, height=300))
        for section in window.create_page.sections.sections().values():
            section.set_open(True)
        result = window.create_page.result
        result.view.show_image(pixels())
        result.strip.show_results([Result(path=f"/p/{HOSTILE}", seed=3, width=64, height=64)] * 2)
        window.create_page.footer.repeats.show_text(HOSTILE)
        window.show_notice(HOSTILE)
        window.line.show_message(HOSTILE)
        window.engine_notice.trouble.show_text(HOSTILE)
        window.engine_notice.offer.show_text(HOSTILE)
        window.engine_notice.show()
        settle()
        return window

    def create_at_first(self):
        """Before anything was done."""
        return self._page(CREATE)

    def queue(self):
        """Entries in every state, and an open question."""
        made = []
        self.program.access.change(lambda store: fill_queue(store, HOSTILE), made.append)
        until(lambda: made)
        window = self._page(QUEUE)
        page = window.queue_page
        until(lambda: self.program.queue.model.rowCount() >= len(made[0]))
        until(lambda: page.details._form.isVisible())
        for bar in (page.interrupted, page.elsewhere, page.problem):
            bar.show_text(HOSTILE)
        settle()
        return window

    def queue_at_first(self):
        """The empty queue."""
        return self._page(QUEUE)

    def gallery(self):
        """Images, one of them in detail."""
        self.program.gallery.begin()
        window = self._page(GALLERY)
        until(lambda: self.program.gallery.model.peek(0) is not None)
        window.gallery_page.problem.show_text(HOSTILE)
        window.gallery_page.trashed.show_text(HOSTILE)
        window.gallery_page.bar.boards.setChecked(True)
        until(lambda: self.program.gallery.details.metadata() is not None)
        settle()
        return window

    def gallery_at_first(self):
        """Before the first image."""
        self.program.librarian.answers["gallery.query"] = GalleryPage(total=0, items=())
        return self._page(GALLERY)

    def models(self):
        """With a job of each kind, one of them failed."""
        window, library = self._page(MODELS), self.program.library
        until(lambda: library.models)
        calls = [library.quantize(QuantizeRequest(model="base", scheme="int8")), library.verify("base")]
        settle()
        call = library._begin("get", "get", None, HOSTILE, None)
        library._advanced(call, Progress(what=HOSTILE, done=5, total=9, unit="bytes"))
        assert len(calls) == 2
        return window

    def loras(self):
        """One of them described, with its picture missing."""
        self.main.models_page.tabs.setCurrentIndex(1)
        until(lambda: self.program.cards.loras_known)
        return self._page(MODELS)

    def batch(self):
        """A batch in each state, failures of one, and everything in the form expanded."""
        window, page = self._page(BATCH), self.main.batch_page
        fill_form(self.program.batch, HOSTILE)
        fill_list(self.program, HOSTILE)
        for section in page.findChildren(CollapsibleSection):
            section.set_open(True)
        page.list.card("rests").failed.click()
        until(lambda: page.list.card("rests").list.model().rowCount() == 3)
        settle()
        return window

    def batch_look(self):
        """The dry run, with prompts as the source."""
        window = self._page(BATCH)
        self.program.batch.change(source="words", prompts="a house")
        fill_look(self.program.batch, HOSTILE)
        window.batch_page.tabs.setCurrentIndex(1)
        settle()
        return window

    def batch_at_first(self):
        """With nothing filled in."""
        return self._page(BATCH)

    def train(self):
        """Images with problems, and everything in the form expanded."""
        window, page = self._page(TRAIN), self.main.train_page
        self.program.train.change(folder=f"/photos/{HOSTILE}", trigger=HOSTILE, name=f"a/{HOSTILE}", prompts=HOSTILE)
        until(lambda: self.program.train.checks.found() is not None)
        page.tabs.setCurrentIndex(DATASET)
        for section in page.findChildren(CollapsibleSection):
            section.set_open(True)
        settle()
        return window

    def train_runs(self):
        """A run with epochs and samples, which has failed."""
        window, runs = self._page(TRAIN), self.program.train.runs
        until(lambda: len(runs.all()) == 1)
        runs._failures[runs.all()[0].folder] = Failure(kind="out_of_memory", message=HOSTILE)
        window.train_page.tabs.setCurrentIndex(TRAININGS)
        window.train_page.show_model()
        settle()
        return window

    def train_at_first(self):
        """With nothing chosen, and no runs."""
        self.program.librarian.answers["training_runs"] = ()
        return self._page(TRAIN)

    def canvas(self):
        """Layers with hostile names, and a candidate."""
        fill_canvas(self.program.canvas, HOSTILE)
        return self._page(self.main.pages.indexOf(self.main.canvas_page))

    def first_run(self):
        """The welcome page."""
        self.main.rail.setVisible(False)
        return self._page(FIRST_RUN)

    # ---- dialogs

    def _dialog(self, name):
        settle()
        return self.main.dialogs._open[name]

    def _settings(self, tab):
        self.main.dialogs.settings()
        dialog = self._dialog("settings")
        dialog.tabs.setCurrentIndex(tab)
        settle()
        return dialog

    settings_images = partialmethod(_settings, 0)
    settings_window = partialmethod(_settings, 1)
    settings_machine = partialmethod(_settings, 2)
    settings_privacy = partialmethod(_settings, 3)
    settings_prompts = partialmethod(_settings, 4)
    settings_engine = partialmethod(settings_engine, HOSTILE)
    first_run_without_engine = partialmethod(first_run_without_engine, HOSTILE)

    def grid(self):
        """Settings that vary."""
        self.program.create.prompts.set_prompt(HOSTILE)
        self.main.dialogs.grid()
        return self._dialog("grid")

    def history(self):
        """Earlier prompts."""
        self.program.create.prompts.set_prompt(f"a house {HOSTILE}")
        self.program.create.prompts.remember()
        dialog = self.main.create_page.prompts.open_history()
        settle()
        return dialog

    def wildcards(self):
        """A wildcard with an unsaved change."""
        model = self.program.create.prompts.wildcards
        dialog = self.main.create_page.prompts.open_wildcards()
        model._names, model._texts = (HOSTILE,), {HOSTILE: HOSTILE}
        model.choose(HOSTILE)
        model.edit(f"{HOSTILE} more")
        model._examples, model._problem = (HOSTILE,), HOSTILE
        model.changed.emit()
        settle()
        return dialog

    def hub(self):
        """Models found online."""
        dialog = self.get_model()
        dialog._hub.words, dialog._hub.found = HOSTILE, (FOUND,)
        dialog.source.setText(HOSTILE)
        dialog._hub.changed.emit()
        settle()
        return dialog

    def keys(self):
        """All shortcuts."""
        self.main.dialogs.keys()
        return self._dialog("keys")

    def log(self):
        """The engine's log."""
        self.main.dialogs.log()
        dialog = self._dialog("log")
        dialog.add(HOSTILE)
        return dialog

    def batch_log(self):
        """A batch's log."""
        self.main.dialogs.batch_log(HOSTILE, (HOSTILE, "and more"))
        return self._dialog("batch-log")

    def leaving_batch(self):
        """With a batch that runs."""
        dialog = QuitDialog(self.main, batch=True, queue=False)
        dialog.show()
        settle()
        return dialog

    def places(self):
        """Model folders."""
        self.main.dialogs.places()
        return self._dialog("places")

    def get_model(self):
        """With an offer."""
        self.main.dialogs.get_model()
        dialog = self._dialog("get")
        assert isinstance(dialog, GetModelDialog)
        until(lambda: dialog.list.count())
        dialog.look_button.click()
        settle()
        return dialog

    def quantize(self):
        """Making a quantized copy."""
        self.main.dialogs.quantize("base")
        return self._dialog("quantize")

    def leaving(self):
        """Quitting with work left."""
        self.main.dialogs.leave(lambda: None)
        return self._dialog("leaving")

    def styles(self):
        """Styles to choose from, one of them in use."""
        self.main.dialogs.styles()
        dialog = self._dialog("styles")
        self.program.create.styles.use(STYLE, self.program.create.request(styled=False))
        settle()
        return dialog

    def save_style(self):
        """Naming a style, after the name was taken."""
        self.main.dialogs.save_style()
        self._dialog("save-style")._failed(HOSTILE)
        return self._dialog("save-style")

    def lora_dialog(self):
        """The LoRAs beside the window."""
        self.main.dialogs.loras()
        return self._dialog("loras")

    def differences(self):
        """For an image of unknown origin."""
        self.main.dialogs.settings_of_image("/images/a.png")
        dialog = self._dialog("differences")
        until(lambda: dialog._model.metadata() is not None)
        settle()
        return dialog

    def viewer(self):
        """With the image's metadata."""
        self.main.dialogs.view([f"/images/{HOSTILE}", "/images/b.png"], 0)
        viewer = self._viewer = self.main.dialogs._viewer
        viewer.info.show()
        return self._with_image(viewer, viewer.view)

    def compare(self):
        """Three images, two of which cannot be shown."""
        self.main.dialogs.compare([f"/images/{HOSTILE}", "/images/b.png", "/images/c.png"])
        window = self._compared = self.main.dialogs._comparing
        return self._with_image(window, window.images[0].view)

    def _with_image(self, window, view):
        window.showNormal()
        window.resize(1024, 680)
        view.show_image(pixels())
        settle()
        return window

    def question(self):
        """A confirmation question."""
        return confirm(self.main, "Title", HOSTILE, "Do it", lambda _: None, do_not_ask="Not again")

    def dropped(self):
        """A model was dropped on the window."""
        questions = self.main.dialogs.questions
        questions.ask_model(Dropped(path=f"/models/{HOSTILE}", kind="model", detail=HOSTILE))
        settle()
        box = questions.open_question()
        assert isinstance(box, QMessageBox)
        return box

    def close(self):
        """Close and delete all: remaining windows would be restyled at each change of theme."""
        for widget in QApplication.topLevelWidgets():
            if widget is not self.main and isinstance(widget, QWidget) and widget.isVisible():
                widget.close()
        self.main.leave()
        settle()
        for widget in (self.main, self._viewer, self._compared):
            if widget is not None:
                widget.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


NAMES = tuple(name for name in vars(Windows) if not name.startswith("_") and name != "close")
