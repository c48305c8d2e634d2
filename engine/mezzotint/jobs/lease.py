"""Who makes images on a device: one process at a time."""

import contextlib
import json
import os
import platform
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from mezzotint import paths
from mezzotint.jobs.locked_file import SYSTEM_LOCK, Lock, LockedFile

_LOOKS = (0.01, 0.02, 0.05)  # seconds between tries
_LONGEST = 4096  # bytes of a lease's file that are read
_SHOWN = 200  # characters of what another program wrote about itself


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Another process has the device; empty and 0: it did not say."""

    pid: int
    host: str
    since: float  # seconds since 1970
    what: str  # such as "the window"
    owner: str

    def __str__(self) -> str:
        """For a person: who, where, since when."""
        since = time.strftime("%Y-%m-%d %H:%M", time.localtime(self.since)) if self.since else "an unknown time"
        return f"{self.what or 'another program'} (process {self.pid or '?'} on {self.host or '?'}) since {since}"


class Lease:
    """The right to make images on a device; the system ends it with the process."""

    def __init__(self, file: LockedFile, device: str, owner: str) -> None:
        self._file = file
        self.device = device
        self.owner = owner  # names this lease in the queue

    @classmethod
    def acquire(
        cls,
        device: str = "auto",
        folder: Path | None = None,
        *,
        what: str = "",
        now: Callable[[], float] = time.time,
        lock: Lock = SYSTEM_LOCK,
        sleep: Callable[[float], None] = time.sleep,
    ) -> "Lease | Held":
        """Take a device, or learn who has it. Raises StorageError when the folder cannot be used."""
        path = _path(device, folder)
        for seconds in _LOOKS:  # one that only asks whether an owner lives has it for a moment
            file = LockedFile.take(path, lock)
            if file is not None:
                break
            sleep(seconds)
        else:
            return _held(path)
        owner = f"{_plain(device)}/{secrets.token_hex(8)}"
        about = {"pid": os.getpid(), "host": platform.node(), "since": now(), "what": what, "owner": owner}
        try:
            file.write(json.dumps(about).encode("ascii"))
        except BaseException:
            file.release()
            raise
        return cls(file, device, owner)

    def release(self) -> None:
        """Let others have the device."""
        self._file.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        self.release()


def owner_is_alive(owner: str, folder: Path | None = None, *, lock: Lock = SYSTEM_LOCK) -> bool:
    """Whether the process that took this lease still has it."""
    path = _path(owner.partition("/")[0], folder)
    file = LockedFile.take(path, lock)
    if file is not None:
        file.release()
        return False
    return _held(path).owner == owner


def holder(device: str, folder: Path | None = None, *, lock: Lock = SYSTEM_LOCK) -> Held | None:
    """Who has a device at the moment; nothing is written. StorageError when the folder cannot be used."""
    path = _path(device, folder)
    file = LockedFile.take(path, lock)
    if file is None:
        return _held(path)
    file.release()
    return None


def _path(device: str, folder: Path | None) -> Path:
    return (folder or paths.state_folder() / "leases") / f"{_plain(device)}.lock"


def _plain(device: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "-", device)[:64] or "auto"


def _held(path: Path) -> Held:
    """What the holder wrote; it may be in the middle of writing it."""
    about: object = None
    with contextlib.suppress(OSError, ValueError), open(path, "rb") as file:
        about = json.loads(file.read(_LONGEST))
    said = about if isinstance(about, dict) else {}
    pid, since = said.get("pid"), said.get("since")
    return Held(
        pid=pid if isinstance(pid, int) else 0,
        host=str(said.get("host", ""))[:_SHOWN],
        since=float(since) if isinstance(since, int | float) else 0.0,
        what=str(said.get("what", ""))[:_SHOWN],
        owner=str(said.get("owner", "")),
    )
