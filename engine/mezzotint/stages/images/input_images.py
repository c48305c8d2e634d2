"""The input images of a job, read and compared with their recorded hashes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from PIL import Image

from mezzotint.checkpoints.fingerprint import fingerprint
from mezzotint.errors import ImageRefused
from mezzotint.images.masks import read_mask
from mezzotint.images.reading import open_image, read_image
from mezzotint.protocol import FileUsed, ImageInput, InpaintUsed, IsCancelled
from mezzotint.stages.images.inpaint_canvas import InpaintCanvas
from mezzotint.stages.images.request_images import RequestImages, Size
from mezzotint.stages.setup import StageSetup

_WHAT = {
    "init": ("the image", "--init"),
    "mask": ("the mask", "--mask"),
    "reference": ("the reference image", "--reference"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class InputImages:
    """The images read; all empty for text-to-image."""

    init: Image.Image | None = None  # "RGB", at the file's size
    canvas: InpaintCanvas | None = None  # if only a part of it is inpainted
    inpaint: InpaintUsed | None = None  # the same part, described
    used: tuple[FileUsed, ...] = ()  # in the order of the request

    def size(self, last: StageSetup) -> Size:
        """Size of the images that a last stage produces."""
        return (last.width, last.height) if self.canvas is None else self.canvas.size

    def without_pixels(self) -> "InputImages":
        """What a result says of the images, once their pixels are no longer needed."""
        return replace(self, init=None, canvas=None)

    def composite(self, generated: Image.Image) -> Image.Image:
        """Composite the output of the last stage with the preserved parts."""
        return generated if self.canvas is None else self.canvas.composite(generated)


def image_size(path: Path) -> Size:
    """The size of an image once upright: its EXIF orientation may swap the sides."""
    return read_image(path).size


def read_inputs(
    images: Sequence[ImageInput], asked: RequestImages, sizes: Sequence[Size], cancelled: IsCancelled
) -> InputImages:
    """Read the images of a request whose stages have these sizes.

    Raises ImageRefused for one that is unreadable or has changed, UsageError for a mask that does not fit its image.
    """
    used = tuple(_unchanged(image, cancelled) for image in images)
    if asked.init is None:
        return InputImages(used=used)
    init = read_image(asked.init)
    if asked.inpaint is None:
        return InputImages(init=init, used=used)
    asked.check_growth(init.size)
    mask = None if asked.mask is None else read_mask(asked.mask, init.size)
    canvas = InpaintCanvas(init, mask, asked.inpaint, sizes[0], sizes[-1])
    return InputImages(init=init, canvas=canvas, inpaint=canvas.used, used=used)


def _unchanged(image: ImageInput, cancelled: IsCancelled) -> FileUsed:
    with open_image(Path(image.path)):
        pass  # a file that is not an image gets that error first
    used = fingerprint(Path(image.path), None, cancelled=cancelled)
    if image.sha256 is not None and image.sha256 != used.sha256:
        what, option = _WHAT[image.role]
        raise ImageRefused(
            f"{image.path}: {what} has changed since it was used (sha256 {used.sha256[:12]}, "
            f"was {image.sha256[:12]}); give it again with {option}"
        )
    return used
