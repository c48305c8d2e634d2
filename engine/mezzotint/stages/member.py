"""One request among several that are made together."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

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
    Told,
)
from mezzotint.stages.images.input_images import InputImages
from mezzotint.stages.images.saving import JobRecord, Saver
from mezzotint.stages.setup import CascadeSetup

if TYPE_CHECKING:
    from mezzotint.families.family import Conditioning


@dataclass(slots=True, kw_only=True)
class Member:
    """What is known of it so far."""

    place: int  # among the requests
    request: GenerateRequest
    setup: CascadeSetup
    conditioning: "Conditioning | None" = None  # of its words
    given: InputImages = field(default_factory=InputImages)
    at: JobRecord | None = None
    saver: Saver | None = None
    image: GeneratedImage | None = None
    together: int = 1
    notices: list[str] = field(default_factory=list)
    outcome: ManyOutcome | None = None  # told early only where it came to nothing


def failed(error: MezzotintError) -> ManyOutcome:
    """The outcome of a request that came to nothing."""
    return ManyOutcome(result=None, failure=Failure(kind=error.kind, message=str(error)))


class ToRequests:
    """Tells an event to those requests that it is about."""

    def __init__(self, on_event: OnEvent, places: Sequence[int] = ()) -> None:
        self._on_event, self._places = on_event, list(places)

    def __call__(self, event: Event) -> None:
        """Once for each of them; what comes in quick succession and is about a model, to the first."""
        for place in self._places[:1] if isinstance(event, Loading) else self._places:
            self._on_event(OfRequest(request=place, event=cast(Told, event)))

    @contextmanager
    def about(self, places: Sequence[int]) -> Iterator[None]:
        """Inside, events are about these."""
        before, self._places = self._places, list(places)
        try:
            yield
        finally:
            self._places = before
