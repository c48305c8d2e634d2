"""HTTP/1.1 over Python's own server, with bounds on memory, time and connections."""

import io
import json
import logging
import os
import re
import socket
import socketserver
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl

from mezzotint.api_server.access import Access
from mezzotint.api_server.api import Api, ApiRequest
from mezzotint.api_server.jobs import bug
from mezzotint.api_server.limits import ByteBudget, Limits
from mezzotint.api_server.reading_stream import BoundedInput
from mezzotint.api_server.refusal import INVALID, Refusal
from mezzotint.codec import parse_json
from mezzotint.errors import ProtocolError, UsageError
from mezzotint.trouble import meaning

_FIRST_LINE = 65_537  # bytes; BaseHTTPRequestHandler refuses longer ones
_CHUNK = 1 << 20  # bytes written, and unwanted bytes read, at once
_SLOWEST = 1 << 20  # bytes per second at which large answers must be taken
_ACCEPTED_AHEAD = 256  # connections that the system holds while all threads are busy
_POLL = 0.1  # seconds
_LENGTH = re.compile(r"[0-9]{1,18}")
_SECURITY = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}

_log = logging.getLogger("mezzotint.api")


class ApiHttpServer(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """A thread for each connection, up to a number; further connections wait to be accepted."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = os.name != "nt"  # on Windows others could then take the port
    request_queue_size = _ACCEPTED_AHEAD

    def __init__(self, address: tuple[str, int], api: Api, access: Access, limits: Limits | None = None) -> None:
        """Raises UsageError if the address cannot be used."""
        self.api, self.access, self.limits = api, access, limits or Limits()
        self.bodies = ByteBudget(self.limits.bodies_bytes)
        self.ending = threading.Event()
        self._free, self._counting = threading.Semaphore(self.limits.connections), threading.Condition()
        self._answering = 0
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        try:
            super().__init__(address, _Handler)
        except (OSError, OverflowError) as error:
            why = meaning(error) if isinstance(error, OSError) else "there is no such port"
            raise UsageError(f"port {address[1]} of {address[0]} cannot be used: {why}") from error

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401  as socketserver has it
        """Wait for a free thread."""
        while not self._free.acquire(timeout=_POLL):
            if self.ending.is_set():
                return self.shutdown_request(request)
        try:
            super().process_request(request, client_address)
        except RuntimeError:  # the system gives no more threads
            self._free.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Serve a connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002
        """Log what ended a connection; most often the client did."""
        _log.debug("the connection of %s ended", client_address, exc_info=True)

    @contextmanager
    def answering(self) -> Iterator[None]:
        """While a request is answered, the server does not end."""
        with self._counting:
            self._answering += 1
        try:
            yield
        finally:
            with self._counting:
                self._answering -= 1
                self._counting.notify_all()

    def wait_for_answers(self, seconds: float) -> None:
        """Wait until every request that is being answered has its answer."""
        with self._counting:
            self._counting.wait_for(lambda: not self._answering, seconds)


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: ApiHttpServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self) -> None:
        """Put bounds on what is read."""
        super().setup()
        self.rfile.close()
        self._input = BoundedInput(self.connection)
        self.rfile = io.BufferedReader(self._input)
        self._unread = False  # whether the client may still be sending what is not wanted

    def handle_one_request(self) -> None:
        """Read and answer one request."""
        limits = self.server.limits
        self._input.allow(_FIRST_LINE + limits.head_bytes, limits.head_seconds)
        self._waits_to_send = False
        super().handle_one_request()
        if self.server.ending.is_set():
            self.close_connection = True

    def finish(self) -> None:
        """Read what the client still sends, for a while, so that it sees the answer and not a broken connection."""
        if self._unread:
            with suppress(OSError):
                self.connection.shutdown(socket.SHUT_WR)
                self._linger()
        super().finish()

    def _linger(self) -> None:
        end, buffer = time.monotonic() + self.server.limits.linger_seconds, bytearray(_CHUNK)
        while (left := end - time.monotonic()) > 0:
            self.connection.settimeout(left)
            if not self.connection.recv_into(buffer):
                return

    # ---- answers

    def _respond(self) -> None:
        with self.server.answering():
            try:
                content = self._content()
            except Refusal as refusal:
                self._write(refusal.status, refusal.content, refusal.headers)
            except TimeoutError as error:
                self._write(408, {"error": "timeout", "detail": str(error)}, {})
            except ConnectionError:
                raise
            except Exception as error:  # noqa: BLE001  the log has the traceback, the client has none
                _log.exception("bug in %s", self.command)
                self._write(500, bug(error).content, {})
            else:
                self._write(200, content, {})

    do_GET = do_POST = do_OPTIONS = do_HEAD = do_PUT = do_DELETE = do_PATCH = _respond  # noqa: N815

    def _content(self) -> object:
        access, (path, _, query) = self.server.access, self.path.partition("?")
        self._unread = True  # until all of it is read
        self._check_framing()
        access.check_source(self.headers.get)
        if self.command == "OPTIONS":
            self._unread = self._length() > 0
            return None
        access.check_token(self.headers.get)
        endpoint = self.server.api.endpoint(self.command, path)
        length = self._length()
        with self.server.bodies.taken(length):
            data = self._object(length)
            self._unread = False
            return endpoint(ApiRequest(query=dict(parse_qsl(query)), data=data, gone=self._is_gone))

    def _check_framing(self) -> None:
        """Refuse a body whose length is not said once and for all."""
        if self.headers.get("Transfer-Encoding") is not None:
            raise Refusal(411, "length", "a body in chunks is not accepted: send Content-Length")
        self._length()

    def _length(self) -> int:
        lengths = self.headers.get_all("Content-Length", ["0"])
        if len(lengths) != 1 or not _LENGTH.fullmatch(lengths[0]):
            raise Refusal(400, "length", "Content-Length must be one whole number")
        length, most = int(lengths[0]), self.server.limits.body_bytes
        if length > most:
            raise Refusal(413, "too_large", f"the body has {length} bytes; at most {most} are accepted")
        return length

    def _object(self, length: int) -> Mapping[str, object]:
        """The JSON object in the body; empty without a body."""
        if not length:
            return {}
        kind = self.headers.get_content_type()
        if kind != "application/json":
            raise Refusal(415, "media_type", f"the body is {kind[:60]!a}; it must be application/json")
        data = _parsed(self._body(length), self.server.limits.values)
        if not isinstance(data, dict):
            raise Refusal(INVALID, "usage", "the body must be a JSON object")
        return data

    def _body(self, length: int) -> bytes:
        if self._waits_to_send:
            self.send_response_only(100)
            self.end_headers()
        self._input.allow(length, self.server.limits.body_seconds)
        body = self.rfile.read(length)
        if len(body) < length:
            raise ConnectionError("the client closed the connection before it had sent all")
        return body

    def _is_gone(self) -> bool:
        """Whether the client has closed the connection."""
        try:
            self.connection.settimeout(0)
            return not self.connection.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def _write(self, status: int, content: object, headers: Mapping[str, str]) -> None:
        body = json.dumps(content, allow_nan=False).encode("ascii")
        self.connection.settimeout(self.server.limits.write_seconds)
        self.request_version = self.protocol_version  # also for what is not HTTP: a browser must see the status
        self.send_response(status)
        if self._unread:
            self.close_connection = True
        pages = self.server.access.page_headers(self.headers.get) if hasattr(self, "headers") else {}
        ending = {"Connection": "close"} if self.close_connection else {}
        typed = {"Content-Type": "application/json", "Content-Length": str(len(body))}
        for name, value in (_SECURITY | typed | pages | ending | dict(headers)).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self._write_body(body)

    def _write_body(self, body: bytes) -> None:
        """Write an answer, which a client may not take arbitrarily slowly: it is held in memory meanwhile."""
        end = time.monotonic() + self.server.limits.write_seconds + len(body) / _SLOWEST
        for start in range(0, len(body), _CHUNK):
            self.connection.settimeout(max(_POLL, end - time.monotonic()))
            self.wfile.write(body[start : start + _CHUNK])

    # ---- what BaseHTTPRequestHandler asks for

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """Refuse a request that cannot be parsed."""
        code = 405 if code == 501 else code  # a method that no endpoint has
        self._unread, self.close_connection = True, True
        words = message or self.responses.get(code, ("not a request",))[0]
        self._write(code, {"error": "http", "detail": words}, {})

    def handle_expect_100(self) -> bool:
        """Let the client send its body only once its headers are accepted."""
        self._waits_to_send = True
        return True

    def version_string(self) -> str:
        """Say nothing about versions."""
        return "mezzotint"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class's name
        """Log a request; its address may contain control characters."""
        _log.info("%s", ascii(format % args))


def _parsed(body: bytes, most: int) -> object:
    if body.count(b",") + body.count(b"[") + body.count(b"{") > most:
        raise Refusal(INVALID, "usage", f"the JSON has more than {most} values")
    try:
        return parse_json(body)
    except ProtocolError as error:
        raise Refusal(INVALID, "usage", str(error)[:300]) from None
