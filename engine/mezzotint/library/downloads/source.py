"""Parse the source of a download: a Hugging Face hub model, one of its files, or a link to a file."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import UsageError
from mezzotint.library.downloads.names import is_confined

HUB = "https://huggingface.co"
HUB_HOSTS = frozenset({"huggingface.co", "www.huggingface.co", "hf.co"})
LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
SUFFIXES = (".safetensors", ".gguf")
_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,127}")
_HOW = "name a model as owner/name, or an https link to a .safetensors or .gguf file"


@dataclass(frozen=True, slots=True, kw_only=True)
class HubSource:
    """A hub model, or one file of it."""

    repository: str  # owner/name
    revision: str | None = None  # None: the newest commit
    file: str | None = None  # None: the files that the model needs


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkSource:
    """A file at a link outside the hub."""

    url: str


Source = HubSource | LinkSource


def source_of(words: str, revision: str | None = None, *, endpoint: str = HUB) -> Source:
    """Parse a source; links to hub pages are read as hub models. Raises UsageError with the expected syntax."""
    words = words.strip().removeprefix("hf://")
    source = _of_url(words, endpoint) if "://" in words else _of_id(words)
    if revision is None:
        return source
    if isinstance(source, LinkSource):
        raise UsageError("a revision belongs to a model of the hub, not to a link")
    if not is_revision(revision):
        raise UsageError(f"'{plain(revision)}' is not a revision; expected a branch, a tag or a commit")
    return HubSource(repository=source.repository, revision=revision, file=source.file)


def is_revision(words: str) -> bool:
    """Whether `words` is a valid branch, tag or commit name."""
    return _REVISION.fullmatch(words) is not None and ".." not in words


def is_safe_url(url: str) -> bool:
    """Whether requests to `url` are encrypted (https) or local, and it contains no credentials."""
    try:
        parts = urlsplit(url)
        local = parts.hostname in LOCAL_HOSTS
    except ValueError:
        return False
    return (
        bool(parts.hostname)
        and parts.username is None
        and (parts.scheme == "https" or (parts.scheme == "http" and local))
    )


def endpoint_of(asked: str | None, environ: Mapping[str, str] = os.environ) -> str:
    """Return the hub or its mirror: `asked`, else HF_ENDPOINT, else the hub. Raises UsageError if it is unsafe."""
    endpoint = (asked or environ.get("HF_ENDPOINT") or HUB).rstrip("/")
    if not is_safe_url(endpoint):
        raise UsageError(
            f"'{plain(endpoint)}' is not the address of a mirror; it must begin with https:// and contain no password"
        )
    return endpoint


def _of_url(words: str, endpoint: str) -> Source:
    if not is_safe_url(words):
        raise UsageError(f"'{plain(words)}' cannot be downloaded: only https links without a password are; {_HOW}")
    parts = urlsplit(words)
    if parts.netloc == urlsplit(endpoint).netloc:
        return _on_hub(words, endpoint) or LinkSource(url=words)
    if parts.hostname in HUB_HOSTS:
        return _on_hub(words, f"https://{parts.hostname}") or LinkSource(url=words)
    return LinkSource(url=words)


def _of_id(words: str) -> HubSource:
    source = _on_hub(f"hf://{words.removesuffix('@')}")
    if source is None:
        raise UsageError(f"'{plain(words)}' is not a name on the hub; {_HOW}")
    return source


def _on_hub(words: str, endpoint: str | None = None) -> HubSource | None:
    """Parse a hub address with huggingface_hub; None if it is not one. Raises UsageError for unsupported ones."""
    from huggingface_hub import parse_hf_uri
    from huggingface_hub.errors import HfUriError

    try:
        uri = parse_hf_uri(words, endpoint)
    except HfUriError:
        return None
    if uri.type != "model" or not is_confined(uri.id):
        raise UsageError(f"'{plain(words)}' is not a model on the hub; {_HOW}")
    if uri.revision is not None and not is_revision(uri.revision):
        raise UsageError(f"'{plain(uri.revision)}' is not a revision; expected a branch, a tag or a commit")
    is_page_of_folder = endpoint is not None and "/tree/" in words
    file = None if is_page_of_folder else uri.path_in_repo or None
    if file is not None and not file.lower().endswith(SUFFIXES):
        raise UsageError(f"'{plain(file)}' is not a model file; only .safetensors and .gguf files are downloaded")
    return HubSource(repository=uri.id, revision=uri.revision, file=file)
