"""The outcomes of images made in a batch: for each a result or an error."""

from collections.abc import Callable
from typing import TypeAlias

from mezzotint import errors
from mezzotint.errors import MezzotintError, ProtocolError
from mezzotint.protocol import Event, GenerateManyResult, GenerateResult, ManyOutcome, OfRequest, OnEvent

Outcome: TypeAlias = GenerateResult | MezzotintError
OnEventOf = Callable[[int, Event], None]  # takes the index of a request in its batch, and its event


def outcomes_of(answer: GenerateManyResult, count: int) -> list[Outcome]:
    """Return the outcomes in the order of the requests. Raises ProtocolError if their number differs from `count`."""
    if len(answer.outcomes) != count:
        raise ProtocolError(f"{count} images were requested together, but {len(answer.outcomes)} were returned")
    return [_outcome(one) for one in answer.outcomes]


def _outcome(one: ManyOutcome) -> Outcome:
    if one.result is not None:
        return one.result
    if one.failure is None:
        return MezzotintError("neither an image nor an error was returned: try again")
    return error_of(one.failure.kind, one.failure.message)


def error_of(kind: str, message: str) -> MezzotintError:
    """Recreate an error from another process, with its own class if that is known here."""
    kinds = {
        one.kind: one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, MezzotintError)
    }
    found = kinds.get(kind, MezzotintError)(message)
    found.kind = kind
    return found


def dispatch_by_request(on_event: OnEventOf, count: int) -> OnEvent:
    """Return a listener that dispatches events by request; events of no single request go to the first."""

    def dispatch(event: Event) -> None:
        if not isinstance(event, OfRequest):
            on_event(0, event)
        elif 0 <= event.request < count:
            on_event(event.request, event.event)

    return dispatch
