"""uvicorn's connection, with limits that it has not: on the time for a head, and on idle connections."""

import asyncio
import json
import logging
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from mezzotint.api_server.limits import Limits

_UNREADABLE = 400
_log = logging.getLogger("mezzotint.api")


def bounded(limits: Limits) -> type[H11Protocol]:
    """The class of connections with these limits, as uvicorn's configuration takes it."""

    class Bounded(_BoundedConnection):
        pass

    Bounded.limits = limits
    return Bounded


class _BoundedConnection(H11Protocol):
    """Ends a connection that does not send a whole head in time, and the longest idle one of too many.

    After an answer, what the client still sends is read and dropped for a while, so that it sees the answer and not a
    broken connection. `scope["state"]["abort"]` ends the connection of a client that does not take its answer.
    """

    limits: Limits

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Make room for the connection, and wait for its first request."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, "abort": transport.abort}
        self._deadline: asyncio.TimerHandle | None = None
        self._bound()
        self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the deadline."""
        self._forget_deadline()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Take what has arrived; a request that has begun is bounded by the application."""
        super().handle_events()
        self._bound()

    def on_response_complete(self) -> None:
        """Wait for the next request, but not forever."""
        super().on_response_complete()
        self._unset_keepalive_if_required()  # any byte would put it off
        self._bound()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP, as every error is told."""
        body = json.dumps({"error": "http", "detail": msg}).encode("ascii")
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body))), ("Connection", "close")]
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            for event in (
                h11.Response(status_code=_UNREADABLE, headers=headers, reason=b"Bad Request"),
                h11.Data(data=body),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    @property
    def idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def idle_until(self) -> float:
        """When the client's patience is over; infinite while a request is answered."""
        return float("inf") if self._deadline is None else self._deadline.when()

    def _bound(self) -> None:
        if not self.idle or self.transport.is_closing():
            self._forget_deadline()
        elif self._deadline is None:
            sends = self.conn.their_state is h11.SEND_BODY  # what is not wanted
            seconds = self.limits.linger_seconds if sends else self.limits.head_seconds
            self._deadline = self.loop.call_later(seconds, self._give_up)

    def _forget_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        self.transport.abort()

    def _make_room(self) -> None:
        connections: set[Any] = self.connections
        if len(connections) > self.limits.connections:
            longest = min(connections, key=lambda one: one.idle_until)
            _log.info("more than %d connections: one is closed", self.limits.connections)
            connections.discard(longest)
            longest.transport.abort()
