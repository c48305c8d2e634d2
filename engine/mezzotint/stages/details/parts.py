"""A part of an image made anew: inpainting at the model's full size, as a job whose images are in memory."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from mezzotint.protocol import (
    Cascade,
    DetailFound,
    GeneratedImage,
    GenerateRequest,
    ImageInput,
    Inpaint,
    IsCancelled,
    OnEvent,
)
from mezzotint.stages.images.inpaint_canvas import InpaintCanvas
from mezzotint.stages.images.input_images import InputImages
from mezzotint.stages.images.pending_decode import PendingDecode
from mezzotint.stages.images.request_images import Size
from mezzotint.stages.job import EngineResources, Job
from mezzotint.stages.setup import CascadeSetup
from mezzotint.values.details import DetailRef

if TYPE_CHECKING:
    import torch

    from mezzotint.stages.result import LoadedJob

_FEATHER = 16  # pixels at most, inside the box
_SHARE_OF_FEATHER = 8  # divisor: this part of the box's shorter side
# What a box does without, because it is for whole images, or for larger ones than the model was made for.
_OF_WHOLE_IMAGES: Mapping[str, None] = dict.fromkeys(("denoise_tile", "deep_shrink"))


def part_request(request: GenerateRequest, detail: DetailRef, seed: int, feather: int = _FEATHER) -> GenerateRequest:
    """The request that inpaints a box: by the first stage's model, at its default size."""
    first = request.cascade.stages[0]
    stage = replace(
        first,
        width=None,
        height=None,
        until=None,
        sampling=replace(first.sampling, **_OF_WHOLE_IMAGES),
        prompt=first.prompt if detail.prompt is None else detail.prompt,
    )
    return replace(
        request,
        cascade=Cascade(stages=(stage,)),
        images=(ImageInput(path="image"), ImageInput(path="mask", role="mask")),
        init_upscaler=None,
        init_upscaler_sha256=None,
        strength=detail.strength,
        inpaint=Inpaint(area="masked", padding=detail.padding, feather=feather),
        controls=(),
        regions=(),
        details=(),
        seed=seed,
        count=1,
    )


def feather_of(found: DetailFound) -> int:
    """Width in pixels of the soft edge inside a box."""
    left, top, right, bottom = found.box
    return min(_FEATHER, min(right - left, bottom - top) // _SHARE_OF_FEATHER)


class PartJob(Job):
    """Inpaints one box of an image; what is outside stays bit-identical."""

    def __init__(
        self,
        request: GenerateRequest,
        image: Image.Image,
        found: DetailFound,
        resources: EngineResources,
        on_event: OnEvent,
        cancelled: IsCancelled,
    ) -> None:
        super().__init__(request, resources, on_event, cancelled)
        self._image = image
        self._mask = Image.new("L", image.size)
        self._mask.paste(255, found.box)
        self.pixels = image  # the result, once it ran

    def _image_size(self, _path: Path) -> Size:
        return self._image.size

    def _read_images(self, setup: CascadeSetup, _request: GenerateRequest) -> InputImages:
        size, inpaint = (setup.stages[0].width, setup.stages[0].height), setup.images.inpaint or Inpaint()
        canvas = InpaintCanvas(self._image, self._mask, inpaint, size, size)
        for code, message in canvas.remarks.items():  # that it is larger than what the model makes
            self._notice(code, message)
        return InputImages(init=self._image, canvas=canvas, inpaint=canvas.used)

    def _keep(self, _latents: "torch.Tensor", _undecoded: PendingDecode) -> None:
        """Keep nothing: the latents of the whole image are on disk."""

    def _deliver(
        self, _work: "LoadedJob", pixels: Image.Image, decoded: PendingDecode, _request: GenerateRequest
    ) -> GeneratedImage:
        self.pixels = pixels
        return decoded.record.image
