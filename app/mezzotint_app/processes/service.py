"""The interface for calling a process asynchronously."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

Then = Callable[[Any], None]
Failed = Callable[["Failure"], None]
OnEvent = Callable[[Any], None]  # a JobEvent

GONE = "gone"  # the process ended before it answered
NOT_RUNNING = "not_running"  # the process is not running and will not be restarted


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a call failed."""

    kind: str  # that of a MezzotintError, or GONE or NOT_RUNNING
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingCall:
    """An unanswered call and its callbacks."""

    method: str
    params: object = None
    answer: object = None  # the type that the result is decoded to; None: not decoded
    then: Then | None = None
    failed: Failed | None = None
    on_event: OnEvent | None = None


class Service(Protocol):
    """A process that answers calls; callbacks run later on the window's thread, never inside `ask`."""

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
        """Make a call and return its number; the result is decoded to the type `answer` (None: not decoded)."""
        ...

    def cancel(self, call: int) -> None:
        """Stop a job, which calls `failed` with kind "cancelled". A call that has ended is ignored."""
        ...
