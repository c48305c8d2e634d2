"""Network access: https only, and the user's token only for the host that issued it."""

import os
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mezzotint import __version__
from mezzotint.errors import DownloadFailed
from mezzotint.library.downloads.source import HUB_HOSTS, LOCAL_HOSTS, is_safe_url

if TYPE_CHECKING:
    from ssl import SSLContext

TIMEOUT = 30.0  # seconds without an answer
MOST_REDIRECTS = 10


def prepare_client(first_url: str) -> None:
    """Install an HTTP client for huggingface_hub that refuses unsafe URLs, redirects included."""
    # huggingface_hub's default client also follows redirects to plain http, and has no timeout.
    import httpx2
    from huggingface_hub import set_client_factory

    local = urlsplit(first_url).hostname in LOCAL_HOSTS

    def check(request: httpx2.Request) -> None:
        url = str(request.url)
        if not is_safe_url(url) or (request.url.scheme == "http" and not local):
            where = f"{request.url.scheme}://{request.url.host}"
            raise DownloadFailed(f"the server redirects to {where}, which is not secure: only https is followed")

    def make() -> httpx2.Client:
        return httpx2.Client(
            event_hooks={"request": [check]},
            follow_redirects=True,
            max_redirects=MOST_REDIRECTS,
            timeout=TIMEOUT,
            verify=_certificates(),
        )

    set_client_factory(make)


@cache
def _certificates() -> "SSLContext":
    """Return the system's trusted certificates; cached, since loading them takes a tenth of a second."""
    import httpx2

    return httpx2.create_ssl_context()


def headers(token: str | None) -> dict[str, str]:
    """Return the headers of every request."""
    base = {
        "User-Agent": f"mezzotint/{__version__}",
        "Accept-Encoding": "identity",
    }  # so that sizes and ranges are those of the file
    return base if token is None else {**base, "Authorization": f"Bearer {token}"}


def token_for(
    endpoint: str, given: str | None, *, environment: bool, environ: Mapping[str, str] = os.environ
) -> str | None:
    """Return the token that may be sent to the endpoint.

    A given token goes to the endpoint it was given for. HF_TOKEN goes to the hub, or to the mirror named by the same
    environment. The token of the hub's login goes only to the hub.
    """
    if given:
        return given
    at_hub = urlsplit(endpoint).hostname in HUB_HOSTS
    if not at_hub and not environment:
        return None
    if at_hub:
        from huggingface_hub import get_token

        return get_token()
    return environ.get("HF_TOKEN") or None
