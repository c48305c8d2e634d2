"""One request of a group, and its images."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from mezzotint.errors import MezzotintError
from mezzotint.protocol import (
    Event,
    Failure,
    GeneratedImage,
    GenerateRequest,
    Loading,
    ManyOutcome,
    OfRequest,
    OnEvent,
    Step,
    Told,
)
from mezzotint.stages.images.input_images import InputImages
from mezzotint.stages.images.saving import JobRecord, Saver
from mezzotint.stages.setup import CascadeSetup

if TYPE_CHECKING:
    from mezzotint.families.family import Conditioning


Place: TypeAlias = tuple[int, int]  # of an image: the request's index, and the image's in it


@dataclass(slots=True, kw_only=True, eq=False)
class Member:
    """The state of one request so far."""

    place: int  # index among the requests
    request: GenerateRequest
    setup: CascadeSetup
    conditionings: "list[Conditioning]" = field(default_factory=list)  # of its prompts, one per stage
    inputs: InputImages = field(default_factory=InputImages)
    record: JobRecord | None = None
    saver: Saver | None = None
    made: dict[int, GeneratedImage] = field(default_factory=dict)  # by index
    together: int = 1  # images in the largest batch that any of its own was in
    notices: list[str] = field(default_factory=list)
    outcome: ManyOutcome | None = None  # set early only if the request failed


class MemberImage(NamedTuple):
    """One image of a request; by default what concerns all of them."""

    member: Member
    number: int = 0  # from 0


def failed(error: MezzotintError) -> ManyOutcome:
    """The outcome of a failed request."""
    return ManyOutcome(result=None, failure=Failure(kind=error.kind, message=str(error)))


class RequestEvents:
    """Forwards events to the requests they concern."""

    def __init__(self, on_event: OnEvent) -> None:
        self._on_event = on_event
        self._places: list[Place] = []

    def __call__(self, event: Event) -> None:
        """Send a step once for each image, other events once for each request, frequent ones only to the first."""
        if isinstance(event, Step):
            for request, index in self._places:
                self._send(request, replace(event, image=index))
            return
        requests = list(dict.fromkeys(request for request, _ in self._places))
        for request in requests[:1] if isinstance(event, Loading) else requests:
            self._send(request, event)

    def _send(self, request: int, event: Event) -> None:
        self._on_event(OfRequest(request=request, event=cast(Told, event)))

    @contextmanager
    def about(self, places: Sequence[Place]) -> Iterator[None]:
        """Context manager: events inside concern the images at `places`."""
        before, self._places = self._places, list(places)
        try:
            yield
        finally:
            self._places = before
