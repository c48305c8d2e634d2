"""HTTP as friends and foes speak it."""

import contextlib
import gzip
import http.client
import json
import socket
import threading
import time
from dataclasses import replace

import pytest
from api_made import PATIENCE, TOKEN, Served
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from mezzotint.api_server.access import Access
from mezzotint.api_server.limits import Limits
from mezzotint.api_server.web.http_server import ApiHttpServer
from mezzotint.errors import UsageError

MEGABYTE = 1 << 20
SMALL = Limits(body_bytes=MEGABYTE, bodies_bytes=2 * MEGABYTE)
HASTY = replace(SMALL, head_seconds=0.3, body_seconds=0.3, linger_seconds=0.3)


@pytest.fixture
def small(tmp_path):
    """A server that takes little at once."""
    with Served(tmp_path / "out", limits=SMALL) as server:
        yield server


@pytest.fixture
def hasty(tmp_path):
    """A server that soon loses patience."""
    with Served(tmp_path / "out", limits=HASTY) as server:
        yield server


def raw(server, data, *, finish=False):
    """What a connection that sends these bytes receives until its end."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        connection.sendall(data)
        if finish:
            connection.shutdown(socket.SHUT_WR)
        received = b""
        while part := connection.recv(65536):
            received += part
    return received


def head(line="POST /sdapi/v1/txt2img HTTP/1.1", **headers):
    lines = [line, "Host: localhost", f"Authorization: Bearer {TOKEN}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def refused(answer, status):
    assert answer.status == status
    assert set(answer.json) == {"error", "detail"} and answer.json["detail"]
    assert "Traceback" not in answer.text and TOKEN not in answer.text
    return answer.json["detail"]


def test_the_token_is_needed_for_everything(served):
    for method, path in (("GET", "options"), ("POST", "txt2img"), ("GET", "/"), ("GET", "none"), ("DELETE", "options")):
        assert "token" in refused(served.call(method, path, token=None), 401)
        assert "wrong" in refused(served.call(method, path, token="x" * 20), 401)
    assert served.engine.requests == []


def test_other_hosts_and_pages_are_refused_before_the_token_is_looked_at(served):
    refused(served.call("GET", "options", token=None, Host="evil.example"), 403)
    refused(served.call("POST", "txt2img", {"prompt": "x"}, Origin="http://evil.example"), 403)
    refused(served.call("OPTIONS", "txt2img", token=None, Origin="http://evil.example"), 403)
    assert served.engine.requests == []


def test_an_allowed_page_asks_first_and_then_reads(tmp_path):
    access = Access(token=TOKEN, origins=frozenset({"http://localhost:3000"}))
    with Served(tmp_path, access=access) as server:
        asked = server.call("OPTIONS", "txt2img", token=None, Origin="http://localhost:3000")
        assert asked.status == 200 and "Authorization" in asked.headers["Access-Control-Allow-Headers"]
        answer = server.call("GET", "options", Origin="http://localhost:3000")
        assert answer.headers["Access-Control-Allow-Origin"] == "http://localhost:3000"
        assert server.call("GET", "options").headers["Access-Control-Allow-Origin"] is None


def test_wrong_places_and_methods(served):
    assert "/sdapi/v1/" in refused(served.call("GET", "/"), 404)
    refused(served.call("GET", "../../../etc/passwd"), 404)
    answer = served.call("GET", "txt2img")
    refused(answer, 405)
    assert answer.headers["Allow"] == "POST"
    refused(served.call("PUT", "options"), 405)
    assert b" 405 " in raw(served, head("BREW /sdapi/v1/options HTTP/1.1", Connection="close"))
    assert "describes images" in refused(served.call("POST", "interrogate", {"image": ""}), 404)


def test_bodies_that_are_not_json(served):
    refused(served.call("POST", "txt2img", body=b"prompt=x", Content_Type="application/x-www-form-urlencoded"), 415)
    deep = (b"[" * 50_000, b'{"a":' * 9_000)
    endless = (b'{"a": NaN}', b'{"seed": 1e999}', b'{"a": [{"b": -1e400}]}')
    for body in (b"{", b"\xff", b'{"a": 1, "a": 2}', b"[]", b"3", b'"x"', *endless, *deep):
        refused(served.call("POST", "txt2img", body=body, Content_Type="application/json"), 422)
    many = b"[" + b"[]," * 100_001 + b"[]]"
    assert "100000 values" in refused(served.call("POST", "txt2img", body=many, Content_Type="application/json"), 422)
    huge = b'{"seed": ' + b"9" * 5000 + b"}"
    refused(served.call("POST", "txt2img", body=huge, Content_Type="application/json"), 422)
    assert served.engine.requests == []


def test_a_body_of_100_megabytes_is_refused_before_it_is_read(served):
    answer = served.call("POST", "txt2img", body=bytes(100 * MEGABYTE), Content_Type="application/json")
    assert "at most 67108864" in refused(answer, 413)
    said = raw(served, head(Content_Length=100 * MEGABYTE), finish=True)
    assert b" 413 " in said.partition(b"\r\n")[0]


def test_a_body_in_chunks_is_refused(served):
    chunks = head(Transfer_Encoding="chunked") + b"fffffff\r\n" + bytes(MEGABYTE)
    assert b" 411 " in raw(served, chunks, finish=True).partition(b"\r\n")[0]


@pytest.mark.parametrize("length", ["-1", "x", "1e3", "+5", "\xb2", "5, 6", "0" * 30 + "5"])
def test_lengths_that_are_none(served, length):
    assert b" 400 " in raw(served, head(Content_Length=length)).partition(b"\r\n")[0]


def test_two_lengths_are_refused(served):
    request = head(Content_Length="2").replace(b"\r\n\r\n", b"\r\nContent-Length: 3\r\n\r\n")
    assert b" 400 " in raw(served, request).partition(b"\r\n")[0]


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", b" 431 "),
        (head(X="y" * 70_000), b" 431 "),
        (head(X="y" * 700_000), b" 400 "),
        (head().replace(b"\r\n\r\n", b"".join(b"\r\nX%d: y" % n for n in range(120)) + b"\r\n\r\n"), b" 431 "),
        (head().replace(b"\r\nHost", b"\r\nno colon\r\nHost"), b" 400 "),
        (head().replace(b"\r\nAuth", b"\r\n folded\r\n\tOrigin: x\r\nAuth").replace(b"Host", b"Host "), b" 400 "),
        (b"nonsense\r\n\r\n", b" 400 "),
        (b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n", b" 505 "),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n", b" 400 "),
    ],
    ids=["line", "header", "endless header", "headers", "colon", "blank", "nonsense", "version", "tls"],
)
def test_heads_that_cannot_be_parsed(served, data, status):
    with contextlib.suppress(OSError):  # of what is still sent to an end that has closed
        said = raw(served, data, finish=True)
        assert status in said.partition(b"\r\n")[0]
        assert b"Traceback" not in said and b'{"error": ' in said
    assert served.call("GET", "options").status == 200


def test_slow_senders_are_not_waited_for(hasty):
    assert raw(hasty, b"GET /sdapi") == b""
    assert raw(hasty, b"") == b""
    assert b" 408 " in raw(hasty, head(Content_Length=10, Content_Type="application/json") + b"{")


def test_a_trickle_does_not_extend_the_time(hasty):
    for begin in (b"", head("GET /sdapi/v1/options HTTP/1.1", Content_Length=100_000)[:-2], head(Content_Length=9_000)):
        with socket.create_connection(("127.0.0.1", hasty.port), timeout=PATIENCE) as connection:
            began = time.monotonic()
            connection.sendall(begin)
            with contextlib.suppress(OSError):
                while time.monotonic() - began < PATIENCE:
                    connection.sendall(b"x")
                    time.sleep(0.02)
            assert time.monotonic() - began < PATIENCE


def test_half_open_connections_do_not_make_others_wait(tmp_path):
    limits = Limits(connections=4, head_seconds=PATIENCE)
    with Served(tmp_path, limits=limits) as server, contextlib.ExitStack() as opened:
        address = ("127.0.0.1", server.port)
        held = [opened.enter_context(socket.create_connection(address, timeout=PATIENCE)) for _ in range(12)]
        for connection in held:
            with contextlib.suppress(OSError):
                connection.sendall(b"GET /sdapi/v1/opt")
        assert server.call("GET", "options").status == 200
        with contextlib.suppress(ConnectionError):
            assert held[0].recv(1) == b""  # the oldest had to go


def test_a_client_that_does_not_take_its_answer_is_left(tmp_path):
    with Served(tmp_path, limits=Limits(write_seconds=0.1, head_seconds=0.1)) as server:
        server.api.endpoints["/sdapi/v1/options"]["GET"] = lambda _: "x" * 30_000_000
        with socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect(("127.0.0.1", server.port))
            connection.settimeout(PATIENCE)
            connection.sendall(head("GET /sdapi/v1/options HTTP/1.1"))
            while server.http.connections:
                time.sleep(0.005)
        assert server.call("GET", "samplers").status == 200


@pytest.mark.parametrize("name", ["gzip", "x-gzip", "GZIP", "identity"])
def test_bodies_may_be_packed(served, name):
    body = json.dumps({"prompt": "a house", "steps": 3}).encode()
    body = body if name == "identity" else gzip.compress(body)
    answer = served.call("POST", "txt2img", body=body, Content_Type="application/json", Content_Encoding=name)
    assert answer.status == 200 and served.engine.requests[-1].prompt == "a house"


@pytest.mark.parametrize(
    ("name", "body", "status"),
    [
        ("gzip", b"{}", 400), ("gzip", gzip.compress(b"{}")[:-1], 400), ("gzip", gzip.compress(b"{}") * 2, 400),
        ("gzip", gzip.compress(b" " * 3 * MEGABYTE), 413), ("br", b"{}", 415), ("gzip, gzip", b"{}", 415),
    ],
    ids=["plain", "cut", "several", "bomb", "brotli", "twice"],
)  # fmt: skip
def test_packed_bodies_that_are_refused(small, name, body, status):
    refused(small.call("POST", "txt2img", body=body, Content_Type="application/json", Content_Encoding=name), status)


def test_bodies_of_all_requests_together_are_bounded(small):
    body = json.dumps({"prompt": "slow", "x": "y" * 700_000}).encode()

    def ask():
        return small.call("POST", "txt2img", body=body, Content_Type="application/json")

    sent = [threading.Thread(target=ask) for _ in range(2)]
    for thread in sent:
        thread.start()
    while small.jobs.running is None or small.jobs.waiting < 1:
        time.sleep(0.005)
    answer = ask()
    assert answer.headers["Retry-After"] and "leave no room" in refused(answer, 503)
    small.engine.let_go.set()
    for thread in sent:
        thread.join(PATIENCE)


def test_a_connection_is_kept_and_its_requests_are_answered_in_order(served):
    with contextlib.closing(served.connect()) as connection:
        for _ in range(3):
            connection.request("GET", "/sdapi/v1/options", headers={"Authorization": f"Bearer {TOKEN}"})
            assert json.load(connection.getresponse())["samples_format"] == "png"
    heads = head("GET /sdapi/v1/options HTTP/1.1") + head("HEAD /sdapi/v1/samplers HTTP/1.1", Connection="close")
    assert raw(served, heads).count(b"HTTP/1.1 200") == 2


def test_a_client_that_waits_with_its_body_is_told_to_go_on(served):
    body = b'{"prompt": "a house"}'
    request = head(Content_Length=len(body), Content_Type="application/json", Expect="100-continue")
    with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as connection:
        connection.sendall(request)
        assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
        connection.sendall(body)
        assert connection.recv(15) == b"HTTP/1.1 200 OK"
    expecting = request.replace(b"Bearer", b"Wrong")
    with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as connection:
        connection.sendall(expecting)
        assert connection.recv(13) == b"HTTP/1.1 401 "


def test_120_requests_at_once_all_get_an_answer(tmp_path):
    with Served(tmp_path / "out", limits=Limits(waiting_jobs=8)) as server:
        found = []

        def ask():
            found.append(server.call("POST", "txt2img", {"prompt": "slow", "width": 64, "height": 64}))

        threads = [threading.Thread(target=ask) for _ in range(120)]
        for thread in threads:
            thread.start()
        while len(found) < 111:
            time.sleep(0.005)
        server.engine.let_go.set()
        for thread in threads:
            thread.join(PATIENCE)
        statuses = [answer.status for answer in found]
        assert statuses.count(200) == 9 and statuses.count(503) == 111
        assert all(answer.headers["Retry-After"] for answer in found if answer.status == 503)
        assert len(server.engine.requests) == 9


def test_a_client_that_goes_leaves_the_server_working(served):
    request = head(Content_Length=500, Content_Type="application/json")
    for data in (b"", request[:20], request, request + b'{"prompt": "a'):
        with socket.create_connection(("127.0.0.1", served.port)) as connection:
            connection.sendall(data)
    body = b'{"prompt": "a house"}'
    with socket.create_connection(("127.0.0.1", served.port)) as connection:
        connection.sendall(head(Content_Length=len(body), Content_Type="application/json") + body)
    assert served.call("GET", "options").status == 200


@pytest.mark.parametrize("cancels", [False, True])
def test_the_job_of_a_client_that_goes_ends_if_that_is_wanted(tmp_path, cancels):
    with Served(tmp_path, cancel_if_gone=cancels) as server:
        connection = server.connect()
        body = json.dumps({"prompt": "slow"})
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        connection.request("POST", "/sdapi/v1/txt2img", body, headers)
        assert server.engine.running.wait(PATIENCE)
        job = server.jobs.running
        connection.close()
        if cancels:
            while server.jobs.running:
                time.sleep(0.005)
        else:
            assert not job.cancelled
        assert job.cancelled == cancels


def test_a_client_that_waits_is_not_gone(tmp_path):
    with Served(tmp_path, cancel_if_gone=True) as server:
        looks = []
        original = server.jobs.submit

        def submit(job):
            original(job)
            looks.append(job)

        server.jobs.submit = submit
        waiting = threading.Thread(target=server.call, args=("POST", "txt2img", {"prompt": "slow"}))
        waiting.start()
        while not looks:
            time.sleep(0.005)
        assert server.engine.running.wait(PATIENCE)
        server.engine.let_go.set()
        waiting.join(PATIENCE)
        assert not looks[0].cancelled


def test_it_ends_though_clients_keep_their_connections(tmp_path):
    with Served(tmp_path, limits=Limits(head_seconds=PATIENCE)) as server, contextlib.ExitStack() as opened:
        address = ("127.0.0.1", server.port)
        first, second, _ = (opened.enter_context(socket.create_connection(address)) for _ in range(3))
        first.sendall(head("GET /sdapi/v1/options HTTP/1.1"))
        assert first.recv(100)  # it may send another one
        second.sendall(b"GET /sdapi")
        server.http.stop(PATIENCE)
        assert not server.http.connections


def test_a_bug_is_told_without_its_traceback(served, caplog):
    served.api.endpoints["/sdapi/v1/samplers"]["GET"] = None
    detail = refused(served.call("POST", "txt2img", {"prompt": "bug"}), 500)
    assert "ValueError" in detail and "nobody thought of this" not in detail
    assert "nobody thought of this" in caplog.text
    refused(served.call("GET", "samplers"), 500)


def test_a_port_that_is_taken_or_does_not_exist(served):
    for address in (("127.0.0.1", served.port), ("127.0.0.1", 70_000), ("192.0.2.1", 0)):
        with pytest.raises(UsageError, match="cannot be used"):
            ApiHttpServer(address, served.api)


def test_it_says_nothing_of_itself(served):
    answer = served.call("GET", "options")
    assert answer.headers["Server"] == "mezzotint" and answer.headers["Cache-Control"] == "no-store"
    assert isinstance(http.client.responses[answer.status], str)


lines = some.sampled_from(
    ["GET /sdapi/v1/options", "POST /sdapi/v1/txt2img", "GET //[", "OPTIONS *", "POST /%00?%zz=&&"]
)
headers = some.dictionaries(
    some.sampled_from(["Host", "Origin", "Authorization", "Content-Length", "Content-Type", "Expect", "Connection"]),
    some.text(some.characters(min_codepoint=32, max_codepoint=255), max_size=20),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(some.binary(max_size=200) | some.tuples(lines, headers, some.binary(max_size=50)))
def test_whatever_is_sent_the_server_has_an_answer_and_goes_on(served, sent):
    if isinstance(sent, tuple):
        line, more, body = sent
        values = {"Host": "localhost", "Authorization": f"Bearer {TOKEN}"} | more
        sent = "\r\n".join([f"{line} HTTP/1.1", *(f"{name}: {value}" for name, value in values.items())])
        sent = sent.encode("latin-1") + b"\r\n\r\n" + body
    said = raw(served, sent, finish=True)
    assert b" 500 " not in said and b"Traceback" not in said
    assert served.call("GET", "options").status == 200
