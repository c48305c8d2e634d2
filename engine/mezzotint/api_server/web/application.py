"""The endpoints over HTTP: who may ask, where to, what is read of a request, and how its answer is sent."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mezzotint.api_server.access import Access
from mezzotint.api_server.api import PREFIX, Api, ApiRequest, Endpoint, Page
from mezzotint.api_server.jobs import ApiJob, bug
from mezzotint.api_server.limits import ByteBudget, Limits
from mezzotint.api_server.refusal import Refusal
from mezzotint.api_server.web.answers import Answer, in_json, refused
from mezzotint.api_server.web.request_body import RequestBody

_SECURITY = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
}

_log = logging.getLogger("mezzotint.api")


def application(api: Api, access: Access, limits: Limits | None = None) -> ASGIApp:
    """All endpoints, behind what every request must meet."""
    limits = limits or Limits()
    return _Guarded(_Served(api, limits).routed(), access, limits)


class _Guarded:
    """What every request must meet, and the headers that every answer has."""

    def __init__(self, app: ASGIApp, access: Access, limits: Limits) -> None:
        self._app, self._access, self._limits = app, access, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        _log.info("%s", ascii(f"{request.method} {_path(request)}"))
        headers = _SECURITY | self._access.page_headers(request.headers.get)
        extra = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *extra]}
            await send(message)

        try:
            app = self._admitted(request)
        except Refusal as refusal:
            app = refused(refusal, self._limits)
        await app(scope, receive, sending)

    def _admitted(self, request: Request) -> ASGIApp:
        self._check_head(request)
        self._access.check_source(request.headers.get)
        if request.method == "OPTIONS":
            return in_json(None, self._limits)
        self._access.check_token(request.headers.get)
        request.scope["path"] = request.scope["path"].rstrip("/") or "/"
        return self._app

    def _check_head(self, request: Request) -> None:
        """Refuse what the parser lets pass; a head that arrived in one piece may be longer than it allows."""
        if request.scope["http_version"] not in ("1.0", "1.1"):
            raise Refusal(505, "http", "HTTP of another version than 1.0 and 1.1 is not understood")
        size = len(request.scope["raw_path"]) + len(request.scope["query_string"])
        size += sum(len(name) + len(value) for name, value in request.headers.raw)
        if size > self._limits.head_bytes or len(request.headers.raw) > self._limits.headers:
            most = f"{self._limits.headers} headers and {self._limits.head_bytes} bytes"
            raise Refusal(431, "too_large", f"the head of the request is too long; at most {most} are accepted")


class _Served:
    """Requests that may be made, from their body to their answer."""

    def __init__(self, api: Api, limits: Limits) -> None:
        self._api, self._limits, self._budget = api, limits, ByteBudget(limits.bodies_bytes)

    def routed(self) -> ASGIApp:
        """The application with a route for each endpoint."""
        routes = [
            Route(path, self._handler(endpoint), methods=[method])
            for path, methods in self._api.endpoints.items()
            for method, endpoint in methods.items()
        ]
        handlers = {404: self._nowhere, 405: self._wrong_method}
        app = Starlette(routes=routes, exception_handlers=handlers)  # type: ignore[arg-type]
        app.router.redirect_slashes = False
        return app

    def _handler(self, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
        async def handle(request: Request) -> Response:
            try:
                return await self._answer(endpoint, request)
            except Refusal as refusal:
                return refused(refusal, self._limits)
            except ClientDisconnect:
                return Response()  # nobody is there to read it
            except Exception as error:  # noqa: BLE001  the log has the traceback, the client has none
                _log.exception("bug in %s", ascii(_path(request)))
                return refused(bug(error), self._limits)

        return handle

    async def _answer(self, endpoint: Endpoint, request: Request) -> Response:
        async with RequestBody(request, self._limits, self._budget).taken() as data:
            asked = ApiRequest(data, dict(request.query_params))
            found = await run_in_threadpool(endpoint, asked)
            if isinstance(found, ApiJob):
                found = await self._job(found, request)
        if isinstance(found, Page):
            return Answer(found.html.encode(), self._limits, kind="text/html")
        return await run_in_threadpool(in_json, found, self._limits)

    async def _job(self, job: ApiJob, request: Request) -> object:
        watching = asyncio.create_task(_cancel_if_gone(job, request)) if self._api.cancel_if_gone else None
        try:
            return await asyncio.shield(asyncio.wrap_future(job.answer))
        finally:
            if watching is not None:
                watching.cancel()

    async def _nowhere(self, request: Request, _: HTTPException) -> Response:
        where = Refusal(
            404, "not_found", f"there is nothing at {_path(request)!a}; the API is below {PREFIX}, /docs describes it"
        )
        return refused(where, self._limits)

    async def _wrong_method(self, request: Request, error: HTTPException) -> Response:
        allowed = ", ".join(self._api.endpoints.get(request.scope["path"], {}))
        detail = f"{request.method[:20]!a} is not for {_path(request)!a}: {allowed}"
        return refused(Refusal(error.status_code, "method", detail, {"Allow": allowed}), self._limits)


def _path(request: Request) -> str:
    return str(request.scope["path"])[:100]  # a URL cannot be made of every one


async def _cancel_if_gone(job: ApiJob, request: Request) -> None:
    """Cancel a job once its client has closed the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    job.cancel()
