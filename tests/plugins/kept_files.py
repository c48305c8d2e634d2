"""Files that take long to make, kept under a name that says what they were made of."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PATIENCE = 300  # seconds: nothing takes as long to make


def kept(target: Path, make: Callable[[Path], object]) -> Path:
    """The file, which `make` writes if it is not there: one process does, under another name, and the others wait."""
    if not target.exists():
        with _alone(target):
            if not target.exists():
                fresh = target.with_name(f"{os.getpid()}.{target.name}")
                make(fresh)
                fresh.replace(target)
    return target


@contextmanager
def _alone(target: Path) -> Iterator[None]:
    """Nobody else inside, unless the file is there; one that was ended is waited for no longer."""
    target.parent.mkdir(parents=True, exist_ok=True)
    lock = target.with_suffix(".lock")
    while True:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
            break
        except FileExistsError:
            with suppress(FileNotFoundError):
                if time.time() - lock.stat().st_mtime > PATIENCE:
                    lock.unlink()
        if target.exists():
            yield
            return
        time.sleep(0.05)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
