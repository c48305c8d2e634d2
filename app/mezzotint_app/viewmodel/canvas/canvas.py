"""Everything of the Canvas page without widgets: document, tools, generation, candidates and files."""

import os
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QObject, QPoint, QRect, QSize, Signal
from PySide6.QtGui import QColor, QImage

from mezzotint.atomic import atomic_write
from mezzotint.errors import ImageRefused
from mezzotint_app.background import Executor
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.viewmodel.canvas import open_raster
from mezzotint_app.viewmodel.canvas.candidates import Candidates, Saves
from mezzotint_app.viewmodel.canvas.document import CanvasDocument
from mezzotint_app.viewmodel.canvas.frame import around
from mezzotint_app.viewmodel.canvas.generation import CanvasGeneration
from mezzotint_app.viewmodel.canvas.init_image import choice_of, read_init_image
from mezzotint_app.viewmodel.canvas.layers import PICTURE, Layer, LayerKind
from mezzotint_app.viewmodel.canvas.opening import Layers, OpenRasterOpener
from mezzotint_app.viewmodel.canvas.png import Shown, png_of
from mezzotint_app.viewmodel.canvas.tiles import Changed, TileStore, tiles_of
from mezzotint_app.viewmodel.canvas.tools import CanvasTools
from mezzotint_app.viewmodel.create.create import CreateModel
from mezzotint_app.viewmodel.pixels import LARGEST_AREA, PixelLoader
from mezzotint_app.viewmodel.queue.access import QueueAccess

translate = QCoreApplication.translate


class CanvasModel(QObject):
    """Connects the parts of the page; each can be used on its own."""

    message = Signal(str)
    shown = Signal(QRect)  # something new is there, and should be seen
    busy_changed = Signal()
    overlay_changed = Signal()

    def __init__(
        self,
        create: CreateModel,
        queue: QueueAccess,
        runner: Saves,
        librarian: Service,
        pool: Executor,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._pool, self._pixels = pool, PixelLoader(librarian, pool, self)
        self._busy = False
        self._saved_as_is = True  # whether everything has been written to a file
        self.document = CanvasDocument(self)
        self.tools = CanvasTools(self.document, self)
        self.generation = CanvasGeneration(self.document, create, queue, pool, self)
        self.opener = OpenRasterOpener(self._pixels, pool, self)
        self.candidates = Candidates(self.document, runner, self._pixels, self)
        self.generation.queued.connect(self.candidates.expect)
        self.generation.changed.connect(self._follow_model)
        self.document.changed.connect(self._changed)
        for part in (self.tools, self.generation, self.candidates):
            part.message.connect(self._tell)
        for signal in (create.preview.image_changed, create.preview.ended, self.candidates.changed):
            signal.connect(self.overlay_changed)
        self._follow_model()

    def is_busy(self) -> bool:
        """Whether a file is being read or written."""
        return self._busy

    def is_saved(self) -> bool:
        """Whether nothing would be lost if the canvas were emptied."""
        return self._saved_as_is or self.document.is_empty()

    def accept(self) -> None:
        """Put the current candidate on the canvas."""
        self.candidates.accept(self.tr("Result"))

    def overlay(self) -> tuple[QImage, QRect] | None:
        """Return what is displayed over the canvas, and where: the preview of what is made, or a candidate."""
        frame, preview = self.candidates.running_frame(), self.generation.create.preview
        if frame is not None and not preview.path() and not preview.image().isNull():
            return preview.image(), frame
        found = self.candidates.shown()
        return None if found is None else (found.image, found.frame)

    def new_layer(self, kind: LayerKind) -> None:
        """Add an empty layer; drawings for ControlNets are light on black, so the colour becomes white."""
        self._add_layer(kind, {})
        if kind == "control":
            self.tools.set_colour(QColor(255, 255, 255))

    def mask_selection(self) -> None:
        """Add a mask layer of what is selected."""
        selection = self.document.selection()
        if selection is not None:
            where = selection.boundingRect().toAlignedRect()
            tiles = TileStore().painted(where, lambda painter: painter.fillPath(selection, QColor(255, 255, 255)))
            self._add_layer("mask", tiles)

    def copy_layer(self) -> None:
        """Add a copy of the active layer above it."""
        layer = self.document.active()
        if layer is not None:
            fields = {"opacity": layer.opacity, "x": layer.x, "y": layer.y}
            self._add_layer(layer.kind, dict(self.document.store(layer.id).all()), name=layer.name, **fields)

    def _add_layer(self, kind: LayerKind, tiles: Changed, *, name: str = "", **fields: float) -> None:
        if not self.document.add_tiles(kind, name, tiles, **fields):
            self.message.emit(self.tr("The canvas has too many layers. Remove one first."))

    # ---- files

    def paste(self, image: QImage) -> None:
        """Add an image without a file as a layer, in the frame's corner."""
        frame = self.document.frame()
        self.document.add_layer("image", "", image, (frame.x(), frame.y()))

    def add_image(self, path: str) -> None:
        """Add an image as a layer, beside what is there."""

        def loaded(image: QImage) -> None:
            bounds = self.document.bounds()
            left = 0 if bounds.isEmpty() else bounds.right() + 65
            where = QRect(left, 0, image.width(), image.height())
            self._pool.run(lambda: tiles_of(image, left, 0), lambda tiles: add(tiles, where), self._failed)

        def add(tiles: Changed, where: QRect) -> None:
            self._set_busy(False)
            document, name, frame = self.document, Path(path).stem[:200], around(where, self.tools.step)
            if document.is_untouched():  # no empty layer is left below
                document.reset([(Layer(id=0, kind="image", name=name), tiles)], frame)
            else:
                was_empty = document.is_empty()
                document.add_tiles("image", name, tiles)
                document.set_frame(frame if was_empty else document.frame())
            self.shown.emit(where)

        self._set_busy(True)
        self._pixels.load(path, None, loaded, self._not_loaded, slot="canvas")

    def open_file(self, path: str) -> None:
        """Replace the canvas by an OpenRaster file, or add any other image as a layer."""
        if not path.lower().endswith(".ora"):
            self.add_image(path)
            return

        self._set_busy(True)
        self.opener.open(Path(path), self._show_opened, self._failed)

    def _show_opened(self, layers: Layers, frame: QRect | None) -> None:
        self._set_busy(False)
        self.candidates.clear()
        self.document.reset(layers, frame)
        self._saved_as_is = True
        self.show_everything()

    def show_everything(self) -> None:
        """Have all that is painted seen, and the frame."""
        self.shown.emit(self.document.content().united(self.document.frame()))

    def open_init_image(self) -> None:
        """Replace the canvas by the init image of the Create page, with its mask and inpainting settings."""
        images = self.generation.create.images
        choice = choice_of(images, self.generation.choice())

        def opened(layers: Layers, where: QRect) -> None:
            self._show_opened(layers, around(where, self.tools.step))
            self.generation.choose(choice)
            self.tools.set_tool("brush")

        self._set_busy(True)
        read_init_image(images, self._pixels, self._pool, opened, self._failed, self._not_loaded)

    def save_file(self, path: str) -> None:
        """Write an OpenRaster file with all layers, or a PNG of the picture; an existing file is replaced."""
        self.document.end_step()
        problem = self._why_not_saved(path)
        if problem:
            self.message.emit(problem)
            return
        layers, frame, was_saved = self.snapshot(), self.document.frame(), self._saved_as_is
        is_png = not path.lower().endswith(".ora")

        def write() -> None:
            seen = [(layer, store) for layer, store in layers if layer.visible and layer.kind in PICTURE]
            data = png_of(seen, _extent(seen)) if is_png else open_raster.written(layers, frame)
            atomic_write(Path(path), data, overwrite=True)

        def done(_none: None) -> None:
            self._set_busy(False)
            self.message.emit(self.tr("Saved: {name}").format(name=os.path.basename(path)))  # noqa: PTH119  of a text

        def failed(error: Exception) -> None:
            self._saved_as_is = self._saved_as_is and was_saved
            self._failed(error)

        self._set_busy(True)
        self._saved_as_is = was_saved or not is_png  # until it is changed
        self._pool.run(write, done, failed)

    def _why_not_saved(self, path: str) -> str:
        area, name = self.document.bounds(), os.path.basename(path)  # noqa: PTH119  of a text
        if not path.lower().endswith((".ora", ".png")):
            words = self.tr("{name} was not saved: end the name in .ora (all layers) or .png (the picture).")
            return words.format(name=name)
        if area.isEmpty():
            return self.tr("There is nothing on visible layers to save yet.")
        if area.width() * area.height() > LARGEST_AREA:
            size = f"{area.width()} × {area.height()}"
            return self.tr("A picture of {size} pixels cannot be saved.").format(size=size)
        return ""

    def clear(self) -> None:
        """Begin an empty canvas, which cannot be undone."""
        self.candidates.clear()
        self.document.reset(frame=self._first_frame())
        self._saved_as_is = True
        self.show_everything()

    # ---- inside

    def snapshot(self) -> list[Shown]:
        """Return the layers with copies of their stores, whose tiles never change: for other threads."""
        found = []
        for layer in self.document.layers():
            store = TileStore()
            store.put(dict(self.document.store(layer.id).all()))
            found.append((layer, store))
        return found

    def _changed(self, _where: QRect) -> None:
        self._saved_as_is = False

    def _follow_model(self) -> None:
        """Snap to the model's step; an untouched canvas has a frame of the model's size."""
        self.tools.step = self.generation.step()
        frame = self._first_frame()
        if self.document.is_untouched() and self.document.frame() != frame:
            self.document.reset(frame=frame)
            self.shown.emit(frame)

    def _first_frame(self) -> QRect:
        return QRect(QPoint(), QSize(*self.generation.create.chosen.size()))

    def _set_busy(self, busy: bool) -> None:
        self._busy = busy
        self.busy_changed.emit()

    def _not_loaded(self, failure: Failure) -> None:
        self._set_busy(False)
        self.message.emit(failure.message)

    def _failed(self, error: Exception) -> None:
        self._set_busy(False)
        self.message.emit(str(error))

    def _tell(self, text: str) -> None:
        if text:
            self.message.emit(text)


def _extent(seen: list[Shown]) -> QRect:
    found = open_raster.extent(seen)
    if found.isEmpty():
        raise ImageRefused(translate("Canvas", "There is no picture on the canvas yet"))
    return found


def kind_name(kind: LayerKind) -> str:
    """Return what a kind of layer is called."""
    return {
        "image": translate("Canvas", "Image"),
        "mask": translate("Canvas", "Mask"),
        "control": translate("Canvas", "Control"),
        "reference": translate("Canvas", "Reference"),
        "sketch": translate("Canvas", "Sketch"),
    }[kind]
