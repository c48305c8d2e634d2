"""Output folders that are being watched: parsed manifests are cached, and only new lines are read."""

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from mezzotint.batch.manifest.ledger import Journal, Ledger, journal_of, manifest_paths, short_record
from mezzotint.batch.manifest.record import FAILURES, Record
from mezzotint.batch.manifest.rows import row_of
from mezzotint.batch.manifest.status import figures_of, sum_gone
from mezzotint.batch_protocol import BatchFolder, BatchStatus, BatchTaskPage, BatchTasks
from mezzotint.errors import Cancelled, StorageError, UsageError
from mezzotint.trouble import shown, storage_error

MOST_ROWS = 1000  # per page
MOST_BYTES = 2 << 30  # of all manifests in a folder
_MOST_FOLDERS = 4
_LONGEST_TEXT = 1500  # characters kept of a name or an error
_PATIENCE = 0.1  # seconds between checks for cancellation
_Identity = tuple[int, int]

IsCancelled = Callable[[], bool]


class ManifestCache:
    """The most recently queried output folders."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._folders: OrderedDict[Path, _CachedFolder] = OrderedDict()

    def status(self, asked: BatchFolder, cancelled: IsCancelled) -> BatchStatus:
        """Return the current status of a folder. Raises StorageError if it has no manifest."""
        with self._read(asked.folder, cancelled) as (ledger, records):
            gone = sum_gone(records, ledger.folder) if asked.look_for_files else None
            return figures_of(ledger, records, gone)

    def tasks(self, asked: BatchTasks, cancelled: IsCancelled) -> BatchTaskPage:
        """Return a page of the folder's tasks."""
        if asked.offset < 0 or not 0 <= asked.limit <= MOST_ROWS:
            raise UsageError(f"a page must start at 0 or later, and have at most {MOST_ROWS} rows")
        with self._read(asked.folder, cancelled) as (_, records):
            found = [record for record in records.values() if _is_asked_for(record, asked)]
        if asked.newest_first:
            found.reverse()
        page = found[asked.offset : asked.offset + asked.limit]
        return BatchTaskPage(total=len(found), rows=tuple(map(row_of, page)))

    @contextlib.contextmanager
    def _read(self, name: str, cancelled: IsCancelled) -> Iterator[tuple[Ledger, Mapping[str, Record]]]:
        folder = Path(name)
        if not folder.is_absolute():
            raise UsageError(f"{shown(folder)} is not an absolute path: give the absolute path of the output folder")
        with self._lock:
            followed = self._folders.pop(folder, None) or _CachedFolder(folder)
            self._folders[folder] = followed
            if len(self._folders) > _MOST_FOLDERS:
                self._folders.popitem(last=False)
        with followed.held(cancelled):
            yield followed.read_on(cancelled)


class _CachedFolder:
    """One output folder and its parsed manifests."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._journals: dict[Path, tuple[_Identity, Journal]] = {}
        self._records: dict[str, Record] | None = None

    @contextlib.contextmanager
    def held(self, cancelled: IsCancelled) -> Iterator[None]:
        """Hold the folder's lock; a cancelled caller stops waiting for it."""
        while not self._lock.acquire(timeout=_PATIENCE):
            _check(cancelled)
        try:
            yield
        finally:
            self._lock.release()

    def read_on(self, cancelled: IsCancelled) -> tuple[Ledger, Mapping[str, Record]]:
        """Read new lines of the manifests; return the ledger and the latest record of each task."""
        before = {id(journal) for _, journal in self._journals.values()}
        self._journals = {path: self._of(path) for path in self._paths()}
        journals = tuple(journal for _, journal in self._journals.values())
        if before != set(map(id, journals)):
            self._records = None
        for journal in journals:
            for number, _ in enumerate(journal.read_on(_slim)):
                self._records = None
                if not number % 256:
                    _check(cancelled)
        ledger = Ledger(folder=self._folder, journals=journals)
        if self._records is None:
            self._records = ledger.records()
        return ledger, self._records

    def _paths(self) -> list[Path]:
        paths = manifest_paths(self._folder)
        size = sum(_stat(path)[1] for path in paths)
        if size > MOST_BYTES:
            raise StorageError(
                f"the manifests of {shown(self._folder)} have {size >> 20} MB, too much to show here: use "
                "`mezzotint batch status` and `mezzotint batch report`"
            )
        return paths

    def _of(self, path: Path) -> tuple[_Identity, Journal]:
        """Return the cached journal of a manifest, or a new one if the file was replaced or truncated."""
        identity, size = _stat(path)
        known = self._journals.get(path)
        if known is not None and known[0] == identity and known[1].end <= size:
            return known
        return identity, journal_of(path)


def _stat(path: Path) -> tuple[_Identity, int]:
    try:
        found = path.stat()
    except OSError as error:
        raise storage_error("read", path, error) from error
    return (found.st_dev, found.st_ino), found.st_size


def _check(cancelled: IsCancelled) -> None:
    if cancelled():
        raise Cancelled("stopped")


def _slim(line: dict[str, Any]) -> Record:
    return short_record(line, _LONGEST_TEXT)


def _is_asked_for(record: Record, asked: BatchTasks) -> bool:
    if asked.which == "failed":
        return record.status in FAILURES
    return asked.which == "all" or record.status == asked.which
