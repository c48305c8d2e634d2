"""Run a request with detail passes: each image is made, searched, inpainted box by box, and saved."""

import functools
import random
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from mezzotint.errors import Cancelled
from mezzotint.images.transparency import flattening_notice, opacity_of, with_opacity
from mezzotint.protocol import (
    Decoding,
    DetailFound,
    Encoding,
    Event,
    GeneratedImage,
    GenerateRequest,
    GenerateResult,
    IsCancelled,
    MemoryReport,
    Notice,
    OnEvent,
    Saved,
    Step,
    Timings,
)
from mezzotint.request_protocol import MAX_SEED
from mezzotint.stages.details.finding import Sought, check_details, detecting_bytes, found_in, sought
from mezzotint.stages.details.parts import PartJob, feather_of, part_request
from mezzotint.stages.images.pending_decode import PendingDecode
from mezzotint.stages.images.saving import SEEDS_DRAWN_BELOW, save_image
from mezzotint.stages.job import EngineResources, Job
from mezzotint.stages.setup import set_up

if TYPE_CHECKING:
    import torch

    from mezzotint.stages.result import LoadedJob

_ANY_SIZE = (64, 64)  # of an image of which only a box is seen


def job_of(
    request: GenerateRequest, resources: EngineResources, on_event: OnEvent, cancelled: IsCancelled
) -> "Job | DetailedJob":
    """The job that runs a request."""
    kind = DetailedJob if request.details else Job
    return kind(request, resources, on_event, cancelled)


class DetailedJob:
    """One request with detail passes in progress."""

    def __init__(
        self, request: GenerateRequest, resources: EngineResources, on_event: OnEvent, cancelled: IsCancelled
    ) -> None:
        seed = random.randrange(SEEDS_DRAWN_BELOW) if request.seed is None else request.seed
        self._request = replace(request, seed=seed)
        self._resources, self._on_event, self._cancelled = resources, on_event, cancelled
        self._notices: list[str] = []

    def run(self) -> GenerateResult:
        """Check everything that can be refused first, then generate."""
        check_details(self._request)
        for detail in self._request.details:
            self._check_part(part_request(self._request, detail, 0))
        passes = sought(self._request.details, self._resources.find_detectors, self._cancelled)
        self._request = replace(self._request, details=tuple(each.detail for each in passes))
        results = [self._make(index, passes) for index in range(self._request.count)]
        return replace(
            results[0],
            images=tuple(image for result in results for image in result.images),
            memory=functools.reduce(_more, (result.memory for result in results)),
            timings=_total([result.timings for result in results]),
            notices=tuple(dict.fromkeys([*(each for one in results for each in one.notices), *self._notices])),
            recoveries=tuple(dict.fromkeys(each for result in results for each in result.recoveries)),
        )

    def _check_part(self, request: GenerateRequest) -> None:
        import torch

        from mezzotint.stages.schedule import plan_schedules

        known = self._resources
        setup = set_up(request, known.find, known.default_model, lambda _: _ANY_SIZE, known.find_upscaler)
        plan_schedules(setup, torch.device("cpu"))

    def _make(self, index: int, passes: Sequence[Sought]) -> GenerateResult:
        if self._cancelled():
            raise Cancelled(f"stopped after {index} of {self._request.count} images")
        with ExitStack() as until_saved:
            whole = _WholeJob(self._request, index, passes, until_saved, self._resources, self._tell, self._cancelled)
            result = whole.run()
            pixels, times, memory = whole.pixels, result.timings, result.memory
            found: list[DetailFound] = []
            for detail, boxes in zip(self._request.details, whole.found, strict=True):
                if not boxes:
                    self._none_found(detail.label, detail.confidence)
                for number, box in enumerate(boxes, len(found)):
                    seed = (whole.undecoded.record.image.seed + number) % (MAX_SEED + 1)
                    request = part_request(self._request, detail, seed, feather_of(box))
                    tell = _Progress(self._on_event, index, self._request, number, sum(map(len, whole.found)))
                    part = PartJob(request, pixels, box, self._resources, tell, self._cancelled)
                    made = part.run()
                    pixels, times, memory = part.pixels, _total([times, made.timings]), _more(memory, made.memory)
                    self._notices += made.notices
                found += boxes
            image = self._save(with_opacity(pixels, whole.opacity), whole.undecoded, tuple(found))
        return replace(result, images=(image,), timings=times, memory=memory)

    def _save(self, pixels: Image.Image, undecoded: PendingDecode, found: tuple[DetailFound, ...]) -> GeneratedImage:
        record = undecoded.record
        done = replace(undecoded, record=replace(record, image=replace(record.image, details=found)))
        image = save_image(pixels, done, self._request.output)
        flattening = flattening_notice(pixels, Path(image.path))
        if flattening is not None:
            self._notice("not_kept", flattening)
        self._on_event(Saved(image=image, images=self._request.count))
        return image

    def _none_found(self, label: str, confidence: float) -> None:
        message = f"no {label} was found with a confidence of {confidence:g} or more: the image has no detail pass"
        self._notice("nothing_to_detail", message)

    def _notice(self, code: str, message: str) -> None:
        self._notices.append(message)
        self._on_event(Notice(code=code, message=message))

    def _tell(self, event: Event) -> None:
        """Tell of the whole image, after whose stages that of its details follows."""
        if isinstance(event, Step | Encoding):
            event = replace(event, stages=event.stages + 1)
        self._on_event(event)


class _WholeJob(Job):
    """Makes one image of a request and looks for details in it, without saving it."""

    def __init__(
        self,
        request: GenerateRequest,
        index: int,
        passes: Sequence[Sought],
        until_saved: ExitStack,
        resources: EngineResources,
        on_event: OnEvent,
        cancelled: IsCancelled,
    ) -> None:
        """`until_saved` keeps the latents on disk until then."""
        super().__init__(request, resources, on_event, cancelled)
        self._index, self._passes, self._until_all_saved = index, passes, until_saved
        self.found: tuple[tuple[DetailFound, ...], ...] = ()  # by pass
        self.pixels: Image.Image
        self.opacity: Image.Image | None = None
        self.undecoded: PendingDecode

    def _indices(self) -> Sequence[int]:
        return (self._index,)

    def _guest_bytes(self) -> int:
        return max(super()._guest_bytes(), detecting_bytes(self._passes))

    def _kept(self, latents: "torch.Tensor", undecoded: PendingDecode) -> AbstractContextManager[None]:
        self._until_all_saved.enter_context(super()._kept(latents, undecoded))
        return nullcontext()

    def _deliver(
        self, work: "LoadedJob", pixels: Image.Image, decoded: PendingDecode, _request: GenerateRequest
    ) -> GeneratedImage:
        import torch

        device = torch.device(work.job.device.id)
        self.opacity, pixels = opacity_of(pixels), pixels.convert("RGB")
        self.found = found_in(pixels, self._passes, work.pipeline.placement, device)
        self.pixels, self.undecoded = pixels, decoded
        return decoded.record.image


class _Progress:
    """Tells of the inpainting of a box as a part of one more stage of its image."""

    def __init__(self, on_event: OnEvent, index: int, request: GenerateRequest, number: int, of: int) -> None:
        self._on_event, self._index, self._images = on_event, index, request.count
        self._stage, self._number, self._of = len(request.cascade.stages), number, of

    def __call__(self, event: Event) -> None:
        """Pass an event on, with the image and stage that it concerns."""
        match event:
            case Step():
                event = replace(
                    event,
                    image=self._index,
                    images=self._images,
                    stage=self._stage,
                    stages=self._stage + 1,
                    step=self._number * event.steps + event.step,
                    steps=self._of * event.steps,
                )
            case Encoding():
                event = replace(event, stage=self._stage, stages=self._stage + 1)
            case Decoding():
                event = replace(event, image=self._index, images=self._images)
        self._on_event(event)


def _more(one: MemoryReport, other: MemoryReport) -> MemoryReport:
    """The phases of the job that needed more of the device, and the peaks of both."""
    peak = (max(one.peak_ram_bytes, other.peak_ram_bytes), max(one.peak_vram_bytes or 0, other.peak_vram_bytes or 0))
    larger = max(one, other, key=lambda each: each.peak_vram_bytes or 0)
    return replace(larger, peak_ram_bytes=peak[0], peak_vram_bytes=peak[1] or larger.peak_vram_bytes)


def _total(times: Sequence[Timings]) -> Timings:
    """The sum, stage by stage; a single stage of details counts to the first."""
    stages = max(len(each.denoise) for each in times)
    padded = [(*each.denoise, *[0.0] * (stages - len(each.denoise))) for each in times]
    sums = {
        one.name: sum(getattr(each, one.name) for each in times) for one in fields(Timings) if one.name != "denoise"
    }
    return Timings(denoise=tuple(map(sum, zip(*padded, strict=True))), **sums)
