"""Answers as they are sent: in pieces, so that no client can have one held in memory by taking it slowly."""

import asyncio
import json
from collections.abc import Mapping

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mezzotint.api_server.limits import Limits
from mezzotint.api_server.refusal import Refusal

_PIECE = 1 << 18  # bytes
_SLOWEST = 1 << 20  # bytes per second at which large answers must be taken


class Answer(Response):
    """An answer that must be taken in a time that depends on its length; otherwise the connection ends."""

    def __init__(
        self, body: bytes, limits: Limits, *, kind: str = "application/json", status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(body, status, dict(headers or {}), media_type=kind)
        self._content, self._seconds = body, limits.write_seconds + len(body) / _SLOWEST

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002  as ASGI has it
        """Send it."""
        try:
            async with asyncio.timeout(self._seconds):
                await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
                for start in range(0, len(self._content), _PIECE):
                    piece = self._content[start : start + _PIECE]
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        except TimeoutError:
            scope["state"]["abort"]()


def in_json(
    content: object, limits: Limits, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Answer:  # fmt: skip
    """An answer in JSON."""
    return Answer(json.dumps(content, allow_nan=False).encode("ascii"), limits, status=status, headers=headers)


def refused(refusal: Refusal, limits: Limits) -> Answer:
    """The answer to a request that is refused."""
    return in_json(refusal.content, limits, status=refusal.status, headers=refusal.headers)
