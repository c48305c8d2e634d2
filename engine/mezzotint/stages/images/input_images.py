"""The input images of a job, read and compared with their recorded hashes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from PIL import Image

from mezzotint.checkpoints.fingerprint import fingerprint
from mezzotint.errors import ImageRefused
from mezzotint.images.masks import read_grey, read_mask
from mezzotint.images.reading import open_image, read_colours, read_image, read_input
from mezzotint.images.transparency import colours_of_all, opacity_of, with_opacity
from mezzotint.protocol import ControlRef, FileUsed, ImageInput, InpaintUsed, IsCancelled
from mezzotint.stages.images.inpaint_canvas import InpaintCanvas
from mezzotint.stages.images.request_images import RequestImages, Size
from mezzotint.stages.setup import StageSetup
from mezzotint.values.regions import RegionRef

_WHAT = {
    "init": ("the image", "--init"),
    "mask": ("the mask", "--mask"),
    "reference": ("the reference image", "--reference"),
}
_CONTROL = ("the control image", "--control")
_CONTROL_MASK = ("the mask of an image prompt", "--control")
_REGION = ("the mask of a region", "--region")


@dataclass(frozen=True, slots=True, kw_only=True)
class InputImages:
    """The images read; all empty for text-to-image."""

    init: Image.Image | None = None  # "RGB", at the file's size
    opacity: Image.Image | None = None  # "L", of an init image that is only enlarged
    not_used: tuple[str, ...] = ()  # of the images' contents, for notices
    canvas: InpaintCanvas | None = None  # if only a part of it is inpainted
    inpaint: InpaintUsed | None = None  # the same part, described
    used: tuple[FileUsed, ...] = ()  # in the order of the request
    controls: tuple[Image.Image, ...] = ()  # "RGB", control images at their files' sizes
    controls_used: tuple[FileUsed, ...] = ()  # their files
    control_masks: tuple[Image.Image | None, ...] = ()  # "L", at their files' sizes
    control_masks_used: tuple[FileUsed | None, ...] = ()
    region_masks: tuple[Image.Image | None, ...] = ()  # "L", of regions; None: a box
    regions: tuple[RegionRef, ...] = ()  # with absolute paths and hashes of their masks

    def size(self, last: StageSetup) -> Size:
        """Size of the images that a last stage produces."""
        return (last.width, last.height) if self.canvas is None else self.canvas.size

    def without_pixels(self) -> "InputImages":
        """What a result says of the images, once their pixels are no longer needed."""
        return replace(self, init=None, opacity=None, canvas=None, controls=(), control_masks=(), region_masks=())

    def composite(self, generated: Image.Image) -> Image.Image:
        """Composite the output of the last stage with the preserved parts, and give it the opacity that is kept."""
        whole = generated if self.canvas is None else self.canvas.composite(generated)
        return with_opacity(whole, self.opacity)


def image_size(path: Path) -> Size:
    """The size of an image once upright: its EXIF orientation may swap the sides."""
    return read_image(path).size


def read_inputs(
    images: Sequence[ImageInput],
    asked: RequestImages,
    sizes: Sequence[Size],
    cancelled: IsCancelled,
    controls: Sequence[ControlRef] = (),
    regions: Sequence[RegionRef] = (),
    *,
    enlarges: bool = False,
) -> InputImages:
    """Read the images of a request whose stages have these sizes, its control images, and the masks of its regions.

    `enlarges`: the init image is enlarged, and keeps its transparency.
    Raises ImageRefused for one that is unreadable or has changed, UsageError for a mask that does not fit its image.
    """
    said: list[str] = []
    found = InputImages(
        used=tuple(_unchanged(image.path, image.sha256, *_WHAT[image.role], cancelled) for image in images),
        controls_used=tuple(_unchanged(one.image, one.image_sha256, *_CONTROL, cancelled) for one in controls),
        controls=tuple(read_input(Path(control.image)).take(said.append) for control in controls),
        control_masks_used=tuple(
            None if one.mask is None else _unchanged(one.mask, one.mask_sha256, *_CONTROL_MASK, cancelled)
            for one in controls
        ),
        control_masks=tuple(None if one.mask is None else read_grey(Path(one.mask)) for one in controls),
        region_masks=tuple(None if one.mask is None else read_grey(Path(one.mask)) for one in regions),
        regions=tuple(_resolved_region(one, cancelled) for one in regions),
    )
    if asked.init is None:
        return replace(found, not_used=tuple(said))
    if asked.inpaint is None and enlarges:
        image = read_colours(asked.init).take(said.append)
        found = replace(found, init=colours_of_all(image), opacity=opacity_of(image))
        return replace(found, not_used=tuple(said))
    init = read_input(asked.init).take(said.append)
    if asked.inpaint is None:
        return replace(found, init=init, not_used=tuple(said))
    asked.check_growth(init.size)
    mask = None if asked.mask is None else read_mask(asked.mask, init.size).take(said.append)
    canvas = InpaintCanvas(init, mask, asked.inpaint, sizes[0], sizes[-1])
    return replace(found, init=init, canvas=canvas, inpaint=canvas.used, not_used=tuple(said))


def _resolved_region(region: RegionRef, cancelled: IsCancelled) -> RegionRef:
    if region.mask is None:
        return region
    used = _unchanged(region.mask, region.mask_sha256, *_REGION, cancelled)
    return replace(region, mask=str(Path(region.mask).resolve()), mask_sha256=used.sha256)


def _unchanged(path: str, sha256: str | None, what: str, option: str, cancelled: IsCancelled) -> FileUsed:
    with open_image(Path(path)):
        pass  # a file that is not an image gets that error first
    used = fingerprint(Path(path), None, cancelled=cancelled)
    if sha256 is not None and sha256 != used.sha256:
        raise ImageRefused(
            f"{path}: {what} has changed since it was used (sha256 {used.sha256[:12]}, "
            f"was {sha256[:12]}); give it again with {option}"
        )
    return used
