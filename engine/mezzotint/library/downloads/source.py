"""What a person names to be fetched: a model of the Hugging Face hub, one file of it, or a link to a file."""

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
    """A model of the hub, or one file of it."""

    repository: str  # owner/name
    revision: str | None = None  # None: the newest
    file: str | None = None  # None: what of it a model needs


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkSource:
    """A file at a link outside the hub."""

    url: str


Source = HubSource | LinkSource


def source_of(words: str, revision: str | None = None, *, endpoint: str = HUB) -> Source:
    """What the words name; UsageError says how to write it. Links to the hub's pages are read as its models."""
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
    """Whether it could be a branch, a tag or a commit."""
    return _REVISION.fullmatch(words) is not None and ".." not in words


def is_safe_url(url: str) -> bool:
    """Whether all that goes there is unreadable on the way: https, or this machine; and it holds no password."""
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
    """The hub, or its mirror: asked for, or that of HF_ENDPOINT; UsageError when it would be read on the way."""
    endpoint = (asked or environ.get("HF_ENDPOINT") or HUB).rstrip("/")
    if not is_safe_url(endpoint):
        raise UsageError(
            f"'{plain(endpoint)}' is not the address of a mirror; it must begin with https:// and contain no password"
        )
    return endpoint


def _of_url(words: str, endpoint: str) -> Source:
    if not is_safe_url(words):
        raise UsageError(f"'{plain(words)}' cannot be fetched: only https links without a password are; {_HOW}")
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
    """What huggingface_hub reads in an address; None where it is none of the hub's."""
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
