"""The manifest: an append-only log with a line for each finished task, which counts once it is synced to disk.

A line is written at once, so that it survives this process, and synced together with others, so that it survives a
power loss: at most `sync_tasks` lines or `sync_seconds` later. Lines are records (see record.py), `{"run": ...}` when
a run begins, `{"ended": ...}` when it has completed all of its tasks, and marks for tasks under way: `{"begun": KEY}`,
`{"released": KEY}` and `{"died": KEY}`. For tasks made in a batch, of which any one may be to blame, the first and the
last are `begun_together` and `died_together`. `{"replaced": KEY}` says that the file of a task is about to be
overwritten with the image of another.
"""

import contextlib
import errno
import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from mezzotint.atomic import sync_folder
from mezzotint.batch.manifest.record import Record, line_of, read_lines
from mezzotint.batch.manifest.shards import manifest_name
from mezzotint.batch.manifest.task_history import TaskHistories, TaskHistory
from mezzotint.batch.tasks.tasks import Shard
from mezzotint.errors import StorageError
from mezzotint.trouble import storage_error

SYNC_TASKS = 64
SYNC_SECONDS = 0.25
_ENDS_IN = 1 << 16  # bytes at the end of the file that are checked for a torn line


class Manifest:
    """The manifest of one run in one output folder. All methods are thread-safe."""

    def __init__(
        self,
        path: Path,
        handle: int,
        histories: TaskHistories,
        *,
        cut: int,
        sync_tasks: int,
        sync_seconds: float,
        clock: Callable[[], float],
        write: Callable[[int, bytes], int],
        fsync: Callable[[int], None],
    ) -> None:
        self.path, self.cut = path, cut  # cut: bytes of a torn line that were removed
        self._handle, self._histories = handle, histories
        self._sync_tasks, self._sync_seconds, self._clock = sync_tasks, sync_seconds, clock
        self._write, self._fsync = write, fsync
        self._lock = threading.RLock()
        self._length = self._synced = os.lseek(handle, 0, os.SEEK_END)
        self._lines: list[bytes] = []  # written since the last sync
        self._unwritten: list[bytes] = []  # not written yet, such as when the disk is full
        self._waiting: list[Record] = []  # not synced yet
        self._counted: list[Record] = []  # synced by `replace`, and not yet returned by `sync`
        self._since: float | None = None

    @classmethod
    def open(
        cls,
        folder: Path,
        shard: Shard | None = None,
        *,
        sync_tasks: int = SYNC_TASKS,
        sync_seconds: float = SYNC_SECONDS,
        clock: Callable[[], float] = time.monotonic,
        write: Callable[[int, bytes], int] = os.write,
        fsync: Callable[[int], None] = os.fsync,
    ) -> "Manifest":
        """Open the manifest of a folder, of which this process must be the owner, to append. Raises StorageError."""
        path = folder / manifest_name(shard)
        try:
            handle, cut = _open_whole(path)
        except OSError as error:
            raise storage_error("open", path, error) from error
        try:
            histories = TaskHistories.read(folder, path)
        except BaseException:
            os.close(handle)
            raise
        return cls(
            path,
            handle,
            histories,
            cut=cut,
            sync_tasks=sync_tasks,
            sync_seconds=sync_seconds,
            clock=clock,
            write=write,
            fsync=fsync,
        )

    def history(self, key: str) -> TaskHistory:
        """Return the history of a task according to all manifests of the folder."""
        with self._lock:
            return self._histories.get(key)

    def key_of_output(self, output: str) -> str | None:
        """Return the key of the task whose image is `output`, or None if no manifest records it."""
        with self._lock:
            return self._histories.key_of_output(output)

    def failures(self) -> int:
        """How many tasks failed or were set aside, and were not made since."""
        with self._lock:
            return self._histories.failures()

    # ---- writing

    def add(self, record: Record) -> None:
        """Append the outcome of a task; it counts once `sync` has returned it.

        Raises StorageError if the disk is full: the line is kept, and written with the next one or by `sync`.
        """
        with self._lock:
            self._histories.add(record)
            self._waiting.append(record)
            self._since = self._clock() if self._since is None else self._since
            self._append(line_of(record))

    def begin(self, key: str, *, together: bool = False) -> None:
        """Mark a task as begun, alone or in a batch, so that the next process knows if this one dies on it."""
        self._mark("begun_together" if together else "begun", key)

    def release(self, key: str) -> None:
        """Mark a task as given up cleanly."""
        self._mark("released", key)

    def died(self, key: str, *, together: bool = False) -> None:
        """Mark that a process died while making this task, alone or in a batch."""
        self._mark("died_together" if together else "died", key)

    def replace(self, output: str, key: str) -> None:
        """Mark that this task is about to overwrite a file: its previous owner has no image from then on."""
        with self._lock:
            before = self._histories.key_of_output(output)
            if before is None or before == key:
                return
            self._mark("replaced", before)
            with contextlib.suppress(StorageError):  # lines are kept; the next sync reports it
                self._counted += self._sync_lines()

    def note(self, what: str, facts: Mapping[str, object]) -> None:
        """Append a note on the run: `run` or `ended`."""
        with self._lock:
            self._histories.note(what)
            self._append(json.dumps({what: dict(facts)}).encode("ascii") + b"\n")

    def _mark(self, what: str, key: str) -> None:
        """Append a mark. If the disk is full, it is written later, and saving the image reports the error."""
        with self._lock, contextlib.suppress(StorageError):
            self._histories.mark(what, key)
            self._append(json.dumps({what: key}).encode("ascii") + b"\n")

    def release_now(self, keys: list[str]) -> None:
        """Release tasks when the user kills the process: bypasses the lock, which may be held at this moment."""
        lines = b"".join(json.dumps({"released": key}).encode("ascii") + b"\n" for key in keys)
        with contextlib.suppress(OSError):
            os.write(self._handle, lines)

    def _append(self, line: bytes) -> None:
        self._unwritten.append(line)
        self._write_out()

    def _write_out(self) -> None:
        while self._unwritten:
            line = self._unwritten[0]
            try:
                written = self._write(self._handle, line)
                if written < len(line):  # a disk that just filled up accepts a part and refuses the rest
                    written += self._write(self._handle, line[written:])
                if written < len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            except OSError as error:
                self._take_back()
                raise storage_error("write", self.path, error) from error
            self._length += len(line)
            self._lines.append(self._unwritten.pop(0))

    def _take_back(self) -> None:
        """Remove a partially written line."""
        with contextlib.suppress(OSError):
            os.ftruncate(self._handle, self._length)

    # ---- syncing

    def due(self) -> bool:
        """Whether enough lines or time have accumulated for a sync."""
        with self._lock:
            if self._counted:
                return True
            if self._since is None:
                return False
            return len(self._waiting) >= self._sync_tasks or self._clock() - self._since >= self._sync_seconds

    def sync(self) -> list[Record]:
        """Sync the lines to disk, and return the records that count from now on. Raises StorageError."""
        records = self._sync_lines()
        with self._lock:
            counted, self._counted = self._counted, []
        return counted + records

    def _sync_lines(self) -> list[Record]:
        with self._lock:
            self._write_out()
            lines, self._lines = self._lines, []
            records, self._waiting = self._waiting, []
            length, self._since = self._length, None
        try:
            self._fsync(self._handle)
        except OSError as error:
            self._put_back(lines, records)
            raise storage_error("write", self.path, error) from error
        with self._lock:
            self._synced = length
        return records

    def _put_back(self, lines: list[bytes], records: list[Record]) -> None:
        """Rewrite the lines after a failed fsync: their state is unknown, and another fsync would not report it."""
        with self._lock:
            self._unwritten = [*lines, *self._lines, *self._unwritten]
            self._lines, self._waiting = [], [*records, *self._waiting]
            self._since = self._clock()
            self._length = self._synced
            self._take_back()

    def close(self) -> None:
        """Close the file; lines that were not synced may be lost."""
        with self._lock:
            if self._handle >= 0:
                os.close(self._handle)
                self._handle = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        self.close()


def _open_whole(path: Path) -> tuple[int, int]:
    """Open or create the file; return its handle, and how many bytes of a torn last line were cut off."""
    path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not path.exists()
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    handle = os.open(path, flags, 0o666)
    try:
        if is_new:
            sync_folder(path.parent)
        size = os.fstat(handle).st_size
        whole = _whole_bytes(path, size)
        if whole < size:
            os.ftruncate(handle, whole)
            os.fsync(handle)
    except BaseException:
        os.close(handle)
        raise
    return handle, size - whole


def _whole_bytes(path: Path, size: int) -> int:
    """Return the offset after the last readable line; after a power loss the end may hold anything."""
    with open(path, "rb") as file:
        file.seek(max(0, size - _ENDS_IN))
        tail = file.read()
    if not tail or (tail.endswith(b"\n") and b"\0" not in tail.rsplit(b"\n", 2)[-2]):
        return size
    return max((line.end for line in read_lines(path) if line.value is not None), default=0)
