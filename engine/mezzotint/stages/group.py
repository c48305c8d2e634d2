"""Requests that differ only in prompts, seeds and init images, denoised together as one batch."""

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from mezzotint.errors import Cancelled, DeviceLost, MezzotintError
from mezzotint.protocol import GenerateResult, IsCancelled, ManyOutcome, MemoryReport, Notice, Timings
from mezzotint.stages.error_translation import translate_errors
from mezzotint.stages.images.input_images import InputImages
from mezzotint.stages.images.references import read_references
from mezzotint.stages.images.saving import Saver
from mezzotint.stages.job import EngineResources, Job
from mezzotint.stages.member import Member, RequestEvents, failed
from mezzotint.stages.models.loras import JobLoras
from mezzotint.stages.result import JobImages, LoadedJob, result_of
from mezzotint.stages.together import MAX_BATCH_SIZE

if TYPE_CHECKING:
    import torch

T = TypeVar("T")

_POSITIONS = 128 * 128  # latent positions per forward pass if there is no plan: those of one 1024 x 1024 image


class Group(Job):
    """Two or more requests in progress; everything they share is resolved and loaded once."""

    def __init__(
        self, members: Sequence[Member], resources: EngineResources, events: RequestEvents, cancelled: IsCancelled
    ) -> None:
        """All `members` have the same batch key and size."""
        super().__init__(members[0].request, resources, events, cancelled)
        self._members, self._event_targets, self._events = list(members), list(members), events
        self._largest_batch = 0  # images in the largest batch so far

    def make(self) -> dict[int, ManyOutcome]:
        """The outcome of each request by its index; a MezzotintError before the first image applies to all."""
        with self._events_for(self._members):
            first = self._members[0]
            loras = JobLoras(first.request, first.setup, self._cancelled)
            job = self._resolve(first.setup, min(len(self._members), MAX_BATCH_SIZE))
            session = self._session(job)
            for member in self._members:
                with self._events_for([member]):
                    self._warn(member.setup)
            with self._loaded(job, loras, session) as work:
                for same_shape in self._encode(work):
                    self._make_batches(work, same_shape)
        return self._outcomes(work)

    # ---- prompts

    def _encode(self, work: LoadedJob) -> list[list[Member]]:
        """Encode the prompts, and group the members whose conditioning tensors have the same shapes."""
        import torch

        from mezzotint.families.text.conditionings import moved, shape_of

        same_shape: dict[Hashable, list[Member]] = {}
        for member in self._members:
            with self._isolating_errors(member):
                references = read_references(member.setup.images.references)
                (conditioning,) = work.pipeline.conditionings(member.setup.stages, self._embeddings, references)
                member.conditioning = moved(conditioning, torch.device("cpu"))
                same_shape.setdefault(shape_of(conditioning), []).append(member)
        return list(same_shape.values())

    # ---- images

    def _make_batches(self, work: LoadedJob, members: list[Member]) -> None:
        left = list(members)
        while left:
            size = self._size(work)
            self._make(work, left[:size])
            left = left[size:]

    def _size(self, work: LoadedJob) -> int:
        """The batch size: as planned, or as many as make up one large image; smaller after a memory shortage.

        CPUs gain nothing from larger batches.
        """
        job_plan, stage = work.job.job_plan, work.job.setup.stages[0]
        if job_plan is not None:
            size = job_plan.together
        else:
            pixels = stage.width * stage.height + sum(width * height for width, height in stage.references)
            positions = pixels // stage.sources.vae_factor**2
            size = min(MAX_BATCH_SIZE, max(1, _POSITIONS // positions))
        return min(size, work.pipeline.at_once or size)

    def _make(self, work: LoadedJob, members: Sequence[Member]) -> None:
        """Denoise `members` together; if that fails, retry each alone, so only the one at fault fails."""
        members = [member for member in members if self._read_inputs(work, member)]
        if not members:
            return
        try:
            with translate_errors(), self._events_for(members):
                latents = self._latents(work, members)
        except (Cancelled, DeviceLost):
            raise
        except MezzotintError as error:
            if len(members) == 1:
                members[0].outcome = failed(error)
            for member in members if len(members) > 1 else ():
                self._make(work, [member])
            return
        self._save(work, members, latents)

    def _read_inputs(self, work: LoadedJob, member: Member) -> bool:
        """Whether the member's images could be read; they are read only when needed, as they may be large."""
        with self._isolating_errors(member):
            member.inputs = self._read_images(member.setup, member.request)
            member.record = self._job_record(work.job, work.session.used, member.inputs)
            member.saver = member.saver or Saver(
                request=member.request, setup=member.setup, size=member.inputs.size(member.setup.stages[-1])
            )
        return member.outcome is None

    def _latents(self, work: LoadedJob, members: Sequence[Member]) -> "list[torch.Tensor]":
        if self._cancelled():
            raise Cancelled("stopped between two images")
        latents = work.pipeline.make_together(
            [_required(member.saver).first_seed for member in members],
            [member.inputs for member in members],
            [_required(member.conditioning) for member in members],
        )
        for member in members:
            member.together = min(len(members), work.pipeline.at_once or len(members))
        self._largest_batch = max(self._largest_batch, len(members))
        return latents

    def _save(self, work: LoadedJob, members: Sequence[Member], latents: "Sequence[torch.Tensor]") -> None:
        """Decode and save the images one by one; the latents of those still waiting are on disk too."""
        begun = []
        for member, each in zip(members, latents, strict=True):
            with self._isolating_errors(member):
                undecoded = _required(member.saver).begin(
                    0, work.pipeline.resolved(member.setup.stages), _required(member.record)
                )
                begun.append((member, each, undecoded, self._keep(each, undecoded)))
        try:
            for member, each, undecoded, path in begun:
                with self._isolating_errors(member), self._until_saved(path):
                    member.image = self._finish(work, undecoded, member.inputs, each, member.request)
                member.inputs = InputImages(used=member.inputs.used)
        except Cancelled:
            for *_, path in begun:
                if path is not None:
                    path.unlink(missing_ok=True)
            raise

    # ---- events and outcomes

    @contextmanager
    def _events_for(self, members: Sequence[Member]) -> Iterator[None]:
        """Context manager: events inside are reported to `members`."""
        before, self._event_targets = self._event_targets, list(members)
        try:
            with self._events.about([member.place for member in members]):
                yield
        finally:
            self._event_targets = before

    @contextmanager
    def _isolating_errors(self, member: Member) -> Iterator[None]:
        """Context manager: errors inside fail only `member`."""
        try:
            with translate_errors(), self._events_for([member]):
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
        timings = _share(self._clock.timings(1), len(self._members))
        return {
            member.place: member.outcome or ManyOutcome(result=_result(work, report, timings, member), failure=None)
            for member in self._members
        }


def _result(work: LoadedJob, report: MemoryReport, timings: Timings, member: Member) -> GenerateResult:
    output = JobImages(
        setup=member.setup,
        record=_required(member.record),
        inputs=member.inputs,
        seed=_required(member.saver).first_seed,
        images=(_required(member.image),),
        timings=timings,
        notices=tuple(member.notices),
        together=member.together,
    )
    return result_of(work, report, output)


def _share(timings: Timings, images: int) -> Timings:
    """One image's share of the batch's timings."""
    return Timings(
        load=timings.load / images,
        encode=timings.encode / images,
        denoise=tuple(seconds / images for seconds in timings.denoise),
        decode=timings.decode / images,
        save=timings.save / images,
        total=timings.total / images,
    )


def _required(value: T | None) -> T:
    """Return `value`, which must be known by now."""
    if value is None:
        raise AssertionError("an image was made of a request that was not read")
    return value
