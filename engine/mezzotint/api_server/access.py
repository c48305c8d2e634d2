"""Who may call: the token, and protection from web pages in the user's browser."""

import base64
import hmac
import ipaddress
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from mezzotint.api_server.refusal import Refusal
from mezzotint.errors import UsageError

Header = Callable[[str], str | None]  # a request's header by its name

SHORTEST_TOKEN = 16  # characters
LONGEST_TOKEN = 512
_HOST = re.compile(r"(?:\[([0-9a-f:.]{2,45})\]|([^\s:/?#@\[\]\\]{1,255}))(?::[0-9]{0,5})?")
_LOOPBACK_NAMES = ("localhost", "localhost.")
_WHO = {"WWW-Authenticate": 'Basic realm="mezzotint"'}


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The rules that every request must meet."""

    token: str | None  # None: none is asked for
    hosts: frozenset[str] = frozenset()  # names beside localhost by which this machine may be called
    origins: frozenset[str] = frozenset()  # web pages that may call, such as http://localhost:3000

    def check_source(self, header: Header) -> None:
        """Raise Refusal (403) for a name that is not this machine's, and for a web page that is not allowed.

        A page that has its own name point here (DNS rebinding) can only send that name as the Host.
        """
        host = header("Host")
        if host is None or not self._is_own(_name_in(host)):
            raise Refusal(403, "forbidden", f"the host {_shown(host)} is not this machine: allow it with --allow-host")
        origin = header("Origin")
        crossing = (header("Sec-Fetch-Site") or "none") not in ("none", "same-origin")
        if origin not in self.origins and (origin is not None or crossing):
            raise Refusal(403, "forbidden", f"pages of {_shown(origin)} may not call: allow them with --allow-origin")

    def check_token(self, header: Header) -> None:
        """Raise Refusal (401) without the token, as `Bearer TOKEN` or as the password of basic authentication."""
        if self.token is None:
            return
        given = _given(header("Authorization") or "")
        if not hmac.compare_digest(given, self.token.encode()):
            what = "the token is wrong" if given else "a token is needed"
            raise Refusal(401, "unauthorized", f"{what}: send it as `Authorization: Bearer TOKEN`", _WHO)

    def page_headers(self, header: Header) -> dict[str, str]:
        """The headers by which a browser lets an allowed page read the answer."""
        origin = header("Origin")
        if origin is None or origin not in self.origins:
            return {}
        return {
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Allow-Methods": "GET, POST",
            "Access-Control-Allow-Headers": "Authorization, Content-Type",
            "Vary": "Origin",
        }

    def _is_own(self, name: str) -> bool:
        return name in _LOOPBACK_NAMES or name in self.hosts or _is_address(name)


def new_token() -> str:
    """A token of 256 random bits."""
    return secrets.token_urlsafe(32)


def checked_token(token: str, source: str) -> str:
    """The token without blanks around it; raises UsageError for one that cannot be sent or that can be guessed."""
    token = token.strip()
    if not SHORTEST_TOKEN <= len(token) <= LONGEST_TOKEN or not token.isascii() or not token.isprintable():
        raise UsageError(
            f"the token in {source} has {len(token)} characters; "
            f"it must have {SHORTEST_TOKEN} to {LONGEST_TOKEN}, all of them printable ASCII"
        )
    return token


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine alone."""
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _given(authorization: str) -> bytes:
    scheme, _, value = authorization.partition(" ")
    if scheme.lower() == "bearer":
        return value.strip().encode("utf-8", "replace")
    if scheme.lower() != "basic":
        return b""
    try:
        return base64.b64decode(value.strip().encode(), validate=True).partition(b":")[2]
    except ValueError:
        return b""


def _name_in(host: str) -> str:
    """The name in a Host header, which may end in a port; an IPv6 address has brackets. Empty for anything else."""
    found = _HOST.fullmatch(host.strip().lower())
    return "" if found is None else found[1] or found[2]


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _shown(value: str | None) -> str:
    return "(none)" if value is None else ascii(value[:100])
