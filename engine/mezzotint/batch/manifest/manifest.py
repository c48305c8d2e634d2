"""The manifest: a line for each task that ended, only ever appended to, and counted once it is safely on the disk.

A line is written as soon as it is known, so that it outlives this process, and synced with others together, so that it
outlives the machine: at most `sync_tasks` lines or `sync_seconds` later. Lines are records (see record.py), and beside
them `{"run": ...}` when a run begins, `{"ended": ...}` when one has gone through all of its tasks, and, as marks of
what was under way, `{"begun": KEY}`, `{"released": KEY}` and `{"died": KEY}`; the first and the last for tasks that are
made together with others, of which one alone may be to blame, are `begun_together` and `died_together`. `{"replaced":
KEY}` says that the file of a task is about to become the image of another.
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
from mezzotint.batch.manifest.known import Known, KnownTasks
from mezzotint.batch.manifest.record import Record, line_of, read_lines
from mezzotint.batch.manifest.shards import manifest_name
from mezzotint.batch.tasks.tasks import Shard
from mezzotint.errors import StorageError
from mezzotint.trouble import storage_error

SYNC_TASKS = 64
SYNC_SECONDS = 0.25
_ENDS_IN = 1 << 16  # bytes that a torn line may have to be looked for at once


class Manifest:
    """The manifest of one run in one output folder; every method is safe from every thread."""

    def __init__(
        self,
        path: Path,
        handle: int,
        known: KnownTasks,
        *,
        cut: int,
        sync_tasks: int,
        sync_seconds: float,
        clock: Callable[[], float],
        write: Callable[[int, bytes], int],
        fsync: Callable[[int], None],
    ) -> None:
        self.path, self.cut = path, cut  # cut: bytes of a line that a crash had torn
        self._handle, self._known = handle, known
        self._sync_tasks, self._sync_seconds, self._clock = sync_tasks, sync_seconds, clock
        self._write, self._fsync = write, fsync
        self._lock = threading.RLock()
        self._length = self._synced = os.lseek(handle, 0, os.SEEK_END)
        self._lines: list[bytes] = []  # since the last sync, as they are to stand there
        self._unwritten: list[bytes] = []  # for which there was no room
        self._waiting: list[Record] = []  # that count with the next sync
        self._counted: list[Record] = []  # since a sync that was nobody's turn to hear of
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
        """Go on with the manifest of a folder, of which this process must be the owner. Raises StorageError."""
        path = folder / manifest_name(shard)
        try:
            handle, cut = _open_whole(path)
        except OSError as error:
            raise storage_error("open", path, error) from error
        try:
            known = KnownTasks.read(folder, path)
        except BaseException:
            os.close(handle)
            raise
        return cls(
            path,
            handle,
            known,
            cut=cut,
            sync_tasks=sync_tasks,
            sync_seconds=sync_seconds,
            clock=clock,
            write=write,
            fsync=fsync,
        )

    def known(self, key: str) -> Known:
        """What all manifests of the folder say of a task."""
        with self._lock:
            return self._known.get(key)

    def key_of_output(self, output: str) -> str | None:
        """The task whose image a file is, if a manifest says so."""
        with self._lock:
            return self._known.key_of_output(output)

    def failures(self) -> int:
        """How many tasks have failed or were set aside, and were not made since."""
        with self._lock:
            return self._known.failures()

    # ---- lines out

    def add(self, record: Record) -> None:
        """What became of a task; it counts once `sync` has given it back.

        Raises StorageError when the disk is full: the line is kept, and written with the next one or by `sync`.
        """
        with self._lock:
            self._known.add(record)
            self._waiting.append(record)
            self._since = self._clock() if self._since is None else self._since
            self._append(line_of(record))

    def begin(self, key: str, *, together: bool = False) -> None:
        """This process is about to make it, or it and others: should it end on the way, the next one knows."""
        self._mark("begun_together" if together else "begun", key)

    def release(self, key: str) -> None:
        """It was given up in good order."""
        self._mark("released", key)

    def died(self, key: str, *, together: bool = False) -> None:
        """A process ended while it made this, or this and others."""
        self._mark("died_together" if together else "died", key)

    def replace(self, output: str, key: str) -> None:
        """A file is about to become the image of this task: whose it was has none then, whatever happens next."""
        with self._lock:
            before = self._known.key_of_output(output)
            if before is None or before == key:
                return
            self._mark("replaced", before)
            with contextlib.suppress(StorageError):  # the lines are kept, and it is told when they are synced again
                self._counted += self._sync_lines()

    def note(self, what: str, facts: Mapping[str, object]) -> None:
        """How the run goes: `run` and `ended`."""
        with self._lock:
            self._known.note(what)
            self._append(json.dumps({what: dict(facts)}).encode("ascii") + b"\n")

    def _mark(self, what: str, key: str) -> None:
        """Where there is no room for it, it is written later: the image that it is about will say so."""
        with self._lock, contextlib.suppress(StorageError):
            self._known.mark(what, key)
            self._append(json.dumps({what: key}).encode("ascii") + b"\n")

    def release_now(self, keys: list[str]) -> None:
        """The process ends at once, by hand: written past the lock, which may be held at this very moment."""
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
                if written < len(line):  # a disk that has just become full takes a part, and refuses the rest
                    written += self._write(self._handle, line[written:])
                if written < len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            except OSError as error:
                self._take_back()
                raise storage_error("write", self.path, error) from error
            self._length += len(line)
            self._lines.append(self._unwritten.pop(0))

    def _take_back(self) -> None:
        """The part of a line that did find room."""
        with contextlib.suppress(OSError):
            os.ftruncate(self._handle, self._length)

    # ---- safely there

    def due(self) -> bool:
        """Whether enough has gathered to be synced."""
        with self._lock:
            if self._counted:
                return True
            if self._since is None:
                return False
            return len(self._waiting) >= self._sync_tasks or self._clock() - self._since >= self._sync_seconds

    def sync(self) -> list[Record]:
        """Make the lines last, and give back the records that count from now on. Raises StorageError."""
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
        """After a sync that failed nobody knows what is on the disk, and another would not say: written once more."""
        with self._lock:
            self._unwritten = [*lines, *self._lines, *self._unwritten]
            self._lines, self._waiting = [], [*records, *self._waiting]
            self._since = self._clock()
            self._length = self._synced
            self._take_back()

    def close(self) -> None:
        """Let go of the file; what was not synced may be lost."""
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
    """The file, made when it is not there, and how many bytes of a torn last line were cut off."""
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
    """Up to the end of the last line that can be read; after a power cut the end may be anything."""
    with open(path, "rb") as file:
        file.seek(max(0, size - _ENDS_IN))
        tail = file.read()
    if not tail or (tail.endswith(b"\n") and b"\0" not in tail.rsplit(b"\n", 2)[-2]):
        return size
    return max((line.end for line in read_lines(path) if line.value is not None), default=0)
