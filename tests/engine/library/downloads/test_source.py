"""What may be named, and what may be reached."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mezzotint.errors import UsageError
from mezzotint.library.downloads.source import HubSource, LinkSource, endpoint_of, is_safe_url, source_of


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("owner/name", HubSource(repository="owner/name")),
        ("owner/name@", HubSource(repository="owner/name")),
        (" owner/name ", HubSource(repository="owner/name")),
        ("owner/name@v1.0", HubSource(repository="owner/name", revision="v1.0")),
        ("owner/name/a.safetensors", HubSource(repository="owner/name", file="a.safetensors")),
        ("owner/name/tree/a.gguf", HubSource(repository="owner/name", file="tree/a.gguf")),
        ("owner/name/sub/a.GGUF", HubSource(repository="owner/name", file="sub/a.GGUF")),
        ("owner/name@v1/a.gguf", HubSource(repository="owner/name", revision="v1", file="a.gguf")),
        ("hf://owner/name@v1/a.gguf", HubSource(repository="owner/name", revision="v1", file="a.gguf")),
        ("owner/name@refs/pr/3", HubSource(repository="owner/name", revision="refs/pr/3")),
        ("https://huggingface.co/owner/name", HubSource(repository="owner/name")),
        ("https://www.huggingface.co/owner/name", HubSource(repository="owner/name")),
        ("https://hf.co/owner/name/tree/v2/unet", HubSource(repository="owner/name", revision="v2")),
        ("https://hf.co/owner/name/tree/v2", HubSource(repository="owner/name", revision="v2")),
        (
            "https://huggingface.co/owner/name/resolve/main/a%20b.safetensors?download=true",
            HubSource(repository="owner/name", revision="main", file="a b.safetensors"),
        ),
        ("https://mirror.example/owner/name", HubSource(repository="owner/name")),
        ("https://mirror.example/a.gguf", LinkSource(url="https://mirror.example/a.gguf")),
        ("https://mirror.example:8/owner/name", LinkSource(url="https://mirror.example:8/owner/name")),
        ("https://example.org/a.safetensors", LinkSource(url="https://example.org/a.safetensors")),
        ("http://127.0.0.1:8000/a.gguf", LinkSource(url="http://127.0.0.1:8000/a.gguf")),
    ],
)
def test_what_is_meant(words, expected):
    assert source_of(words, endpoint="https://mirror.example") == expected


def test_a_revision_beside_the_name():
    assert source_of("owner/name", "v1") == HubSource(repository="owner/name", revision="v1")
    with pytest.raises(UsageError, match="not to a link"):
        source_of("https://example.org/a.gguf", "v1")


@pytest.mark.parametrize(
    "words",
    [
        "",
        "name",
        "owner/",
        "/name",
        "../name",
        "owner/..",
        "owner/nul",
        "owner/name.",
        "owner/name@../x",
        "owner/name/a.ckpt",
        "owner/name/run.py",
        "owner/name/a.pt",
        "owner/name/a.bin",
        "datasets/owner/name",
        "hf://datasets/owner/name",
        "hf://hf://owner/name",
        "http://example.org/a.safetensors",
        "ftp://example.org/a.safetensors",
        "file:///etc/passwd",
        "https://user:password@example.org/a.safetensors",
        "https://",
        "https://[::1/a",
    ],
)
def test_what_cannot_be_meant(words):
    with pytest.raises(UsageError):
        source_of(words)


@given(st.text(max_size=60))
@example("https://huggingface.co/a/b/resolve/main/../../x.safetensors")
def test_whatever_is_written_is_a_source_or_a_mistake(words):
    try:
        source = source_of(words)
    except UsageError as error:
        assert str(error).isprintable()
    else:
        assert isinstance(source, HubSource) or is_safe_url(source.url)


@pytest.mark.parametrize("url", ["http://example.org", "https://u@example.org", "example.org", "https://u:p@x"])
def test_a_mirror_that_would_be_read_on_the_way(url):
    with pytest.raises(UsageError, match="mirror"):
        endpoint_of(url, {})
    with pytest.raises(UsageError):
        endpoint_of(None, {"HF_ENDPOINT": url})


def test_which_mirror():
    assert endpoint_of(None, {}) == "https://huggingface.co"
    assert endpoint_of(None, {"HF_ENDPOINT": "https://m.example/"}) == "https://m.example"
    assert endpoint_of("https://asked.example", {"HF_ENDPOINT": "https://m.example"}) == "https://asked.example"
    assert endpoint_of(None, {"HF_ENDPOINT": "http://localhost:80"}) == "http://localhost:80"
