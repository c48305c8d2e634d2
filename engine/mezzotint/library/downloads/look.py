"""Query what can be downloaded: a hub model's files, or the file at a link. Runs in the fetching process."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from mezzotint.checkpoints.foreign_kind import foreign_kind
from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import AccessRefused, DownloadFailed, MezzotintError, UnknownModel
from mezzotint.library.downloads.messages import HubFile, HubListing, LinkFacts, LookAtHub, LookAtLink
from mezzotint.library.downloads.names import is_confined
from mezzotint.library.downloads.net import TIMEOUT, headers, prepare_client, token_for
from mezzotint.library.downloads.source import SUFFIXES, is_safe_url
from mezzotint.library.downloads.transfer import DENIED, download_error, status_of

if TYPE_CHECKING:
    from huggingface_hub.hf_api import ModelInfo as HubModel

MAX_INDEX = 256 * 2**10
MAX_FILES = 20_000
_FILE_NAME = re.compile(r'filename="?([^";]+)"?')
_COMMIT = re.compile(r"[0-9a-f]{7,64}")


def look_at_hub(asked: LookAtHub) -> HubListing:
    """List a hub model's files at the newest commit or a revision. Raises UnknownModel, DownloadFailed."""
    from httpx2 import HTTPError
    from huggingface_hub import HfApi
    from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

    prepare_client(asked.endpoint)
    token = token_for(asked.endpoint, asked.token, environment=asked.environment)
    api = HfApi(endpoint=asked.endpoint, token=token or False, library_name="mezzotint")
    try:
        model = api.model_info(asked.repository, revision=asked.revision, files_metadata=True, timeout=TIMEOUT)
    except RevisionNotFoundError:
        raise UnknownModel(f"{asked.repository} has no revision '{plain(asked.revision)}'") from None
    except RepositoryNotFoundError:
        raise UnknownModel(_unknown(asked, token)) from None
    except HTTPError as error:
        if status_of(error) == 404:
            raise UnknownModel(_unknown(asked, token)) from None
        raise download_error(error, asked.repository) from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DownloadFailed(f"{asked.endpoint} does not answer as the hub does ({type(error).__name__})") from None
    return _listing(model, asked, token)


def _unknown(asked: LookAtHub, token: str | None) -> str:
    private = "" if token else ", or shows it only to those with a token (HF_TOKEN, or `hf auth login`)"
    return f"{asked.endpoint} has no model '{asked.repository}'{private}"


def _listing(model: "HubModel", asked: LookAtHub, token: str | None) -> HubListing:
    commit = model.sha or ""
    if not _COMMIT.fullmatch(commit):
        raise DownloadFailed(f"{asked.endpoint} does not say which commit of {asked.repository} is the newest")
    siblings = (model.siblings or [])[:MAX_FILES]
    files = tuple(
        HubFile(
            name=str(one.rfilename),
            bytes=one.size,
            sha256=one.lfs.sha256 if one.lfs is not None else None,
            blob=one.blob_id if one.lfs is None else None,
        )
        for one in siblings
        if type(one.size) is int and one.size >= 0
    )
    small = {file.name: file for file in files if file.bytes <= MAX_INDEX}
    name = next((name for name in ("model_index.json", "config.json") if name in small), None)
    locked, text = (False, None) if name is None else _text(asked, commit, small[name], token)
    return HubListing(
        repository=asked.repository,
        commit=commit,
        files=files,
        licence=_licence(model),
        locked=locked,
        index=text if name == "model_index.json" else None,
        config=text if name == "config.json" else None,
    )


def _licence(model: "HubModel") -> str:
    """Return the licence stated in the model card."""
    card = model.card_data
    licence = card.get("license_name") or card.get("license") if card is not None else None
    link = card.get("license_link") if card is not None else None
    name = plain(licence) if isinstance(licence, str) else "not stated"
    return f"{name} ({plain(link, 200)})" if isinstance(link, str) and is_safe_url(link) else name


def _text(asked: LookAtHub, commit: str, file: HubFile, token: str | None) -> tuple[bool, str | None]:
    """Return whether access is denied and, if not, the text of a file."""
    from httpx2 import HTTPError
    from huggingface_hub import get_session, hf_hub_url

    name = f"{asked.repository}/{file.name}"
    url = hf_hub_url(asked.repository, file.name, revision=commit, endpoint=asked.endpoint)
    try:
        with get_session().stream("GET", url, headers=headers(token), timeout=TIMEOUT) as response:
            response.raise_for_status()
            text = next(response.iter_bytes(file.bytes + 1), b"")
    except HTTPError as error:
        if status_of(error) in DENIED:
            return True, None
        raise download_error(error, name) from None
    if len(text) != file.bytes:
        raise DownloadFailed(f"{name} does not have the announced size")
    return False, text.decode("utf-8", "replace")


def look_at_link(asked: LookAtLink) -> LinkFacts:
    """Return size and name of the file at a link, and whether it starts like a model file."""
    from httpx2 import HTTPError
    from huggingface_hub import get_session

    prepare_client(asked.url)
    asking = {**headers(None), "Range": "bytes=0-511"}
    try:
        with get_session().stream("GET", asked.url, headers=asking, timeout=TIMEOUT) as response:
            if response.status_code >= 400:
                raise _refusal(response.status_code, str(response.url.host))
            start = next(response.iter_bytes(512), b"")
            return LinkFacts(
                name=_name(response.headers, str(response.url), asked.url),
                bytes=_whole_size(response.headers, response.status_code),
                validator=_validator(response.headers),
                problem=None if start.startswith(b"GGUF") else foreign_kind(start),
            )
    except HTTPError as error:
        raise download_error(error, "the link") from None


def _refusal(status: int, host: str) -> MezzotintError:
    if status in DENIED:
        return AccessRefused(f"{plain(host)} requires a login for this file: download it with a browser")
    return DownloadFailed(f"{plain(host)} answers {status}: check the link")


def _whole_size(headers: Mapping[str, str], status: int) -> int:
    """Return the size of the whole file in bytes. Raises DownloadFailed if the server does not state it."""
    count = headers.get("content-range", "").rpartition("/")[2] if status == 206 else headers.get("content-length", "")
    if headers.get("content-encoding", "identity") != "identity" or not count.isdigit() or not int(count):
        raise DownloadFailed(
            "the server does not say how large the file is: download it with a browser, then add its folder"
        )
    return int(count)


def _validator(headers: Mapping[str, str]) -> str:
    """Return the etag if it is strong, else ""; only a strong one allows resuming a partial file."""
    etag = headers.get("etag", "")
    return etag if etag.startswith('"') and etag.isascii() and len(etag) <= 200 else ""


def _name(headers: Mapping[str, str], *urls: str) -> str:
    """Return the file name from the link or the server's headers; empty if none is valid."""
    named = _FILE_NAME.search(headers.get("content-disposition", ""))
    names = [unquote(urlsplit(url).path.rpartition("/")[2]) for url in reversed(urls)] + ([named[1]] if named else [])
    return next((name for name in names if name.lower().endswith(SUFFIXES) and is_confined(name)), "")
