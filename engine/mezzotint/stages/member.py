"""One request of a batch."""

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
    """The state of one request so far."""

    place: int  # index among the requests
    request: GenerateRequest
    setup: CascadeSetup
    conditioning: "Conditioning | None" = None  # of its prompts
    inputs: InputImages = field(default_factory=InputImages)
    record: JobRecord | None = None
    saver: Saver | None = None
    image: GeneratedImage | None = None
    together: int = 1
    notices: list[str] = field(default_factory=list)
    outcome: ManyOutcome | None = None  # set early only if the request failed


def failed(error: MezzotintError) -> ManyOutcome:
    """The outcome of a failed request."""
    return ManyOutcome(result=None, failure=Failure(kind=error.kind, message=str(error)))


class RequestEvents:
    """Forwards events to the requests they concern."""

    def __init__(self, on_event: OnEvent, places: Sequence[int] = ()) -> None:
        self._on_event, self._places = on_event, list(places)

    def __call__(self, event: Event) -> None:
        """Send `event` once for each current request; frequent events about a model only to the first."""
        for place in self._places[:1] if isinstance(event, Loading) else self._places:
            self._on_event(OfRequest(request=place, event=cast(Told, event)))

    @contextmanager
    def about(self, places: Sequence[int]) -> Iterator[None]:
        """Context manager: events inside concern the requests `places`."""
        before, self._places = self._places, list(places)
        try:
            yield
        finally:
            self._places = before
