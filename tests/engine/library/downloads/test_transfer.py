"""What is said of a connection that failed."""

import httpx2
import pytest

from mezzotint.library.downloads.sink import Sink
from mezzotint.library.downloads.transfer import told

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
    assert str(told(error, "owner/x")) == words
    assert str(told(error, "owner/x", sink)) == words


@pytest.mark.parametrize("kind", [httpx2.ConnectError, httpx2.ReadError])
def test_what_was_downloaded_is_kept_and_that_is_said(kind, sink):
    sink.write(b"some")
    words = str(told(kind("?", request=REQUEST), "unet/a.safetensors", sink))
    assert words.endswith("; what was downloaded is kept and resumed next time")
