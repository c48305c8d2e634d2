"""Run several requests: compatible ones as batches, the others alone."""

from collections.abc import Hashable, Sequence
from typing import cast

from mezzotint.errors import Cancelled, DeviceLost, MezzotintError, UsageError
from mezzotint.images.naming import check_output
from mezzotint.protocol import (
    SCHEMA_VERSION,
    Event,
    GenerateManyRequest,
    GenerateManyResult,
    GenerateRequest,
    IsCancelled,
    ManyOutcome,
    OfRequest,
    OnEvent,
    Told,
)
from mezzotint.stages.details.job import job_of
from mezzotint.stages.error_translation import translate_errors
from mezzotint.stages.group import Group
from mezzotint.stages.images.input_images import image_size
from mezzotint.stages.job import EngineResources
from mezzotint.stages.member import Member, RequestEvents, failed
from mezzotint.stages.setup import set_up
from mezzotint.stages.together import batch_key

MAX_REQUESTS = 64  # requests per call


class Many:
    """Requests in progress; one that fails does not affect the others."""

    def __init__(
        self, request: GenerateManyRequest, resources: EngineResources, on_event: OnEvent, cancelled: IsCancelled
    ) -> None:
        self._requests, self._resources = request.requests, resources
        self._on_event, self._cancelled = on_event, cancelled
        self._outcomes: dict[int, ManyOutcome] = {}

    def run(self) -> GenerateManyResult:
        """Run all requests; Cancelled and DeviceLost end all that remain."""
        if not 1 <= len(self._requests) <= MAX_REQUESTS:
            raise UsageError(f"{len(self._requests)} requests were given; allowed are 1 to {MAX_REQUESTS}")
        keys = [batch_key(request) for request in self._requests]
        for place, key in enumerate(keys):
            if key is None:
                self._run_alone(place, self._requests[place])
        for members in self._groups(keys):
            self._raise_if_cancelled()
            if sum(member.request.count for member in members) > 1:
                self._run_batch(members)
            else:
                self._run_alone(members[0].place, members[0].request)
        return GenerateManyResult(
            schema_version=SCHEMA_VERSION,
            outcomes=tuple(self._outcomes[place] for place in range(len(self._requests))),
        )

    def _groups(self, keys: Sequence[Hashable | None]) -> list[list[Member]]:
        """Group the requests that may be batched, by first occurrence; refused ones get their outcome here."""
        groups: dict[Hashable, list[Member]] = {}
        for place, (key, request) in enumerate(zip(keys, self._requests, strict=True)):
            if key is None:
                continue
            self._raise_if_cancelled()
            try:
                with translate_errors():
                    known = self._resources
                    setup = set_up(request, known.find, known.default_model, image_size, known.find_upscaler)
                    check_output(request.output, request.count)
            except DeviceLost:
                raise
            except MezzotintError as error:
                self._outcomes[place] = failed(error)
                continue
            sizes = tuple((stage.width, stage.height) for stage in setup.stages)  # init images may decide the size
            groups.setdefault((key, sizes), []).append(Member(place=place, request=request, setup=setup))
        return list(groups.values())

    def _run_batch(self, members: list[Member]) -> None:
        group = Group(members, self._resources, RequestEvents(self._on_event), self._cancelled)
        try:
            with translate_errors():
                outcomes = group.make()
        except (Cancelled, DeviceLost):
            raise
        except MezzotintError as error:  # before the first image: the error applies to all
            outcomes = {member.place: failed(error) for member in members}
        self._outcomes.update(outcomes)

    def _run_alone(self, place: int, request: GenerateRequest) -> None:
        self._raise_if_cancelled()

        def on_event(event: Event) -> None:
            self._on_event(OfRequest(request=place, event=cast(Told, event)))

        try:
            with translate_errors():
                result = job_of(request, self._resources, on_event, self._cancelled).run()
        except (Cancelled, DeviceLost):
            raise
        except MezzotintError as error:
            self._outcomes[place] = failed(error)
        else:
            self._outcomes[place] = ManyOutcome(result=result, failure=None)

    def _raise_if_cancelled(self) -> None:
        if self._cancelled():
            raise Cancelled(f"stopped after {len(self._outcomes)} of {len(self._requests)} requests")
