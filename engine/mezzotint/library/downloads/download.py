"""Download a model: query the source, check disk space, receive, verify, publish, and identify it."""

import os
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePosixPath

from mezzotint.atomic import publish_new, retry_sharing
from mezzotint.catalog.catalog import Catalog
from mezzotint.checkpoints.plain_text import plain
from mezzotint.codec import decode
from mezzotint.errors import MezzotintError, StorageError
from mezzotint.library.child import run_child
from mezzotint.library.downloads.eta import EtaEstimator
from mezzotint.library.downloads.messages import Fetch, Fetched, WantedFile
from mezzotint.library.downloads.partial import Partial
from mezzotint.library.downloads.record import RECORD_FILE, SourceRecord, record_path, write_record
from mezzotint.library.downloads.space import free_bytes
from mezzotint.library.offer import FreeBytes, PreparedDownload, fetching_command, prepare
from mezzotint.library_protocol import GetRequest
from mezzotint.protocol import Event, IsCancelled, ModelInfo, OnEvent, Progress
from mezzotint.trouble import storage_error


def get(
    request: GetRequest,
    make_catalog: Callable[[], Catalog],
    tell: OnEvent,
    cancelled: IsCancelled,
    *,
    free: FreeBytes = free_bytes,
) -> ModelInfo:
    """Download a model and return its catalog entry; one that cannot be run is kept, with the reason in `problem`."""
    prepared = prepare(request, cancelled, free=free)
    return download_offer(prepared, request.token, make_catalog, tell, cancelled)


def download_offer(
    prepared: PreparedDownload,
    token: str | None,
    make_catalog: Callable[[], Catalog],
    tell: OnEvent,
    cancelled: IsCancelled,
) -> ModelInfo:
    """Download what was offered. If it is interrupted, partial data is kept and resumed next time."""
    target = prepared.target
    if prepared.problem is not None or target is None:
        raise prepared.problem or MezzotintError(f"{plain(prepared.offer.source)} cannot be downloaded")
    partial = Partial.beside(target)
    with partial.locked():
        _recover_assembled(prepared, partial)
        fetched = _fetch(prepared, partial, token, tell, cancelled)
        record = SourceRecord(
            source=prepared.offer.source,
            revision=prepared.offer.revision,
            licence=prepared.offer.licence,
            sums={_name(file, prepared): fetched.sums[file.key] for file in prepared.files},
        )
        try:
            _publish(prepared, partial, target, record)
        except FileExistsError:
            raise StorageError(f"{plain(target, 300)} was created meanwhile; what was downloaded is kept") from None
        except OSError as error:
            raise storage_error("write", target, error) from None
    partial.remove()
    return make_catalog().at(target)


def _fetch(
    prepared: PreparedDownload, partial: Partial, token: str | None, tell: OnEvent, cancelled: IsCancelled
) -> Fetched:
    question = Fetch(
        folder=str(partial.folder),
        repository=prepared.repository,
        commit=prepared.offer.revision or None,
        endpoint=prepared.endpoint,
        token=token,
        environment=prepared.environment,
        files=_once(prepared.files),
    )
    eta = EtaEstimator()

    def on_event(event: Event) -> None:
        if isinstance(event, Progress):
            event = replace(event, seconds_left=eta.seconds_left(event.done, event.total))
        tell(event)

    command = fetching_command("files", question, token, prepared.endpoint)
    return decode(Fetched, run_child(command, on_event, cancelled))


def _once(files: tuple[WantedFile, ...]) -> tuple[WantedFile, ...]:
    """Drop files of identical content, such as a model's two tokenizers, so that each is downloaded once."""
    return tuple({file.key: file for file in files}.values())


def _name(file: WantedFile, prepared: PreparedDownload) -> str:
    return file.name if prepared.is_folder else PurePosixPath(file.name).name


def _publish(prepared: PreparedDownload, partial: Partial, target: Path, record: SourceRecord) -> None:
    """Assemble the files and rename the result to `target` last, so that the model appears complete at once."""
    if target.exists():
        raise FileExistsError
    if not prepared.is_folder:
        write_record(record_path(target), record)
        publish_new(partial.whole(prepared.files[0].key), target)
        return
    assembled = partial.assembled
    uses = Counter(file.key for file in prepared.files)
    for file in prepared.files:
        place = assembled / file.name
        place.parent.mkdir(parents=True, exist_ok=True)
        _link_or_copy(partial.whole(file.key), place, only=uses[file.key] == 1)
    write_record(assembled / RECORD_FILE, record)
    retry_sharing(os.rename, assembled, target)


def _link_or_copy(source: Path, place: Path, *, only: bool) -> None:
    """Hard-link the file; on file systems without hard links, move it if `only`, else copy it."""
    try:
        place.hardlink_to(source)
    except OSError:
        if only:
            retry_sharing(os.replace, source, place)
        else:
            shutil.copyfile(source, place)


def _recover_assembled(prepared: PreparedDownload, partial: Partial) -> None:
    """Move back files left by an interrupted `_publish`; they are verified before they are used."""
    for file in prepared.files if prepared.is_folder else ():
        place, whole = partial.assembled / file.name, partial.whole(file.key)
        if place.is_file() and not whole.exists():
            retry_sharing(os.replace, place, whole)
    shutil.rmtree(partial.assembled, ignore_errors=True)
