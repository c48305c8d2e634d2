"""The server from its start to its end."""

import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from mezzotint.api_server.access import Access, is_loopback
from mezzotint.api_server.api import Api, Models
from mezzotint.api_server.jobs import ApiJobs
from mezzotint.api_server.limits import Limits
from mezzotint.api_server.refusal import Refusal
from mezzotint.api_server.web.application import application
from mezzotint.api_server.web.http_server import ApiHttpServer
from mezzotint.api_server.work import Generates
from mezzotint.api_server.working_folder import WorkingFolder
from mezzotint.errors import UsageError

_POLL = 0.1  # seconds
_LAST_STEP = 60.0  # seconds that the running job has to end
_LAST_ANSWERS = 2.0  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeSettings:
    """How to serve."""

    output: Path
    access: Access
    host: str = "127.0.0.1"
    port: int = 7860  # 0: any free one
    model: str | None = None
    cancel_if_gone: bool = False
    limits: Limits = field(default_factory=Limits)


def check_host(host: str, token: str | None) -> None:
    """Raise UsageError for an address that others reach without a token."""
    if token is None and not is_loopback(host):
        raise UsageError(f"without a token only this machine may be served: leave out --no-token, or --host {host}")


def serve(
    settings: ServeSettings,
    catalog: Models,
    make_engine: Callable[[], Generates],
    should_stop: Callable[[], bool],
    on_ready: Callable[[str], None],
) -> bool:
    """Serve until `should_stop()`; `on_ready` gets the URL. Returns whether the last job ended in time.

    Raises UsageError for what cannot be served, DeviceLost once no job can run in this process any more.
    """
    with WorkingFolder(settings.output) as folder, closing(make_engine()) as engine:
        jobs = ApiJobs(settings.limits.waiting_jobs)
        server = _server(settings, _api(settings, catalog, engine, folder, jobs))
        server.start()
        try:
            on_ready(_url(server))
            while not should_stop() and jobs.lost is None:
                time.sleep(_POLL)
        finally:
            ended = _stop(server, jobs)
    if jobs.lost is not None:
        raise jobs.lost
    return ended


def _api(settings: ServeSettings, catalog: Models, engine: Generates, folder: WorkingFolder, jobs: ApiJobs) -> Api:
    flags: Mapping[str, object] = {"listen": not is_loopback(settings.host), "port": settings.port, "nowebui": True}
    try:
        return Api(
            catalog, engine, folder, jobs, model=settings.model, cancel_if_gone=settings.cancel_if_gone, flags=flags
        )  # fmt: skip
    except Refusal as refusal:
        raise UsageError(f"--{refusal.detail}") from None


def _server(settings: ServeSettings, api: Api) -> ApiHttpServer:
    app = application(api, settings.access, settings.limits)
    return ApiHttpServer((settings.host, settings.port), app, settings.limits)


def _url(server: ApiHttpServer) -> str:
    host, port = server.address
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}"


def _stop(server: ApiHttpServer, jobs: ApiJobs) -> bool:
    """Accept no more, cancel the jobs, give their clients the answer, and close the port."""
    server.begin_to_stop()
    ended = jobs.close(_LAST_STEP)
    server.stop(_LAST_ANSWERS)
    return ended
