"""Estimate what a job takes: the size, time and disk space of each image. Loads no models."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from mezzotint.batch.job.job import ImageFormat
from mezzotint.batch_protocol import HowKnown
from mezzotint.catalog.catalog import FoundModel
from mezzotint.errors import MezzotintError
from mezzotint.jobs.requests import run_key, steps_of
from mezzotint.jobs.tasks import Expected, RunKey
from mezzotint.protocol import GenerateRequest, ModelRef, Plan, PlanRequest
from mezzotint.stages.images.request_images import grown_size, natural_size
from mezzotint.stages.setup import CascadeSetup, Find, set_up

Size = tuple[int, int]

_BYTES_PER_PIXEL = {"png": 1.8, "jpg": 0.7, "webp": 0.35}  # typical of generated images
_BYTES_OF_RECORD = 12_000  # metadata of each image
_MOST_KNOWN = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Duration:
    """How long an image takes."""

    seconds: float | None  # without loading the model; None: unknown
    load: float  # of the model, once
    key: RunKey  # equal for requests that share a loaded model
    how: HowKnown


class Sizes:
    """The output sizes of requests, adjusted to what their models support."""

    def __init__(self, find: Find, default_model: ModelRef) -> None:
        self._found: dict[ModelRef, FoundModel] = {}
        self._find, self._default = find, default_model
        self._known: dict[object, Size | MezzotintError] = {}

    def size(self, request: GenerateRequest) -> Size:
        """Return width and height. Raises MezzotintError if the engine will refuse the request."""
        images = tuple((image.role, _image_size(Path(image.path))) for image in request.images)
        key = (request.cascade, request.inpaint, request.strength, request.loras, request.controls, images)
        if key not in self._known:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = self._settled(request)
        found = self._known[key]
        if isinstance(found, MezzotintError):
            raise found
        return found

    def _settled(self, request: GenerateRequest) -> Size | MezzotintError:
        try:
            setup = set_up(request, self._found_once, self._default, _image_size)
        except MezzotintError as error:
            return error
        return _size_of(setup)

    def _found_once(self, ref: ModelRef) -> FoundModel:
        if ref not in self._found:
            self._found[ref] = self._find(ref)
        return self._found[ref]


def _size_of(setup: CascadeSetup) -> Size:
    first, last = setup.stages[0], setup.stages[-1]
    images = setup.images
    if images.inpaint is None or images.init is None or (images.inpaint.area == "whole" and not images.grows):
        return last.width, last.height
    grown = grown_size(_image_size(images.init), images.inpaint)
    if images.inpaint.area == "masked":
        return grown
    return round(grown[0] * last.width / first.width), round(grown[1] * last.height / first.height)


def _image_size(path: Path) -> Size:
    from mezzotint.images.reading import open_image, upright_size

    with open_image(path) as image:
        return upright_size(image)


class Times:
    """How long images take: as measured by the queue, else as estimated by the planner."""

    def __init__(
        self,
        learned: Callable[[GenerateRequest], Expected] | None = None,
        planned: Callable[[PlanRequest], Plan] | None = None,
        default_model: str = "",
    ) -> None:
        self._learned, self._planned, self._default = learned, planned, default_model
        self._known: dict[object, Duration] = {}

    def duration(self, request: GenerateRequest, size: Size) -> Duration:
        """Return the seconds for one image of that size."""
        key = (request.cascade, request.strength, request.quantization, request.device, request.memory, size)
        if key not in self._known:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = self._by_learning(request) or self._by_planning(request, size)
        return self._known[key]

    def _by_learning(self, request: GenerateRequest) -> Duration | None:
        if self._learned is None:
            return None
        found = self._learned(replace(request, count=1))
        if found.seconds is None or found.phases is None or found.basis == "unknown":
            return None
        load = found.phases.load
        return Duration(seconds=found.seconds - load, load=load, key=run_key(request, natural_size), how=found.basis)

    def _by_planning(self, request: GenerateRequest, size: Size) -> Duration:
        unknown = Duration(seconds=None, load=0.0, key=run_key(request, natural_size), how="unknown")
        if self._planned is None:
            return unknown
        first = request.cascade.stages[0]
        models = tuple(dict.fromkeys(_names(request, self._default)))
        asked = PlanRequest(
            models=models,
            width=first.width or size[0],
            height=first.height or size[1],
            steps=steps_of(request) or first.sampling.steps,
            memory=request.memory,
            quantization=request.quantization,
            text_quantization=request.text_quantization,
        )
        try:
            return replace(unknown, seconds=self._planned(asked).seconds, how="planned")
        except MezzotintError:
            return unknown


def _names(request: GenerateRequest, default: str) -> list[str]:
    return [default if stage.model is None else stage.model.id for stage in request.cascade.stages] or [default]


def bytes_of(size: Size, form: ImageFormat) -> int:
    """Estimate the file size of an image in bytes."""
    return round(size[0] * size[1] * _BYTES_PER_PIXEL[form]) + _BYTES_OF_RECORD


def free_bytes(folder: Path) -> int | None:
    """Return the free bytes on the disk of a folder, which need not exist yet; None if unknown."""
    while not os.path.lexists(folder) and folder != folder.parent:
        folder = folder.parent
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None
