"""Decide from the requests alone, before anything is read, which may be denoised together."""

from collections.abc import Hashable
from dataclasses import replace

from mezzotint.protocol import Cascade, GenerateRequest, Output, Sampling

MAX_BATCH_SIZE = 8  # maximum batch size: more gains nothing on CPUs and hardly anything on GPUs


def batch_key(request: GenerateRequest) -> Hashable | None:
    """Key that is equal for requests that may be denoised together; None: always generated alone.

    Prompts, seeds, variation seeds, image files of any role, and output paths may differ. Tensor shapes are known only
    later: requests with equal keys whose shapes then differ are generated one by one.
    """
    if _is_alone(request):
        return None
    return replace(
        request,
        prompt="",
        negative_prompt="",
        styles=(),
        cascade=_without_words(request),
        images=tuple(replace(image, path="", sha256=None) for image in request.images),
        controls=tuple(replace(control, image="", image_sha256=None) for control in request.controls),
        seed=None,
        output=Output(),
    )


def same_batch(a: GenerateRequest, b: GenerateRequest) -> bool:
    """Whether two requests may be denoised together."""
    key = batch_key(a)
    return key is not None and key == batch_key(b)


def _is_alone(request: GenerateRequest) -> bool:
    """Whether it reports steps, compiles for one shape, decides by the image, or has regions or detail passes."""
    if request.regions or request.details:
        return True
    caches = any(stage.sampling.step_cache for stage in request.cascade.stages)
    return request.previews or request.output.preview_folder is not None or request.compile or caches


def _without_words(request: GenerateRequest) -> Cascade:
    stages = request.cascade.stages
    plain = (replace(one, prompt=None, negative_prompt=None, sampling=_without_seed(one.sampling)) for one in stages)
    return replace(request.cascade, stages=tuple(plain))


def _without_seed(sampling: Sampling) -> Sampling:
    return replace(sampling, variation_seed=None)
