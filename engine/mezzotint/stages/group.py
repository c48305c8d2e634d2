"""Requests that differ only in prompts, seeds and input images, whose images are denoised together in batches."""

import math
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from mezzotint.errors import Cancelled, DeviceLost, MezzotintError
from mezzotint.images.reading import MAX_PIXELS
from mezzotint.protocol import Attention, GenerateResult, IsCancelled, ManyOutcome, MemoryReport, Notice, Timings
from mezzotint.stages.error_translation import translate_errors
from mezzotint.stages.image_spec import ImageSpec, Variation
from mezzotint.stages.images.references import read_references
from mezzotint.stages.images.saving import Saver
from mezzotint.stages.job import EngineResources, Job
from mezzotint.stages.member import Member, MemberImage, RequestEvents, failed
from mezzotint.stages.models.loras import JobLoras
from mezzotint.stages.result import JobImages, LoadedJob, result_of
from mezzotint.stages.setup import StageSetup
from mezzotint.stages.tile_sizes import seen_size, with_tiles_of
from mezzotint.stages.together import MAX_BATCH_SIZE

if TYPE_CHECKING:
    import torch

T = TypeVar("T")

_POSITIONS = 128 * 128  # latent positions per forward pass if there is no plan: those of one 1024 x 1024 image


class Group(Job):
    """Requests for two or more images in progress; everything they share is resolved and loaded once."""

    def __init__(
        self, members: Sequence[Member], resources: EngineResources, events: RequestEvents, cancelled: IsCancelled
    ) -> None:
        """All `members` have the same batch key and size."""
        super().__init__(members[0].request, resources, events, cancelled)
        self._members, self._event_targets, self._events = list(members), list(members), events
        self._largest_batch = 0  # images in the largest batch so far

    def make(self) -> dict[int, ManyOutcome]:
        """The outcome of each request by its index; a MezzotintError before the first image applies to all."""
        with self._events_for([MemberImage(member) for member in self._members]):
            first = self._members[0]
            loras = JobLoras(first.request, first.setup, self._cancelled)
            images = sum(member.request.count for member in self._members)
            job = self._resolve(first.setup, min(images, MAX_BATCH_SIZE))
            session = self._session(job)
            for member in self._members:
                member.setup = with_tiles_of(member.setup, job.setup)
                with self._events_for([MemberImage(member)]):
                    self._warn(member.setup)
            with self._loaded(job, loras, session) as work:
                for same_shape in self._encode(work):
                    self._make_batches(work, same_shape)
        return self._outcomes(work)

    # ---- prompts

    def _encode(self, work: LoadedJob) -> list[list[Member]]:
        """Encode the prompts, and group the members whose conditioning tensors have the same shapes.

        Stage by stage, so that models and LoRAs are exchanged once for all members.
        """
        import torch

        from mezzotint.families.text.conditionings import moved, shape_of

        for index in range(len(work.job.setup.stages)):
            for member in (member for member in self._members if member.outcome is None):
                with self._isolating_errors(member):
                    notify = self._not_used if index == 0 else _say_nothing
                    references = read_references(member.setup.images.references, notify)
                    stage = member.setup.stages[index]
                    conditioning = work.pipeline.conditioning(index, stage, self._embeddings, member.inputs, references)
                    member.conditionings.append(moved(conditioning, torch.device("cpu")))
        same_shape: dict[Hashable, list[Member]] = {}
        for member in self._members:
            if member.outcome is None:
                same_shape.setdefault(tuple(map(shape_of, member.conditionings)), []).append(member)
        return list(same_shape.values())

    # ---- images

    def _make_batches(self, work: LoadedJob, members: Sequence[Member]) -> None:
        left = [MemberImage(member, index) for member in members for index in range(member.request.count)]
        while left:
            batch = self._next_batch(work, left)
            self._make(work, batch)
            waiting = {image.member for image in left if image.member.outcome is None}
            for member in {image.member for image in batch} - waiting:
                member.inputs = member.inputs.without_pixels()

    def _next_batch(self, work: LoadedJob, left: list[MemberImage]) -> list[MemberImage]:
        """Take the next batch from `left`; its input images have no more pixels in total than a single one may have."""
        batch: list[MemberImage] = []
        size = self._size(work)
        while left and len(batch) < size:
            members = {image.member for image in (*batch, left[0])}
            if batch and sum(member.setup.input_pixels for member in members) > MAX_PIXELS:
                break
            image = left.pop(0)
            if self._read_inputs(work, image.member):
                batch.append(image)
        return batch

    def _size(self, work: LoadedJob) -> int:
        """The batch size: as planned, or as many as make up one large image; smaller after a memory shortage.

        CPUs gain nothing from larger batches.
        """
        job_plan = work.job.job_plan
        if job_plan is not None:
            size = job_plan.together
        else:
            positions = max(map(_positions, work.job.setup.stages))
            size = min(MAX_BATCH_SIZE, max(1, _POSITIONS // positions))
        return min(size, work.pipeline.at_once or size)

    def _make(self, work: LoadedJob, batch: Sequence[MemberImage]) -> None:
        """Denoise a batch; if that fails, retry each image alone, so only the one at fault fails."""
        batch = [image for image in batch if image.member.outcome is None]
        if not batch:
            return
        begun_with = work.session.used
        try:
            with translate_errors(), self._events_for(batch):
                latents = self._latents(work, batch)
        except (Cancelled, DeviceLost):
            raise
        except MezzotintError as error:
            if len(batch) == 1:
                batch[0].member.outcome = failed(error)
            for image in batch if len(batch) > 1 else ():
                self._make(work, [image])
            return
        self._save(work, batch, latents, begun_with)

    def _read_inputs(self, work: LoadedJob, member: Member) -> bool:
        """Whether the member's images could be read; they are read only when needed, as they may be large."""
        with self._isolating_errors(member):
            if member.saver is None and member.outcome is None:
                member.inputs = self._read_images(member.setup, member.request)
                member.record = self._job_record(work.job, work.session.used, member.inputs, member.request)
                size = member.inputs.size(member.setup.stages[-1])
                member.saver = Saver(request=member.request, setup=member.setup, size=size)
        return member.outcome is None

    def _latents(self, work: LoadedJob, batch: Sequence[MemberImage]) -> "list[torch.Tensor]":
        if self._cancelled():
            raise Cancelled("stopped between two images")
        latents = work.pipeline.make(0, [_spec(*image) for image in batch])
        together = min(len(batch), work.pipeline.at_once or len(batch))
        for member, _ in batch:
            member.together = max(member.together, together)
        self._largest_batch = max(self._largest_batch, len(batch))
        return latents

    def _save(
        self, work: LoadedJob, batch: Sequence[MemberImage], latents: "Sequence[torch.Tensor]", begun_with: Attention
    ) -> None:
        """Decode and save the images one by one; the latents of those still waiting are on disk too."""
        begun = []
        for (member, index), each in zip(batch, latents, strict=True):
            with self._isolating_errors(member):
                record = replace(_required(member.record), attention=begun_with)
                resolved = work.pipeline.resolved(record.controls, member.setup.stages)
                undecoded = _required(member.saver).begin(index, resolved, record)
                begun.append((member, index, each, undecoded, self._keep(each, undecoded)))
        try:
            for member, index, each, undecoded, path in begun:
                with self._isolating_errors(member), self._until_saved(path):
                    image = self._finish(work, undecoded, member.inputs, each, member.request, index)
                    member.made[index] = image
        except Cancelled:
            for *_, path in begun:
                if path is not None:
                    path.unlink(missing_ok=True)
            raise

    # ---- events and outcomes

    @contextmanager
    def _events_for(self, images: Sequence[MemberImage]) -> Iterator[None]:
        """Context manager: events inside are about `images`."""
        before, self._event_targets = self._event_targets, list(dict.fromkeys(member for member, _ in images))
        try:
            with self._events.about([(member.place, index) for member, index in images]):
                yield
        finally:
            self._event_targets = before

    @contextmanager
    def _isolating_errors(self, member: Member) -> Iterator[None]:
        """Context manager: errors inside fail only `member`."""
        try:
            with translate_errors(), self._events_for([MemberImage(member)]):
                yield
        except (Cancelled, DeviceLost):
            raise
        except MezzotintError as error:
            member.outcome = failed(error)

    def _notice(self, code: str, message: str) -> None:
        for member in self._event_targets:
            member.notices.append(message)
        self._on_event(Notice(code=code, message=message))

    def _outcomes(self, work: LoadedJob) -> dict[int, ManyOutcome]:
        job_plan = work.job.job_plan
        report = self._memory_report(work, learns=job_plan is None or self._largest_batch == job_plan.together)
        timings = _share(self._clock.timings(len(work.job.setup.stages)), len(self._members))
        return {
            member.place: member.outcome or ManyOutcome(result=_result(work, report, timings, member), failure=None)
            for member in self._members
        }


def _say_nothing(_message: str) -> None:
    """What is said of each member's images once."""


def _positions(stage: StageSetup) -> int:
    """Latent positions of an image and its reference images."""
    seen = math.prod(seen_size((stage.width, stage.height), stage.tile))
    pixels = seen + sum(width * height for width, height in stage.references)
    return pixels // stage.sources.vae_factor**2


def _spec(member: Member, index: int) -> ImageSpec:
    seed = _required(member.saver).first_seed + index
    variation = Variation.of(member.setup.stages[0].sampling)
    return ImageSpec(seed=seed, variation=variation, conditionings=member.conditionings, inputs=member.inputs)


def _result(work: LoadedJob, report: MemoryReport, timings: Timings, member: Member) -> GenerateResult:
    output = JobImages(
        setup=member.setup,
        record=_required(member.record),
        inputs=member.inputs,
        seed=_required(member.saver).first_seed,
        images=tuple(member.made[index] for index in range(member.request.count)),
        timings=timings,
        notices=tuple(member.notices),
        together=member.together,
    )
    return result_of(work, report, output)


def _share(timings: Timings, requests: int) -> Timings:
    """One request's share of the group's timings; all have as many images."""
    return Timings(
        load=timings.load / requests,
        encode=timings.encode / requests,
        denoise=tuple(seconds / requests for seconds in timings.denoise),
        decode=timings.decode / requests,
        save=timings.save / requests,
        total=timings.total / requests,
    )


def _required(value: T | None) -> T:
    """Return `value`, which must be known by now."""
    if value is None:
        raise AssertionError("an image was made of a request that was not read")
    return value
