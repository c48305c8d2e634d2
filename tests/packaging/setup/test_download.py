"""Downloads from a server with faults: resumed, compared, never half a file under its name."""

import errno
import socket
import ssl
import urllib.error
from pathlib import Path

import certifi
import pytest
from setup_made import Impatient, sha256

from mezzotint_setup.download import Downloads
from mezzotint_setup.errors import Paused, SetupFailed
from mezzotint_setup.network import Network, system_certificates
from mezzotint_setup.payload import Wheel

CONTENT = bytes(range(256)) * 40


@pytest.fixture
def wheel(server):
    server.folder.mkdir()
    path = server.folder / "torch-1-py3-none-any.whl"
    path.write_bytes(CONTENT)
    return Wheel(
        name="torch",
        version="1",
        filename=path.name,
        url=f"{server.url}/packages/{path.name}",
        size=len(CONTENT),
        sha256=sha256(path),
    )


@pytest.fixture
def get(tmp_path, wheel):
    """Download the wheel, and return the bytes told as progress."""
    folder = tmp_path / "downloads"
    folder.mkdir()

    def call(wheel=wheel, mirrors=(), stop=None, network=None):
        told = []
        downloads = Downloads(folder, network=network or Network(), mirrors=mirrors, stop=stop or Impatient())
        try:
            downloads.fetch([wheel], lambda done, total: told.append(done))
        finally:
            whole = downloads.path(wheel)
            assert not whole.exists() or sha256(whole) == wheel.sha256
        assert told[-1] == len(CONTENT)
        return told

    return call


def part_of(tmp_path, wheel):
    return Downloads(tmp_path / "downloads", network=Network(), mirrors=(), stop=Impatient()).part(wheel)


@pytest.mark.parametrize("cut", [512, 999, 4096, len(CONTENT) - 1])
def test_a_line_that_is_cut_again_and_again_is_resumed(get, server, cut):
    server.faults.cut_after = cut
    told = get()
    assert told == sorted(told)
    ranges = [asked for _, asked in server.faults.asked]
    assert ranges == [None, *(f"bytes={n}-" for n in range(cut, len(CONTENT), cut))]


def test_what_is_there_is_not_asked_for(get, server):
    get()
    server.faults.asked.clear()
    assert get() == [len(CONTENT)] * 2
    assert server.faults.asked == []


def test_a_restart_goes_on_where_it_was_paused(get, server, tmp_path, wheel):
    stop = Impatient()
    server.faults.cut_after = 3000
    checks = iter([False, False, True])
    stop.check = lambda: stop_now() if next(checks, True) else None

    def stop_now():
        raise Paused

    with pytest.raises(Paused):
        get(stop=stop)
    assert part_of(tmp_path, wheel).stat().st_size == 3000
    server.faults.cut_after = None
    assert get()[0] == 3000
    assert server.faults.asked[-1][1] == "bytes=3000-"


def test_a_server_without_ranges_sends_it_all_again(get, server, tmp_path, wheel):
    part_of(tmp_path, wheel).write_bytes(b"x" * 100)
    server.faults.ranges = False
    get()


@pytest.mark.parametrize("part", [b"x" * 100, b"x" * len(CONTENT), b"x" * (len(CONTENT) + 5)])
def test_a_part_with_other_bytes_is_dropped(get, tmp_path, wheel, part):
    part_of(tmp_path, wheel).write_bytes(part)
    get()


@pytest.mark.parametrize("content", [CONTENT[::-1], CONTENT[:-1], CONTENT + b"x", b""])
def test_another_file_is_refused_and_a_mirror_asked(get, server, tmp_path, wheel, content):
    server.faults.replaced = content
    with pytest.raises(SetupFailed) as failure:
        get()
    assert failure.value.code == "hash"
    assert list((tmp_path / "downloads").iterdir()) == []
    first, server.faults.replaced, server.faults.statuses = len(server.faults.asked), None, [404]
    get(mirrors=[f"{server.url}/mirror/"])
    assert [path for path, _ in server.faults.asked[first:]] == [
        f"/packages/{wheel.filename}",
        f"/mirror/packages/{wheel.filename}",
    ]


@pytest.mark.parametrize(("status", "code"), [(404, "not_found"), (403, "refused")])
def test_what_a_server_refuses_is_not_tried_again(get, server, status, code):
    server.faults.statuses = [status]
    with pytest.raises(SetupFailed, match=f"answers {status}") as failure:
        get()
    assert failure.value.code == code and len(server.faults.asked) == 1


def test_a_busy_server_is_asked_again(get, server):
    server.faults.statuses = [503, 429, 500]
    get()


class Unreachable(Network):
    """Fails as the system does."""

    def __init__(self, error):
        super().__init__()
        self.error = error

    def open(self, url, first_byte=0):
        raise urllib.error.URLError(self.error)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (socket.gaierror(-2, "Name or service not known"), "no_network"),
        (ConnectionRefusedError("refused"), "no_network"),
        (TimeoutError("timed out"), "no_network"),
        (ssl.SSLCertVerificationError("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed"), "certificate"),
    ],
)
def test_without_network_the_next_step_is_told(get, error, code):
    with pytest.raises(SetupFailed) as failure:
        get(network=Unreachable(error))
    assert failure.value.code == code
    assert ("--wheels" if code == "no_network" else "SSL_CERT_FILE") in failure.value.next_step


def test_a_disk_that_becomes_full_is_told_and_what_is_there_is_kept(get, tmp_path, wheel, server, monkeypatch):
    def full(file, data):
        file.write(data[:700])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched, pytest.raises(SetupFailed) as failure:
        patched.setattr("mezzotint_setup.download._write", full)
        get()
    assert failure.value.code == "no_room"
    assert get()[0] == 700
    assert server.faults.asked[-1][1] == "bytes=700-"


def test_a_folder_that_may_not_be_written(get, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("mezzotint_setup.download.FileIO", refuse)
    with pytest.raises(SetupFailed) as failure:
        get()
    assert failure.value.code == "read_only"


def test_a_proxy_of_the_environment_is_used(get, server, wheel, monkeypatch):
    monkeypatch.setenv("http_proxy", server.url)
    far = Wheel(
        **{name: getattr(wheel, name) for name in wheel.__slots__} | {"url": f"http://files.example/{wheel.filename}"}
    )
    get(far)
    assert server.faults.asked == [(f"http://files.example/{wheel.filename}", None)]


def test_certificates_of_the_system(monkeypatch):
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    monkeypatch.setattr(ssl, "create_default_context", lambda: ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
    bundle = certifi.where()
    pem = Path(bundle).read_text("utf-8")
    first = pem[pem.index("-----BEGIN") : pem.index("-----END CERTIFICATE-----") + 26]
    assert system_certificates("darwin", keychains=lambda: first).cert_store_stats()["x509_ca"] == 1
    assert system_certificates("linux", files=["/nowhere", bundle]).cert_store_stats()["x509_ca"] > 0
    assert system_certificates("linux", files=["/nowhere"]).cert_store_stats()["x509_ca"] == 0
