"""Verify a model's files against their published checksums or, without those, by their structure."""

import os
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from mezzotint.catalog.catalog import Catalog
from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.checkpoints.plain_text import plain, size
from mezzotint.checkpoints.regular_file import is_folder
from mezzotint.checkpoints.weight_file import weight_header
from mezzotint.errors import Cancelled, MezzotintError, ModelRefused, StorageError
from mezzotint.library.checksums import checksums
from mezzotint.library.downloads.eta import EtaEstimator
from mezzotint.library.downloads.names import is_confined
from mezzotint.library.downloads.record import read_record
from mezzotint.library_protocol import Verified
from mezzotint.protocol import IsCancelled, ModelRef, OnEvent, Progress

_MOST_FILES = 10_000
_SHA256 = re.compile(r"[0-9a-f]{64}")
_BLOB = re.compile(r"[0-9a-f]{40}")

Sums = dict[str, str]  # from file names to sha256 or git blob sha1


def verify(ref: ModelRef, catalog: Catalog, tell: OnEvent, cancelled: IsCancelled) -> Verified:
    """Verify every file of a model. Raises UnknownModel if it does not exist."""
    identity, path = catalog.where(ref)
    folder = path if is_folder(path) else path.parent
    sums = _recorded_sums(path) or _hub_cache_sums(path)
    if sums:
        return _by_sums(identity, folder, sums, tell, cancelled)
    return _by_structure(identity, path, tell, cancelled)


def _recorded_sums(path: Path) -> Sums:
    record = read_record(path)
    sums = {} if record is None else record.sums
    return {
        name: value.lower() for name, value in sums.items() if is_confined(name) and _SHA256.fullmatch(value.lower())
    }


def _hub_cache_sums(path: Path) -> Sums:
    """Return checksums from a Hugging Face cache, where a snapshot's symlinks point to blobs named by checksum."""
    sums = {}
    for file in _files(path):
        real = Path(os.path.realpath(file))
        if (
            real != file
            and real.parent.name == "blobs"
            and (_SHA256.fullmatch(real.name) or _BLOB.fullmatch(real.name))
        ):
            sums[file.name if file == path else file.relative_to(path).as_posix()] = real.name
    return sums


def _files(path: Path) -> list[Path]:
    if not is_folder(path):
        return [path]
    return [file for file, _ in zip(_walk(path), range(_MOST_FILES), strict=False)]


def _walk(path: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(path):
        folders.sort()
        yield from (Path(folder, name) for name in sorted(names))


def _by_sums(identity: str, folder: Path, sums: Sums, tell: OnEvent, cancelled: IsCancelled) -> Verified:
    counter = _Counter(sum(_size(folder / name) for name in sums), tell, cancelled)
    found: Sums = {}
    problems = []
    for name, wanted in sums.items():
        try:
            sha256, blob = checksums(
                folder / name, partial(counter.add, name), blob=_BLOB.fullmatch(wanted) is not None
            )
        except (StorageError, ModelRefused) as error:
            problems.append(str(error))
            continue
        found[name] = sha256
        if wanted not in (sha256, blob):
            problems.append(
                f"{plain(name, 300)} does not match its published checksum: it is damaged or was changed; download it "
                "again"
            )
    return Verified(
        model=identity,
        ok=not problems,
        files=tuple(sums),
        problems=tuple(problems),
        checked_against="checksums",
        sums=found,
    )


def _by_structure(identity: str, path: Path, tell: OnEvent, cancelled: IsCancelled) -> Verified:
    """Verify without checksums: detects faults such as truncated files."""
    weights = [file for file in _files(path) if file.suffix.lower() in (".safetensors", ".gguf")]
    counter = _Counter(sum(map(_size, weights)), tell, cancelled)
    problems = []
    for file in weights:
        try:
            weight_header(file)
        except MezzotintError as error:
            problems.append(str(error))
        counter.add(file.name, _size(file))
    try:
        open_checkpoint(path)
    except MezzotintError as error:
        if not any(str(error) in problem for problem in problems):
            problems.append(str(error))
    names = tuple(file.name if file == path else file.relative_to(path).as_posix() for file in weights)
    return Verified(model=identity, ok=not problems, files=names, problems=tuple(problems), checked_against="structure")


class _Counter:
    """Reports progress and checks for cancellation."""

    def __init__(self, total: int, tell: OnEvent, cancelled: IsCancelled) -> None:
        self._total, self._tell, self._cancelled = total, tell, cancelled
        self._eta = EtaEstimator()
        self._done = 0

    def add(self, name: str, count: int) -> None:
        """Count checked bytes. Raises Cancelled if cancelled."""
        if self._cancelled():
            raise Cancelled(f"stopped after {size(self._done)}; nothing was changed")
        self._done = min(self._done + count, self._total)
        left = self._eta.seconds_left(self._done, self._total)
        self._tell(Progress(what=plain(name), done=self._done, total=self._total, unit="bytes", seconds_left=left))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
