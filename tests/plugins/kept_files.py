"""Cache for files that take long to build, named after what they are built from."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PATIENCE = 300  # seconds; longer than any build takes


def kept(target: Path, make: Callable[[Path], object]) -> Path:
    """Return the file, built by `make` if missing: one process builds it under a temporary name, others wait."""
    if not target.exists():
        with _alone(target):
            if not target.exists():
                fresh = target.with_name(f"{os.getpid()}.{target.name}")
                make(fresh)
                fresh.replace(target)
    return target


@contextmanager
def _alone(target: Path) -> Iterator[None]:
    """Hold a lock file, unless the target exists; a stale lock times out."""
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
