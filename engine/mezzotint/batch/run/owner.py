"""Ensure one run at a time in an output folder, and wait for processes left over from an earlier run.

The system releases these locks when a process ends, however it ends. On a network disk they may not reach other
machines: there, every machine has its own shard and manifest.
"""

import contextlib
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Self

from mezzotint.batch.manifest.shards import MOST_SHARDS
from mezzotint.batch.tasks.outputs import RUN_FOLDER
from mezzotint.batch.tasks.tasks import Shard
from mezzotint.errors import Locked, StorageError
from mezzotint.jobs.lease import Held, Lease, holder
from mezzotint.jobs.locked_file import LockedFile
from mezzotint.trouble import shown

_LOOK = 0.05  # seconds
_PATIENCE = 30.0  # seconds for processes of a killed run to end: they notice at once

Sleep = Callable[[float], None]


class Owner:
    """The exclusive right to fill an output folder, or one shard of it."""

    def __init__(self, lease: Lease, folder: Path, name: str) -> None:
        self._lease, self._folder, self._name = lease, folder, name

    @classmethod
    def take(cls, output: Path, shard: Shard | None, *, sleep: Sleep = time.sleep, patience: float = _PATIENCE) -> Self:
        """Become the owner. Raises Locked if another run is, or if processes of a killed run do not end."""
        folder, name = output / RUN_FOLDER, _name(shard)
        lease = Lease.acquire(name, folder, what="a batch")
        if isinstance(lease, Held):
            raise _locked(output, lease)
        try:
            for other in _others(folder, shard):
                _refuse_if_held(output, folder, other)
            _wait_for_workers(folder, name, sleep, patience)
        except BaseException:
            lease.release()
            raise
        return cls(lease, folder, name)

    def hold_of_worker(self, number: int) -> Path:
        """Return the file that a process of this run locks while it lives."""
        return self._folder / f"{self._name}-worker-{number}.held"

    def release(self) -> None:
        """Release the folder."""
        self._lease.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        self.release()


def _name(shard: Shard | None) -> str:
    return "run" if shard is None else f"run-{shard.index}-of-{shard.count}"


def _others(folder: Path, shard: Shard | None) -> list[str]:
    """Return the runs that exclude this one: for a shard the unsharded run, for that every shard."""
    if shard is not None:
        return [_name(None)]
    return sorted(path.stem for path in folder.glob("run-*-of-*.lock"))


def _refuse_if_held(output: Path, folder: Path, name: str) -> None:
    lease = Lease.acquire(name, folder, what="a check whether a batch is running")
    if isinstance(lease, Held):
        raise _locked(output, lease)
    lease.release()


def _locked(output: Path, held: Held) -> Locked:
    return Locked(f"{shown(output)} is in use by {held}: wait for it, stop it, or choose another folder")


def _wait_for_workers(folder: Path, name: str, sleep: Sleep, patience: float) -> None:
    end = time.monotonic() + patience
    for path in sorted(folder.glob(f"{name}-worker-*.held")):
        while (file := LockedFile.take(path)) is None:
            if time.monotonic() >= end:
                raise Locked(
                    f"a process of the previous run is still generating an image ({shown(path)} is locked): "
                    "wait, or stop it"
                )
            sleep(_LOOK)
        file.release()


def running(output: Path) -> list[Held]:
    """Return the runs that are filling a folder, as far as this machine can tell."""
    folder = output / RUN_FOLDER
    found = []
    for path in islice(sorted(folder.glob("run*.lock")), MOST_SHARDS):
        with contextlib.suppress(StorageError):  # unknown for a read-only lock file
            held = holder(path.stem, folder)
            found += [] if held is None else [held]
    return found
