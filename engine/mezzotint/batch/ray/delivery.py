"""Write an image made on a Ray node to the local disk: verified, under its planned name, like any other image."""

import io
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from PIL import Image

from mezzotint.batch.ray.parcel import Answer
from mezzotint.errors import ProtocolError
from mezzotint.images.decoder_errors import DECODER_ERRORS
from mezzotint.images.encoding import RECORD_KEYWORD
from mezzotint.images.naming import NameFields, image_path
from mezzotint.images.reading import MAX_PIXELS
from mezzotint.images.record import ImageRecord, record_from_json
from mezzotint.images.writing import pixels_sha256, require_folder, write_image
from mezzotint.protocol import (
    ControlUsed,
    FileUsed,
    GeneratedImage,
    GenerateRequest,
    GenerateResult,
    ImageInput,
    ResolvedStage,
)
from mezzotint.values.regions import RegionRef

_DAMAGED = "the image that a Ray node sent does not match its result ({}): run again with --retry-failed"


def delivered(request: GenerateRequest, answer: Answer) -> GenerateResult:
    """Write the images and return the result as a local engine would. Raises ProtocolError if they do not match it."""
    result = answer.result
    if result is None or not len(answer.images) == len(result.images) == request.count:
        raise ProtocolError(_DAMAGED.format(f"{len(answer.images)} of {request.count} images arrived"))
    pairs = zip(result.images, answer.images, strict=True)
    images = tuple(_written(request, result, image, data) for image, data in pairs)
    return replace(
        result,
        images=images,
        images_used=_as_asked(request.images, result.images_used),
        stages=_with_local_controls(request, result.stages),
    )


def _written(request: GenerateRequest, result: GenerateResult, image: GeneratedImage, data: bytes) -> GeneratedImage:
    pixels, record = _opened(image, data)
    path = image_path(request.output, _fields(request, result, image))
    mine = replace(
        record,
        request=_with_local_images(request, record.request),
        stages=_with_local_controls(request, record.stages),
        images_used=_as_asked(request.images, record.images_used),
    )
    require_folder(request.output.required_folder)
    output = request.output
    return replace(image, path=str(write_image(pixels, path, mine, overwrite=output.overwrite, kept=output.metadata)))


def _opened(image: GeneratedImage, data: bytes) -> tuple[Image.Image, ImageRecord]:
    """Return the pixels and the record; both must match the hash in the result."""
    try:
        with Image.open(io.BytesIO(data), formats=["PNG"]) as opened:
            if opened.size != (image.width, image.height) or image.width * image.height > MAX_PIXELS:
                raise ProtocolError(_DAMAGED.format(f"it has {opened.width}x{opened.height} pixels"))
            record = record_from_json(str(opened.info.get(RECORD_KEYWORD)))
            pixels = opened.convert("RGBA" if opened.mode == "RGBA" else "RGB")
    except DECODER_ERRORS as error:
        raise ProtocolError(_DAMAGED.format(" ".join(str(error).split())[:200])) from error
    if not image.sha256 == record.image.sha256 == pixels_sha256(pixels):
        raise ProtocolError(_DAMAGED.format("its pixels have another sha256"))
    return pixels, record


def _fields(request: GenerateRequest, result: GenerateResult, image: GeneratedImage) -> NameFields:
    last = result.stages[-1] if result.stages else None
    return NameFields(
        seed=image.seed,
        prompt=request.prompt,
        model=result.stages[0].model.id if result.stages else "",
        width=image.width,
        height=image.height,
        steps=0 if last is None else last.steps,
        sampler="" if last is None else last.sampler,
        index=image.index,
        count=request.count,
        now=datetime.now(),
    )


def _with_local_images(asked: GenerateRequest, there: GenerateRequest) -> GenerateRequest:
    """Replace the node's paths of input images by the local ones."""
    images = zip(asked.images, there.images, strict=False)
    controls = zip(asked.controls, there.controls, strict=False)
    return replace(
        there,
        images=tuple(replace(one, path=str(Path(mine.path).resolve())) for mine, one in images),
        controls=tuple(
            replace(
                one,
                image=str(Path(mine.image).resolve()),
                mask=None if mine.mask is None else str(Path(mine.mask).resolve()),
            )
            for mine, one in controls
        ),
        regions=tuple(_local_region(*pair) for pair in zip(asked.regions, there.regions, strict=False)),
    )


def _local_region(asked: RegionRef, there: RegionRef) -> RegionRef:
    return there if asked.mask is None else replace(there, mask=str(Path(asked.mask).resolve()))


def _with_local_controls(asked: GenerateRequest, stages: tuple[ResolvedStage, ...]) -> tuple[ResolvedStage, ...]:
    """Replace the node's paths of control images by the local ones, by their hashes."""
    paths = {one.image_sha256: one.image for one in asked.controls}
    masks = {one.mask_sha256: one.mask for one in asked.controls if one.mask is not None}

    def mine(used: ControlUsed) -> ControlUsed:
        mask = used.mask and replace(used.mask, path=masks.get(used.mask.sha256, used.mask.path))
        return replace(used, image=replace(used.image, path=paths.get(used.image.sha256, used.image.path)), mask=mask)

    return tuple(replace(stage, controls=tuple(map(mine, stage.controls))) for stage in stages)


def _as_asked(asked: tuple[ImageInput, ...], used: tuple[FileUsed, ...]) -> tuple[FileUsed, ...]:
    """Replace the paths of input images, which come first among the used files; embeddings follow."""
    mine = tuple(replace(one, path=image.path) for image, one in zip(asked, used, strict=False))
    return mine + used[len(mine) :]
