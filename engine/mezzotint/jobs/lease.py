"""Leases of devices: one process at a time generates on each."""

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
_LONGEST = 4096  # bytes read of a lease file
_SHOWN = 200  # characters kept of another program's description of itself


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """The process that holds a device; empty and 0 where it did not say."""

    pid: int
    host: str
    since: float  # seconds since 1970
    what: str  # such as "the window"
    owner: str

    def __str__(self) -> str:
        """Describe who, where and since when."""
        since = time.strftime("%Y-%m-%d %H:%M", time.localtime(self.since)) if self.since else "an unknown time"
        return f"{self.what or 'another program'} (process {self.pid or '?'} on {self.host or '?'}) since {since}"


class Lease:
    """The exclusive right to generate on a device; the system releases it when the process ends."""

    def __init__(self, file: LockedFile, device: str, owner: str) -> None:
        self._file = file
        self.device = device
        self.owner = owner  # identifies this lease in the queue

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
        """Take a device, or return who holds it. Raises StorageError if the folder cannot be used."""
        path = _path(device, folder)
        for seconds in _LOOKS:  # `owner_is_alive` and `holder` take it for a moment
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
        """Release the device."""
        self._file.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        self.release()


def owner_is_alive(owner: str, folder: Path | None = None, *, lock: Lock = SYSTEM_LOCK) -> bool:
    """Whether the process that took this lease still holds it."""
    path = _path(owner.partition("/")[0], folder)
    file = LockedFile.take(path, lock)
    if file is not None:
        file.release()
        return False
    return _held(path).owner == owner


def holder(device: str, folder: Path | None = None, *, lock: Lock = SYSTEM_LOCK) -> Held | None:
    """Return who holds a device, or None; takes no lease. Raises StorageError if the folder cannot be used."""
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
    """Read what the holder wrote, which may be incomplete."""
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
