"""Search a hub for image models by name. Runs in the fetching process; answers are bounded and checked."""

import time
from typing import Any

from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.strict_json import parse_json_list
from mezzotint.errors import DownloadFailed, ModelRefused
from mezzotint.library.downloads.messages import HubEntries, HubEntry, SearchHub
from mezzotint.library.downloads.names import is_confined
from mezzotint.library.downloads.net import TIMEOUT, headers, prepare_client
from mezzotint.library.downloads.transfer import download_error

MOST_FOUND = 20  # models of each kind
MAX_ANSWER = 4 * 2**20
PATIENCE = 60.0  # seconds for a whole answer
# What image models are tagged with on the hub; the third is for ComfyUI's files.
_KINDS = ("text-to-image", "image-to-image", "diffusion-single-file")
_FIELDS = ("downloads", "gated", "tags", "usedStorage")
_ADAPTERS = ("lora", "controlnet", "textual_inversion", "base_model:adapter:")
_MOST_TAGS = 200
_LONGEST_TAG = 150
_LICENCE = "license:"


def search(asked: SearchHub) -> HubEntries:
    """Return the models whose names have the words, without those that only adapt others. Raises DownloadFailed."""
    prepare_client(asked.endpoint)
    found = {}
    for kind in _KINDS:
        for item in _ask(asked, kind)[:MOST_FOUND]:
            entry = _entry(item)
            if entry is not None:
                found[entry.id] = entry
    return HubEntries(entries=tuple(sorted(found.values(), key=lambda one: (-(one.downloads or 0), one.id))))


def _ask(asked: SearchHub, kind: str) -> list[object]:
    # Not HfApi.list_models, which reads answers of any length, page by page.
    from httpx2 import HTTPError
    from huggingface_hub import get_session

    asking: dict[str, Any] = {
        "search": asked.words,
        "filter": kind,
        "sort": "downloads",
        "direction": -1,
        "limit": MOST_FOUND,
        "expand": _FIELDS,
    }
    url, data, start = f"{asked.endpoint}/api/models", b"", time.monotonic()
    try:
        with get_session().stream("GET", url, params=asking, headers=headers(None), timeout=TIMEOUT) as response:
            response.raise_for_status()
            for chunk in response.iter_bytes():
                data += chunk
                if len(data) > MAX_ANSWER or time.monotonic() - start > PATIENCE:
                    raise DownloadFailed(f"{asked.endpoint} answers a search with too much, or too slowly")
    except HTTPError as error:
        raise download_error(error, "the search") from None
    try:
        return parse_json_list(data, asked.endpoint)
    except ModelRefused as error:
        raise DownloadFailed(f"{asked.endpoint} does not answer searches as the hub does ({error})") from None


def _entry(item: object) -> HubEntry | None:
    """Read an entry; None if it has no usable name or only adapts other models."""
    if not isinstance(item, dict):
        return None
    identity, tags = item.get("id"), _tags(item.get("tags"))
    if not isinstance(identity, str) or identity.count("/") != 1 or not is_confined(identity):
        return None
    if any(tag.startswith(_ADAPTERS) for tag in tags):
        return None
    licence = next((tag.removeprefix(_LICENCE) for tag in tags if tag.startswith(_LICENCE)), "")
    return HubEntry(
        id=identity,
        tags=tags,
        licence=plain(licence) if licence else "not stated",
        downloads=_count(item.get("downloads")),
        bytes=_count(item.get("usedStorage")),
        gated=item.get("gated") not in (None, False),
    )


def _tags(value: object) -> tuple[str, ...]:
    tags = value[:_MOST_TAGS] if isinstance(value, list) else ()
    return tuple(tag for tag in tags if isinstance(tag, str) and len(tag) <= _LONGEST_TAG)


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < 2**63 else None
