"""The port: uvicorn in a thread of its own, with bounds on memory, time and connections."""

import os
import socket
import threading
import time

import uvicorn
from starlette.types import ASGIApp

from mezzotint.api_server.limits import Limits
from mezzotint.api_server.web.bounded_connection import bounded
from mezzotint.errors import UsageError
from mezzotint.trouble import meaning

_ACCEPTED_AHEAD = 256  # connections that the system holds until they are accepted
_POLL = 0.005  # seconds, of waiting for the first request to be possible
_NEVER = 3600  # seconds; `stop` says how long answers are waited for


class ApiHttpServer:
    """Serves an application from `start` to `stop`; the port is taken from the beginning."""

    def __init__(self, address: tuple[str, int], app: ASGIApp, limits: Limits | None = None) -> None:
        """Raises UsageError if the address cannot be used."""
        limits = limits or Limits()
        self._socket = _listening(address)
        self.address: tuple[str, int] = self._socket.getsockname()[:2]
        config = uvicorn.Config(
            app,
            http=bounded(limits),
            loop="asyncio",
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            log_level="critical",  # the application logs for itself
            access_log=False,
            proxy_headers=False,
            server_header=False,
            headers=[("Server", "mezzotint")],
            backlog=_ACCEPTED_AHEAD,
            timeout_graceful_shutdown=_NEVER,
            h11_max_incomplete_event_size=limits.head_bytes,
        )
        self._server = uvicorn.Server(config)
        sockets = [self._socket]
        self._thread = threading.Thread(target=self._server.run, args=(sockets,), name="api", daemon=True)

    def start(self) -> None:
        """Answer requests."""
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            time.sleep(_POLL)

    @property
    def connections(self) -> int:
        """The number of connections."""
        return len(self._server.server_state.connections)

    def begin_to_stop(self) -> None:
        """Accept no more; requests that are being answered get their answer."""
        self._server.should_exit = True

    def stop(self, seconds: float) -> None:
        """Close the port, once every request has its answer or that time is over."""
        self.begin_to_stop()
        if self._thread.is_alive():
            self._thread.join(seconds)
            self._server.force_exit = True
            self._thread.join(seconds)
        self._socket.close()


def _listening(address: tuple[str, int]) -> socket.socket:
    made = socket.socket(socket.AF_INET6 if ":" in address[0] else socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name != "nt":  # on Windows others could then take the port
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(_ACCEPTED_AHEAD)
    except (OSError, OverflowError) as error:
        made.close()
        why = meaning(error) if isinstance(error, OSError) else "there is no such port"
        raise UsageError(f"port {address[1]} of {address[0]} cannot be used: {why}") from error
    return made
