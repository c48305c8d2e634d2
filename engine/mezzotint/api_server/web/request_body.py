"""The JSON in the body of a request, read within the limits."""

import asyncio
import re
import zlib
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from mezzotint.api_server.limits import ByteBudget, Limits
from mezzotint.api_server.refusal import INVALID, Refusal
from mezzotint.codec import parse_json
from mezzotint.errors import ProtocolError

_LENGTH = re.compile(r"[0-9]{1,18}")
_GZIP_NAMES = ("gzip", "x-gzip")
_GZIP = 31  # zlib's number for gzip's header and trailer


class RequestBody:
    """The body of one request."""

    def __init__(self, request: Request, limits: Limits, budget: ByteBudget) -> None:
        """Raises Refusal for a length that is not accepted."""
        self._request, self._limits, self._budget = request, limits, budget
        if request.headers.get("Transfer-Encoding") is not None:
            raise Refusal(411, "length", "a body in chunks is not accepted: send Content-Length")
        self.length = _length(request.headers.get("Content-Length", "0"), limits.body_bytes)

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[Mapping[str, object]]:
        """The JSON object in the body, empty without a body, while its bytes count as held.

        Raises Refusal, and ClientDisconnect for one that is not sent whole.
        """
        with ExitStack() as held:
            held.enter_context(self._budget.taken(self.length))
            yield await self._object(held) if self.length else {}

    async def _object(self, held: ExitStack) -> Mapping[str, object]:
        headers = self._request.headers
        kind = headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise Refusal(415, "media_type", f"the body is {kind[:60]!a}; it must be application/json")
        encoding = headers.get("Content-Encoding", "identity").strip().lower()
        if encoding not in ("identity", *_GZIP_NAMES):
            what = f"the body is encoded as {encoding[:60]!a}; send it as it is, or as gzip"
            raise Refusal(415, "encoding", what, {"Accept-Encoding": "gzip"})
        body = await self._received()
        return await run_in_threadpool(self._parsed, body, held, packed=encoding in _GZIP_NAMES)

    async def _received(self) -> bytes:
        body = bytearray()
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                async for part in self._request.stream():
                    body += part
        except TimeoutError:
            raise Refusal(408, "timeout", "the body is sent too slowly") from None
        return bytes(body)

    def _parsed(self, body: bytes, held: ExitStack, *, packed: bool) -> Mapping[str, object]:
        if packed:
            with self._budget.taken(self._limits.body_bytes):  # it may become as long as that
                body = unpacked(body, self._limits.body_bytes)
            held.enter_context(self._budget.taken(len(body)))
        return json_object(body, self._limits.values)


def unpacked(body: bytes, most: int) -> bytes:
    """The content of a gzip stream; raises Refusal for a damaged one, and for one of more bytes than `most`."""
    unpacker = zlib.decompressobj(wbits=_GZIP)
    try:
        data = unpacker.decompress(body, most + 1)
    except zlib.error:
        raise Refusal(400, "encoding", "the body is not gzip, as its Content-Encoding says") from None
    _checked(len(data), most)
    if not unpacker.eof or unpacker.unused_data:
        raise Refusal(400, "encoding", "the body is not one whole gzip stream")
    return data


def json_object(body: bytes, most: int) -> Mapping[str, object]:
    """Parse a JSON object of at most that many values; raises Refusal for anything else."""
    if body.count(b",") + body.count(b"[") + body.count(b"{") > most:
        raise Refusal(INVALID, "usage", f"the JSON has more than {most} values")
    try:
        data = parse_json(body)
    except ProtocolError as error:
        raise Refusal(INVALID, "usage", str(error)[:300]) from None
    if not isinstance(data, dict):
        raise Refusal(INVALID, "usage", "the body must be a JSON object")
    return data


def _length(said: str, most: int) -> int:
    if not _LENGTH.fullmatch(said):
        raise Refusal(400, "length", "Content-Length must be one whole number")
    return _checked(int(said), most)


def _checked(length: int, most: int) -> int:
    if length > most:
        raise Refusal(413, "too_large", f"the body has {length} bytes; at most {most} are accepted")
    return length
