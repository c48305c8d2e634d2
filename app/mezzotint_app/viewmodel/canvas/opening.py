"""Opens OpenRaster files: unpacked and checked in a thread, their images decoded by the library service."""

import secrets
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QRect
from PySide6.QtGui import QImage

from mezzotint.errors import ImageRefused
from mezzotint_app.background import Executor, Failed
from mezzotint_app.processes.service import Failure
from mezzotint_app.viewmodel.canvas import open_raster
from mezzotint_app.viewmodel.canvas.layers import Layer
from mezzotint_app.viewmodel.canvas.tiles import Changed, tiles_of
from mezzotint_app.viewmodel.create.preview import LoadsPixels

Layers = list[tuple[Layer, Changed]]  # from bottom to top
Opened = Callable[[Layers, QRect | None], None]


class OpenRasterOpener(QObject):
    """Opens one file after another."""

    def __init__(self, pixels: LoadsPixels, pool: Executor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pixels, self._pool = pixels, pool

    def open(self, path: Path, then: Opened, failed: Failed) -> None:
        """Pass layers and frame of a file to `then`, or why it cannot be opened to `failed`."""
        folder = Path(tempfile.gettempdir()) / f"mezzotint-canvas-{secrets.token_hex(8)}"

        def unpacked(found: open_raster.Unpacked) -> None:
            self._load(list(found.layers), [], lambda layers: over(then, layers, found.frame), fail)

        def over(act: Callable[..., None], *words: object) -> None:
            self._pool.run(lambda: shutil.rmtree(folder, ignore_errors=True))
            act(*words)

        def fail(error: Exception) -> None:
            over(failed, error)

        self._pool.run(lambda: open_raster.unpack(path, folder), unpacked, fail)

    def _load(
        self, left: list[tuple[Layer, Path]], done: Layers, then: Callable[[Layers], None], failed: Failed
    ) -> None:
        if not left:
            then(done)
            return
        (layer, file), *others = left

        def loaded(image: QImage) -> None:
            self._pool.run(lambda: tiles_of(image), add, failed)

        def add(tiles: Changed) -> None:
            self._load(others, [*done, (layer, tiles)], then, failed)

        def not_loaded(failure: Failure) -> None:
            failed(ImageRefused(f"layer {layer.name or file.name}: {failure.message}"))

        self._pixels.load(str(file), None, loaded, not_loaded, slot="open raster")
