"""What the window asks of a process: a question now, its answer later, never a wait."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

Then = Callable[[Any], None]
Failed = Callable[["Failure"], None]
OnEvent = Callable[[Any], None]  # an Event; of the queue's drain a DrainEvent

GONE = "gone"  # the process ended before it answered
NOT_RUNNING = "not_running"  # and is not started again


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why there is no answer."""

    kind: str  # of a MezzotintError, or GONE, or NOT_RUNNING
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingCall:
    """A call that is not answered yet, and who is to be told."""

    method: str
    params: object = None
    answer: object = None  # the type that the result is decoded to; None: left as it is
    then: Then | None = None
    failed: Failed | None = None
    on_event: OnEvent | None = None


class Service(Protocol):
    """A process that answers; callbacks come later and on the window's thread, never inside `ask`."""

    def ask(
        self,
        method: str,
        params: object = None,
        *,
        answer: object = None,
        then: Then | None = None,
        failed: Failed | None = None,
        on_event: OnEvent | None = None,
    ) -> int:
        """Ask; the result is decoded to the type `answer` (None: left as it is). Returns the call's number."""
        ...

    def cancel(self, call: int) -> None:
        """Stop a job: its `failed` then tells "cancelled". A call that has ended is left alone."""
        ...
