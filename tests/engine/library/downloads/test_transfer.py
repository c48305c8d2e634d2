"""Files that break off and are gone on with, and what is said of a connection that failed."""

import errno
import re
from pathlib import Path

import httpx2
import pytest
from fetched_here import children, fetched_here  # noqa: F401
from model_server import Served

from mezzotint import paths
from mezzotint.catalog import Catalog
from mezzotint.errors import AccessRefused, DownloadFailed, StorageError
from mezzotint.library.downloads import transfer as download_transfer
from mezzotint.library.downloads.download import get
from mezzotint.library.downloads.net import MOST_REDIRECTS
from mezzotint.library.downloads.partial import key_of
from mezzotint.library.downloads.sink import Sink
from mezzotint.library.downloads.transfer import download_error
from mezzotint.library_protocol import GetRequest

DATA = bytes(range(256)) * 100
KEY = "9a9451c7434180a506609cc55bf886072c893dbb"  # by which any version keeps what came of DATA
FILE = "big.safetensors"
REQUEST = httpx2.Request("GET", "https://huggingface.co/api/models/owner/x?signature=secret")


@pytest.fixture
def sink(tmp_path):
    path = tmp_path / "part"
    path.touch()
    with Sink(path, 100) as made:
        yield made


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            httpx2.ConnectError("no such name", request=REQUEST),
            "owner/x: no connection to huggingface.co: check the internet connection",
        ),
        (
            httpx2.ConnectTimeout("too long", request=REQUEST),
            "owner/x: no connection to huggingface.co: check the internet connection",
        ),
        (httpx2.ConnectError("?"), "owner/x: no connection to the server: check the internet connection"),
        (httpx2.ReadTimeout("?", request=REQUEST), "owner/x: the connection failed (ReadTimeout): try again later"),
    ],
)
def test_without_a_connection_a_check_says_so_and_nothing_of_parts(error, words, sink):
    assert str(download_error(error, "owner/x")) == words
    assert str(download_error(error, "owner/x", sink)) == words


@pytest.mark.parametrize("kind", [httpx2.ConnectError, httpx2.ReadError])
def test_what_was_downloaded_is_kept_and_that_is_said(kind, sink):
    sink.write(b"some")
    words = str(download_error(kind("?", request=REQUEST), "unet/a.safetensors", sink))
    assert words.endswith("; what was downloaded is kept and resumed next time")


@pytest.fixture
def served(model_server, monkeypatch):
    """A model of the hub that is one file."""
    monkeypatch.setenv("HF_ENDPOINT", model_server.url)
    model_server.add("owner/big").files[FILE] = Served(DATA)
    return model_server


def fetch(source="owner/big", tell=lambda _: None):
    return Path(get(GetRequest(source=source), Catalog.standard, tell, lambda: False, free=lambda _: 2**40).path)


def left_by_an_earlier_version(name, data):
    """The folder of a download that was interrupted."""
    folder = paths.models_folder() / f".mezzotint-{FILE}.part"
    folder.mkdir(parents=True)
    (folder / "lock").touch()
    (folder / name).write_bytes(data)


@pytest.mark.parametrize(("there", "right"), [(20_000, True), (20_000, False), (30_000, True)])
def test_what_an_earlier_version_began_is_gone_on_with(served, there, right):
    """Where it turns out to be wrong or is too long, it is begun anew."""
    left_by_an_earlier_version(f"{KEY}.0123456789ab.part", (DATA * 2)[:there] if right else bytes(there))
    assert fetch().read_bytes() == DATA
    assert served.sent(FILE) == len(DATA) - (there if there < len(DATA) else 0) + (0 if right else len(DATA))


def test_what_an_earlier_version_fetched_whole_is_not_fetched_again(served):
    left_by_an_earlier_version(f"{KEY}.whole", DATA)
    assert fetch().read_bytes() == DATA
    assert served.sent(FILE) == 0


def test_what_lies_there_whole_and_is_damaged_is_fetched_again(served):
    left_by_an_earlier_version(f"{KEY}.whole", bytes(len(DATA)))
    assert fetch().read_bytes() == DATA


def test_a_disk_that_is_full_is_told_and_what_came_is_gone_on_with(served, monkeypatch):
    write = Sink.write

    def refuse(self, data):
        if self.size:
            raise OSError(errno.ENOSPC, "full")
        return write(self, data)

    with monkeypatch.context() as patch:
        patch.setattr(Sink, "write", refuse)
        patch.setattr(download_transfer, "CHUNK", 1000)
        with pytest.raises(StorageError, match="the disk is full: free some space"):
            fetch()
    before = served.sent(FILE)
    assert fetch().read_bytes() == DATA
    assert served.sent(FILE) - before == len(DATA) - 1000


def test_a_link_whose_content_cannot_be_told_again_is_begun_anew(model_server):
    """Nothing would show that the rest belongs to what came before."""
    url = model_server.link(f"/{FILE}", DATA, etag=None)
    left_by_an_earlier_version(f"{key_of(url, '', len(DATA))}.0123456789ab.part", bytes(20_000))
    assert fetch(url).read_bytes() == DATA


@pytest.mark.parametrize(
    ("status", "words", "tries"),
    [
        (404, "no longer exists (the server answers 404)", 1),
        (403, "is gated: accept its licence", 1),
        (400, "the server answers 400: try again later", 1),
        (503, "the server answers 503: try again later", 2),
    ],
)
def test_what_a_server_answers_instead_of_the_file(served, status, words, tries):
    served.repositories["owner/big"].files[FILE].status = status
    with pytest.raises((DownloadFailed, AccessRefused), match=re.escape(words)):
        fetch()
    assert [one.path.endswith(FILE) for one in served.asked].count(True) == tries


def test_a_fault_of_the_server_that_passes(served):
    file = served.repositories["owner/big"].files[FILE]
    file.status, file.status_times = 503, 1
    assert fetch().read_bytes() == DATA


def test_a_server_that_cannot_go_on_from_there(served):
    """It holds less than what came before, for once."""
    left_by_an_earlier_version(f"{KEY}.0123456789ab.part", DATA[:20_000])
    file = served.repositories["owner/big"].files[FILE]
    file.sends, file.sends_times = bytes(100), 1
    assert fetch().read_bytes() == DATA


def test_redirects_are_bounded(model_server):
    url = model_server.link("/round.safetensors", b"", location="/round.safetensors")
    with pytest.raises(DownloadFailed, match="TooManyRedirects"):
        fetch(url)
    assert len(model_server.asked) == MOST_REDIRECTS + 1


def test_all_is_told_in_bytes_and_the_check_of_sums_by_name(served):
    events = []
    fetch(tell=events.append)
    assert {event.unit for event in events} == {"bytes"}
    assert (events[-1].what, events[-1].done, events[-1].total) == (f"checking {FILE}", len(DATA), len(DATA))


def test_what_follows_a_link_is_never_logged(model_server, caplog, capfd, children):  # noqa: F811
    """It can be a signature; huggingface_hub would log it with each try that breaks off."""
    caplog.set_level("DEBUG")
    data = DATA * 10
    url = model_server.link(f"/{FILE}", data, cut_after=100_000)
    assert fetch(f"{url}?signature=secret").read_bytes() == data
    written = capfd.readouterr()
    assert "secret" not in caplog.text + written.out + written.err
