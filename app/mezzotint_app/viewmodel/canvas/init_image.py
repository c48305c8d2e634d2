"""The init image of the Create page as a canvas: its mask, and the frame around the extended image."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QImage

from mezzotint_app.background import Executor
from mezzotint_app.processes.service import Failure
from mezzotint_app.viewmodel.canvas.generation import InpaintChoice
from mezzotint_app.viewmodel.canvas.layers import Layer
from mezzotint_app.viewmodel.canvas.opening import Layers
from mezzotint_app.viewmodel.canvas.tiles import tiles_of
from mezzotint_app.viewmodel.create.images.image_input import ImageInputModel
from mezzotint_app.viewmodel.pixels import PixelLoader

Opened = Callable[[Layers, QRect], None]
_SLOT = "canvas"


def read_init_image(
    images: ImageInputModel,
    pixels: PixelLoader,
    pool: Executor,
    opened: Opened,
    failed: Callable[[Exception], None],
    not_loaded: Callable[[Failure], None],
) -> None:
    """Pass the layers of the init image and its mask to `opened`, and the rectangle of the extended image."""
    name, mask, grown = Path(images.path()).stem[:200], images.mask(), images.outpaint_padding()

    def put(image: QImage, painted: QImage | None) -> None:
        size = image.size()
        frame = QRect(-grown.left, -grown.top, *grown.size(size.width(), size.height()))
        pool.run(lambda: _layers(name, image, painted), lambda layers: opened(layers, frame), failed)

    def with_mask(image: QImage) -> None:
        if mask is None:
            put(image, None)
        else:
            pixels.load(mask.path, None, lambda painted: put(image, painted), not_loaded, slot=_SLOT)

    pixels.load(images.path(), None, with_mask, not_loaded, slot=_SLOT)


def choice_of(images: ImageInputModel, before: InpaintChoice) -> InpaintChoice:
    """Return the inpainting settings of the init image; the ControlNet stays."""
    found, strength = images.inpaint(), images.strength()
    chosen = None if strength == images.suggested_strength() else strength
    if found is None:
        return replace(before, strength=chosen, fill=None)
    return replace(
        before, strength=chosen, fill=found.fill, feather=found.feather, area=found.area, padding=found.padding
    )


def _layers(name: str, image: QImage, mask: QImage | None) -> Layers:
    """An image layer, and a mask layer above it to paint on."""
    painted = {} if mask is None else tiles_of(_as_alpha(mask, image.size()))
    return [
        (Layer(id=0, kind="image", name=name), tiles_of(image)),
        (Layer(id=0, kind="mask", name=""), painted),
    ]


def _as_alpha(mask: QImage, size: QSize) -> QImage:
    """White that is opaque where a mask is white."""
    white = QImage(size, QImage.Format.Format_ARGB32_Premultiplied)
    white.fill(Qt.GlobalColor.white)
    scaled = mask.scaled(size, Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation)
    white.setAlphaChannel(scaled.convertToFormat(QImage.Format.Format_Grayscale8))
    return white
