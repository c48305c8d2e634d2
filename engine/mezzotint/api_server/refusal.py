"""An answer other than 200: its status, and the JSON that every error has, {"error", "detail"}."""

from collections.abc import Mapping

from mezzotint.errors import (
    Busy,
    Cancelled,
    DeviceLost,
    ImageRefused,
    MezzotintError,
    ModelRefused,
    NoDevice,
    OutOfMemory,
    ProtocolError,
    StorageError,
    UsageError,
)

INVALID = 422
TRY_LATER = 503
RETRY_AFTER = {"Retry-After": "5"}  # seconds

_STATUS: Mapping[type[MezzotintError], int] = {  # the first that fits
    UsageError: INVALID,
    ModelRefused: INVALID,
    ImageRefused: INVALID,
    ProtocolError: INVALID,
    OutOfMemory: 507,
    StorageError: 507,
    NoDevice: TRY_LATER,
    DeviceLost: TRY_LATER,
    Busy: TRY_LATER,
    Cancelled: TRY_LATER,
}


class Refusal(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: int, kind: str, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.kind, self.detail, self.headers = status, kind, detail, dict(headers or {})

    @property
    def content(self) -> dict[str, str]:
        """The JSON of the answer."""
        return {"error": self.kind, "detail": self.detail}


def invalid(field: str, why: str) -> Refusal:
    """The refusal of a field's value."""
    return Refusal(INVALID, "usage", f"{field}: {why}")


def busy(why: str) -> Refusal:
    """The refusal of a request that may succeed later."""
    return Refusal(TRY_LATER, "busy", why, RETRY_AFTER)


def refusal_of(error: MezzotintError) -> Refusal:
    """The answer to an error of the engine."""
    status = next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 500)
    return Refusal(status, error.kind, str(error), RETRY_AFTER if status == TRY_LATER else None)
