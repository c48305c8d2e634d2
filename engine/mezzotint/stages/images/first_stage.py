"""The result of a cascade's first stage, as an image next to the finished one."""

import io

from PIL import Image

from mezzotint.protocol import StageShown
from mezzotint.stages.images.input_images import InputImages
from mezzotint.stages.images.preview import as_text
from mezzotint.stages.pipeline import Pipeline

_LARGEST_SIDE = 1536  # pixels: keeps the event below 2 MB, whatever the image
_QUALITY = 90


def shown_first_stage(pipeline: Pipeline, inputs: InputImages, index: int, images: int) -> StageShown | None:
    """The first stage's image at the final size, composited with the preserved parts; None if there is none to show."""
    first = pipeline.first_stage()
    if first is None:
        return None
    last = pipeline.stages[-1]
    whole = inputs.composite(first.resize((last.width, last.height), Image.Resampling.BICUBIC))
    whole.thumbnail((_LARGEST_SIDE, _LARGEST_SIDE))
    return StageShown(
        image=index,
        images=images,
        stage=0,
        stages=len(pipeline.stages),
        jpeg=as_text(_jpeg(whole)),
    )


def _jpeg(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.convert("RGB").save(buffer, "JPEG", quality=_QUALITY)
    return buffer.getvalue()
