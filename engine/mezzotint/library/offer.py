"""Describe a download before it starts: the model's files, licence, disk space and target path."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from mezzotint import paths
from mezzotint.catalog.place import at_home
from mezzotint.checkpoints.plain_text import plain, size
from mezzotint.checkpoints.regular_file import is_file, is_folder
from mezzotint.codec import decode, to_json
from mezzotint.errors import AccessRefused, DownloadFailed, MezzotintError, ModelRefused, StorageError, UsageError
from mezzotint.library.child import ChildCommand, own_environment, run_child
from mezzotint.library.downloads.choice import choose
from mezzotint.library.downloads.messages import (
    HubFile,
    HubListing,
    LinkFacts,
    LookAtHub,
    LookAtLink,
    WantedFile,
)
from mezzotint.library.downloads.partial import Partial, key_of
from mezzotint.library.downloads.record import read_record
from mezzotint.library.downloads.source import HUB, HubSource, LinkSource, endpoint_of, source_of
from mezzotint.library.downloads.space import free_bytes, why_no_room
from mezzotint.library.downloads.transfer import denied
from mezzotint.library_protocol import GetRequest, Offer
from mezzotint.protocol import Event, IsCancelled

FreeBytes = Callable[[Path], int]
_UNKNOWN_LICENCE = "not stated: see the page that the link is from"
_SHA256_DIGITS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedDownload:
    """An offer, and everything needed to download it."""

    offer: Offer
    problem: MezzotintError | None  # why it cannot be downloaded
    files: tuple[WantedFile, ...] = ()
    target: Path | None = None
    is_folder: bool = False
    repository: str | None = None
    endpoint: str = HUB
    environment: bool = True  # whether the user's own token may be sent to `endpoint`


def offer(request: GetRequest, cancelled: IsCancelled, *, free: FreeBytes = free_bytes) -> Offer:
    """Describe what would be downloaded. Raises UsageError, UnknownModel or DownloadFailed."""
    return prepare(request, cancelled, free=free).offer


def prepare(request: GetRequest, cancelled: IsCancelled, *, free: FreeBytes = free_bytes) -> PreparedDownload:
    """Query the source of a download, in a child process."""
    endpoint = endpoint_of(request.endpoint)
    source = source_of(request.source, request.revision, endpoint=endpoint)
    _check_sum(request.sha256)
    if isinstance(source, LinkSource):
        return _prepare_link(request, source, cancelled, free)
    return _prepare_hub(request, source, endpoint, cancelled, free)


def fetching_command(kind: str, question: object, token: str | None, endpoint: str) -> ChildCommand:
    """Return the command of the process that accesses the network, which no other process does."""
    changes: Mapping[str, str | None] = {
        "HF_ENDPOINT": endpoint,
        "HF_HUB_OFFLINE": None,
        "TRANSFORMERS_OFFLINE": None,
        "HF_DEBUG": None,  # would log requests, tokens included
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
        "HF_HUB_VERBOSITY": "error",
        "DO_NOT_TRACK": "1",
    }
    return ChildCommand(
        words=("-m", "mezzotint.library.fetching", kind),
        environ=own_environment(changes),
        given=to_json(question),
        secret=token or os.environ.get("HF_TOKEN"),
    )


def _check_sum(sha256: str | None) -> None:
    if sha256 is not None and (len(sha256) != _SHA256_DIGITS or not all(c in "0123456789abcdefABCDEF" for c in sha256)):
        raise UsageError(f"'{plain(sha256)}' is not a sha256; expected 64 hexadecimal digits")


# ---- the hub


def _prepare_hub(
    request: GetRequest, source: HubSource, endpoint: str, cancelled: IsCancelled, free: FreeBytes
) -> PreparedDownload:
    question = LookAtHub(
        repository=source.repository,
        revision=source.revision,
        endpoint=endpoint,
        token=request.token,
        environment=request.endpoint is None,
    )
    command = fetching_command("hub", question, request.token, endpoint)
    listing = decode(HubListing, run_child(command, _ignore, cancelled))
    name = source.repository if source.file is None else f"{source.repository}/{source.file}"
    if listing.locked:
        return _refused_offer(name, listing.commit, listing.licence, AccessRefused(denied(source.repository)))
    try:
        chosen = choose(listing, source.file)
    except ModelRefused as error:
        return _refused_offer(name, listing.commit, listing.licence, error)
    files = tuple(_wanted_file(source.repository, listing.commit, one) for one in chosen.files)
    if not chosen.is_folder:
        files = (_with_sum(files[0], request.sha256),)
    elif request.sha256 is not None:
        raise UsageError("a checksum is for one file: name the file, as owner/name/file.safetensors")
    short = PurePosixPath(chosen.files[0].name).name if not chosen.is_folder else source.repository.split("/")[1]
    target = _target(_folder(request), short, source.repository.replace("/", "--"), name)
    return _complete_offer(
        PreparedDownload(
            offer=_empty(name, listing.commit, listing.licence),
            problem=_checksum_problem(files, request.sha256),
            files=files,
            target=target,
            is_folder=chosen.is_folder,
            repository=source.repository,
            endpoint=endpoint,
            environment=request.endpoint is None,
        ),
        free,
    )


def _wanted_file(repository: str, commit: str, file: HubFile) -> WantedFile:
    known = file.sha256 or file.blob or f"{repository}@{commit}/{file.name}"
    key = key_of(known, file.bytes)
    return WantedFile(key=key, name=file.name, bytes=file.bytes, sha256=file.sha256, blob=file.blob)


def _with_sum(file: WantedFile, sha256: str | None) -> WantedFile:
    """Apply the user's checksum if the hub has none."""
    if sha256 is None or file.sha256 is not None:
        return file
    return _summed(file, sha256.lower())


def _checksum_problem(files: tuple[WantedFile, ...], sha256: str | None) -> MezzotintError | None:
    if sha256 is None or files[0].sha256 == sha256.lower():
        return None
    return DownloadFailed(f"{plain(files[0].name)} has the sha256 {files[0].sha256} on the hub, not {sha256.lower()}")


# ---- links


def _prepare_link(request: GetRequest, source: LinkSource, cancelled: IsCancelled, free: FreeBytes) -> PreparedDownload:
    command = fetching_command("link", LookAtLink(url=source.url), None, HUB)
    facts = decode(LinkFacts, run_child(command, _ignore, cancelled))
    shown = source.url.partition("?")[0].partition("#")[0]  # the query may contain a secret
    if facts.problem is not None or not facts.name:
        why = facts.problem or "no .safetensors or .gguf file"
        return _refused_offer(shown, "", _UNKNOWN_LICENCE, ModelRefused(f"{plain(shown, 300)} is {why}"))
    plain_file = WantedFile(
        key=key_of(shown, facts.validator, facts.bytes),
        url=source.url,
        name=facts.name,
        bytes=facts.bytes,
        validator=facts.validator,
    )
    file = plain_file if request.sha256 is None else _summed(plain_file, request.sha256.lower())
    return _complete_offer(
        PreparedDownload(
            offer=_empty(shown, "", _UNKNOWN_LICENCE),
            problem=None,
            files=(file,),
            target=_target(_folder(request), facts.name, None, shown),
        ),
        free,
    )


# ---- shared


def _summed(file: WantedFile, sha256: str) -> WantedFile:
    return replace(file, sha256=sha256, key=key_of(sha256, file.bytes))


def _folder(request: GetRequest) -> Path:
    return at_home(Path(request.folder)).absolute() if request.folder else paths.models_folder()


def _target(folder: Path, name: str, owned: str | None, source: str) -> Path:
    """Return the target path: the model's name, prefixed with its owner if another model has that name."""
    target = folder / name
    if owned is None or not _exists(target):
        return target
    record = read_record(target)
    if record is not None and record.source == source:
        return target
    return folder / (f"{owned}-{name}" if name.endswith((".safetensors", ".gguf")) else owned)


def _exists(path: Path) -> bool:
    return is_file(path) or is_folder(path)


def _empty(source: str, revision: str, licence: str) -> Offer:
    return Offer(
        source=source,
        revision=revision,
        title=PurePosixPath(source).name,
        licence=licence,
        files=(),
        bytes=0,
        bytes_left=0,
        free_bytes=0,
        target="",
        problem=None,
    )


def _refused_offer(source: str, revision: str, licence: str, problem: MezzotintError) -> PreparedDownload:
    empty = _empty(source, revision, licence)
    return PreparedDownload(offer=replace(empty, problem=str(problem)), problem=problem)


def _complete_offer(prepared: PreparedDownload, free: FreeBytes) -> PreparedDownload:
    """Fill in the sizes of the offer and what prevents it, if anything."""
    target, files = prepared.target, prepared.files
    if target is None:
        return prepared
    partial = Partial.beside(target)
    left = sum(file.bytes - partial.bytes_there(file.key, file.bytes) for file in files)
    room = free(target.parent)
    problem = prepared.problem or _find_problem(target, prepared.offer.source, files, left, room)
    completed = replace(
        prepared.offer,
        files=tuple(file.name for file in files),
        bytes=sum(file.bytes for file in files),
        bytes_left=left,
        free_bytes=room,
        target=str(target),
        problem=None if problem is None else str(problem),
    )
    return replace(prepared, offer=completed, problem=problem)


def _find_problem(
    target: Path, source: str, files: tuple[WantedFile, ...], left: int, room: int
) -> MezzotintError | None:
    if _exists(target):
        record = read_record(target)
        same = record is not None and record.source == source
        what = "is downloaded already" if same else "exists already with other content"
        return UsageError(f"{plain(target, 300)} {what}; remove it first, or choose another folder")
    full = why_no_room(left, room, target.parent)
    return _too_large(files) if full is None else StorageError(full)


def _too_large(files: tuple[WantedFile, ...]) -> MezzotintError | None:
    from huggingface_hub.constants import MAX_HTTP_DOWNLOAD_SIZE as LIMIT

    largest = max(files, key=lambda one: one.bytes)
    if largest.bytes <= LIMIT:
        return None
    return DownloadFailed(
        f"{plain(largest.name)} ({size(largest.bytes)}) is larger than the {size(LIMIT)} that are downloaded here: "
        "download it with `hf download` or a browser, then add its folder"
    )


def _ignore(_: Event) -> None:
    """Ignore events: queries are quick and report no progress."""
