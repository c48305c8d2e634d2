"""The init image of a request: the file, its denoising strength, and its mask."""

import os
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage

from mezzotint.protocol import GenerateRequest, ImageInput, Inpaint, InpaintArea, InpaintFill
from mezzotint_app.background import Executor
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.viewmodel.create.images.outpaint_padding import OutpaintPadding, outpaint_padding_of
from mezzotint_app.viewmodel.create.images.own_images import OwnImage, keep, pasted_folder
from mezzotint_app.viewmodel.create.state import DEFAULT_STRENGTH
from mezzotint_app.viewmodel.pixels import LoadedImage, PixelLoader

STRENGTH_OF_NEW = 1.0  # default for filled areas, where nothing is to be kept
MAX_PADDING = 4096  # pixels, the engine's limit
MAX_FEATHER = 256
_SMALL = 512  # pixels of the displayed copy


@dataclass(frozen=True, slots=True, kw_only=True)
class Mask:
    """A mask on disk."""

    path: str
    sha256: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InpaintSettings:
    """Inpainting settings."""

    area: InpaintArea = "whole"
    padding: int = 32
    feather: int = 8
    fill: InpaintFill = "original"


class ImageInputModel(QObject):
    """State of the init image and mask."""

    changed = Signal()
    image_changed = Signal()  # the init image has changed, from whatever source
    message = Signal(str)  # error message
    size_wanted = Signal(int, int)  # the user requests images of this size

    def __init__(self, librarian: Service, pool: Executor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = pool
        self.loader = PixelLoader(librarian, pool, self)
        self._path = ""
        self._sha256: str | None = None
        self._image: LoadedImage | None = None
        self._problem = ""
        self._strength: float | None = None  # None: the suggested value
        self._mask: Mask | None = None
        self._inpaint_settings = InpaintSettings()
        self._outpaint_padding = OutpaintPadding()
        self._target: tuple[int, int] | None = None
        self._pastes = 0

    # ---- init image

    def set_image(self, path: str | os.PathLike[str], sha256: str | None = None) -> None:
        """Use this init image; an existing mask is discarded."""
        self._path, self._sha256 = os.fspath(path), sha256
        self._pastes += 1
        self._forget_shape()
        self._load()
        self.changed.emit()
        self.image_changed.emit()

    def clear(self) -> None:
        """Remove the init image, to start from noise."""
        self._path, self._sha256 = "", None
        self._pastes += 1
        self.loader.drop_all()
        self._forget_shape()
        self._image, self._problem = None, ""
        self.changed.emit()

    def paste(self, image: QImage) -> None:
        """Use an image without a file, by saving it in the state folder."""
        if image.isNull():
            self.message.emit(self.tr("There is no image on the clipboard."))
            return
        self._pastes += 1
        number = self._pastes

        def use(kept: OwnImage) -> None:
            if number == self._pastes:  # no other image was chosen meanwhile
                self.set_image(kept.path, kept.sha256)

        self._pool.run(lambda: keep(image, pasted_folder()), use, lambda error: self.message.emit(str(error)))

    def retry(self) -> None:
        """Retry an image that could not be read, because the library service is available again."""
        if self._path and self._problem:
            self._load()
            self.changed.emit()

    def path(self) -> str:
        """Return the image's path, or "" if there is none."""
        return self._path

    def image(self) -> LoadedImage | None:
        """Return a small copy and the original size; None if not loaded or absent."""
        return self._image

    def problem(self) -> str:
        """Return why the image cannot be used, or "" if no problem is known."""
        return self._problem

    def is_loading(self) -> bool:
        """Whether the image is still being loaded."""
        return bool(self._path) and self._image is None and not self._problem

    def _forget_shape(self) -> None:
        self._mask, self._outpaint_padding = None, OutpaintPadding()

    def _load(self) -> None:
        self._image, self._problem = None, ""
        self.loader.load_image(self._path, _SMALL, self._loaded, self._not_loaded)

    def _loaded(self, image: LoadedImage) -> None:
        self._image = image
        self.changed.emit()

    def _not_loaded(self, failure: Failure) -> None:
        self._problem = failure.message
        self.changed.emit()

    # ---- denoising strength

    def strength(self) -> float | None:
        """Return the denoising strength, or None without an image."""
        if not self._path:
            return None
        return self.suggested_strength() if self._strength is None else self._strength

    def suggested_strength(self) -> float:
        """Return the default strength, which is also the engine's."""
        is_new = bool(self._outpaint_padding) or (self._mask is not None and self._inpaint_settings.fill != "original")
        return STRENGTH_OF_NEW if is_new else DEFAULT_STRENGTH

    def set_strength(self, strength: float | None) -> None:
        """Set the denoising strength; None: the default."""
        chosen = None if strength is None else round(min(max(strength, 0.0), 1.0), 2)
        if chosen != self._strength:
            self._strength = chosen
            self.changed.emit()

    # ---- mask

    def mask(self) -> Mask | None:
        """Return the inpainting mask, or None if the whole image is generated."""
        return self._mask

    def inpaint_settings(self) -> InpaintSettings:
        """Return the inpainting settings."""
        return self._inpaint_settings

    def outpaint_padding(self) -> OutpaintPadding:
        """Return how far the image is extended."""
        return self._outpaint_padding

    def remove_mask(self) -> None:
        """Remove the mask and the extension of the image."""
        if self._mask is not None or self._outpaint_padding:
            self._forget_shape()
            self.changed.emit()

    # ---- sizes

    def extended_size(self) -> tuple[int, int] | None:
        """Return the size of the extended image, or None if unknown."""
        if self._image is None:
            return None
        return self._outpaint_padding.size(self._image.width, self._image.height)

    def decides_size(self) -> bool:
        """Whether width and height must be left unset: an extended image is processed at its own size."""
        return bool(self._outpaint_padding) and self._inpaint_settings.area == "whole"

    def keeps_size(self) -> bool:
        """Whether the result has the size of the extended image, whatever size is requested."""
        inpaints = self._mask is not None or bool(self._outpaint_padding)
        return self.decides_size() or (inpaints and self._inpaint_settings.area == "masked")

    def set_target(self, width: int | None, height: int | None) -> None:
        """Set the requested size; None: model default."""
        target = None if width is None or height is None else (width, height)
        if target != self._target:
            self._target = target
            self.changed.emit()

    def result_size(self) -> tuple[int, int] | None:
        """Return the size of the result, or None if unknown."""
        return self.extended_size() if self.keeps_size() else self._target

    def cropped(self) -> tuple[str, int] | None:
        """Return what the result crops: "sides" or "ends" (top and bottom) and percent of the image; None: nothing."""
        size, result = self.extended_size(), self.result_size()
        if size is None or result is None:
            return None
        across, down = result[0] / size[0], result[1] / size[1]
        left_out = 1 - min(across, down) / max(across, down)
        if left_out < 0.01:
            return None
        return ("sides" if across < down else "ends"), max(round(left_out * 100), 1)

    def request_image_size(self) -> None:
        """Request images of this image's size."""
        size = self.extended_size()
        if size is not None:
            self.size_wanted.emit(*size)

    # ---- request

    def inputs(self) -> tuple[ImageInput, ...]:
        """Return the images of a request."""
        if not self._path:
            return ()
        init = ImageInput(path=self._path, role="init", sha256=self._sha256)
        if self._mask is None:
            return (init,)
        return init, ImageInput(path=self._mask.path, role="mask", sha256=self._mask.sha256)

    def inpaint(self) -> Inpaint | None:
        """Return the inpainting settings of a request, or None without mask and extension."""
        if not self._path or (self._mask is None and not self._outpaint_padding):
            return None
        how, grown = self._inpaint_settings, self._outpaint_padding
        return Inpaint(
            area=how.area,
            padding=how.padding,
            feather=how.feather,
            fill=how.fill,
            left=grown.left,
            top=grown.top,
            right=grown.right,
            bottom=grown.bottom,
        )

    def apply(self, request: GenerateRequest) -> None:
        """Use the images of a request; without an init image, start from noise."""
        init = next((one for one in request.images if one.role == "init"), None)
        mask = next((one for one in request.images if one.role == "mask"), None)
        if init is None:
            self.clear()
            return
        how = request.inpaint
        self.set_image(init.path, init.sha256)
        self._strength = None if request.strength is None else min(max(request.strength, 0.0), 1.0)
        self._mask = None if mask is None else Mask(path=mask.path, sha256=mask.sha256)
        self._outpaint_padding = outpaint_padding_of(how)
        if how is not None:
            padding, feather = min(max(how.padding, 0), MAX_PADDING), min(max(how.feather, 0), MAX_FEATHER)
            self._inpaint_settings = InpaintSettings(area=how.area, padding=padding, feather=feather, fill=how.fill)
        self.changed.emit()

    def with_inputs(self, request: GenerateRequest) -> GenerateRequest:
        """Return the request with these images."""
        return replace(request, images=self.inputs(), inpaint=self.inpaint(), strength=self.strength())
