"""Which requests may be denoised together: decided by what they ask for, before anything is read."""

from collections.abc import Hashable
from dataclasses import replace

from mezzotint.protocol import Cascade, GenerateRequest, Output

TOGETHER = 8  # images at most: on processors more gain nothing, on cards hardly anything


def batch_key(request: GenerateRequest) -> Hashable | None:
    """Equal for requests that may be denoised together; None: it is always made alone.

    What differs freely: words, seeds, the files of init and reference images, places to save. What their tensors'
    shapes are is known only later: requests of one key that do not fit together then are made one by one.
    """
    if _is_alone(request):
        return None
    return replace(
        request,
        prompt="",
        negative_prompt="",
        cascade=_without_words(request),
        images=tuple(replace(image, path="", sha256=None) for image in request.images),
        seed=None,
        output=Output(),
    )


def same_batch(a: GenerateRequest, b: GenerateRequest) -> bool:
    """Whether two requests may be denoised together."""
    key = batch_key(a)
    return key is not None and key == batch_key(b)


def _is_alone(request: GenerateRequest) -> bool:
    """What asks for more than one stage of plain denoising, or shows how it goes on."""
    several = request.count != 1 or len(request.cascade.stages) != 1
    in_parts = request.inpaint is not None or any(image.role == "mask" for image in request.images)
    watched = request.previews or request.output.preview_folder is not None
    return several or in_parts or watched or request.compile  # blocks are compiled for the shapes of one


def _without_words(request: GenerateRequest) -> Cascade:
    stages = tuple(replace(stage, prompt=None, negative_prompt=None) for stage in request.cascade.stages)
    return replace(request.cascade, stages=stages)
