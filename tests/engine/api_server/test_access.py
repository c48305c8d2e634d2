"""Who may call."""

import base64

import pytest

from mezzotint.api_server.access import Access, checked_token, is_loopback, new_token
from mezzotint.api_server.refusal import Refusal
from mezzotint.errors import UsageError

TOKEN = "a token of many characters"


NOT_HOSTS = (
    "127.0.0.1:x@evil.example",
    "[::1]evil.example",
    "localhost:7860.evil.example",
    "a@localhost",
    "[::1",
    "::1",
)


def basic(password, user="me"):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def refused(check, **headers):
    with pytest.raises(Refusal) as refusal:
        check({name.replace("_", "-"): value for name, value in headers.items()}.get)
    return refusal.value


@pytest.mark.parametrize("given", [f"Bearer {TOKEN}", f"bearer  {TOKEN}", basic(TOKEN), basic(TOKEN, "")])
def test_the_token_opens(given):
    Access(token=TOKEN).check_token({"Authorization": given}.get)


@pytest.mark.parametrize(
    "given",
    ["", TOKEN, "Bearer", "Bearer x", f"Bearer {TOKEN}x", "Bearer \xe9", f"Digest {TOKEN}", basic("x"), "Basic %%%"],
)
def test_nothing_else_does(given):
    refusal = refused(Access(token=TOKEN).check_token, Authorization=given)
    assert refusal.status == 401 and refusal.headers["WWW-Authenticate"].startswith("Basic")
    assert TOKEN not in refusal.detail


def test_without_a_token_everyone_may():
    Access(token=None).check_token({}.get)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:7860", "127.0.0.1:1", "[::1]:7860", "192.168.0.7", "desk"])
def test_names_of_this_machine(host):
    Access(token=TOKEN, hosts=frozenset({"desk"})).check_source({"Host": host}.get)


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:7", "localhost.evil.example", "127.0.0.1.nip.io", "", *NOT_HOSTS]
)
def test_a_name_that_was_pointed_here_is_refused(host):
    refusal = refused(Access(token=None).check_source, Host=host)
    assert refusal.status == 403 and "--allow-host" in refusal.detail


def test_a_request_without_a_host_is_refused():
    assert refused(Access(token=None).check_source).status == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:3000/"},
        {"Origin": "https://localhost:3000"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_pages_of_other_origins_are_refused(headers):
    access = Access(token=None, origins=frozenset({"http://localhost:3000"}))
    refusal = refused(access.check_source, Host="localhost", **headers)
    assert refusal.status == 403 and "--allow-origin" in refusal.detail


def test_an_allowed_page_may_call_and_read():
    access = Access(token=None, origins=frozenset({"http://localhost:3000"}))
    headers = {"Host": "localhost", "Origin": "http://localhost:3000", "Sec-Fetch-Site": "same-site"}
    access.check_source(headers.get)
    assert access.page_headers(headers.get)["Access-Control-Allow-Origin"] == "http://localhost:3000"
    assert access.page_headers({"Origin": "http://evil.example"}.get) == access.page_headers({}.get) == {}


def test_tokens_are_long_and_different():
    assert len({new_token() for _ in range(10)}) == 10
    assert checked_token(new_token(), "here") and checked_token(f" {TOKEN}\n", "here") == TOKEN


@pytest.mark.parametrize("token", ["", "short", "x" * 600, "é" * 20, "a token\nin several lines"])
def test_tokens_that_can_be_guessed_or_not_be_sent(token):
    with pytest.raises(UsageError, match="the token in here has"):
        checked_token(token, "here")


def test_loopback():
    assert all(map(is_loopback, ("127.0.0.1", "127.9.9.9", "::1", "localhost")))
    assert not any(map(is_loopback, ("0.0.0.0", "192.168.0.7", "::", "desk", "")))
