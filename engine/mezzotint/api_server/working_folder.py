"""The folder in which jobs leave files for the engine and take its images, inside the output folder."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from mezzotint.jobs.locked_file import LockedFile
from mezzotint.trouble import storage_error

_PREFIX = ".mezzotint-serve-"
_LOCK = "lock"


class WorkingFolder:
    """One server's, from its start to its end; it is locked, so that others remove it only if the server was killed."""

    def __init__(self, output: Path) -> None:
        """Create both folders, and remove what killed servers left. Raises StorageError."""
        self.output = output.expanduser().absolute()
        try:
            self.output.mkdir(parents=True, exist_ok=True)
            _remove_abandoned(self.output)
            self._path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=self.output))  # for this user alone
        except OSError as error:
            raise storage_error("write into", self.output, error) from error
        self._lock = LockedFile.take(self._path / _LOCK)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def job(self) -> Iterator[Path]:
        """A folder for one job, which is removed with what is in it."""
        try:
            folder = Path(tempfile.mkdtemp(dir=self._path))
        except OSError as error:
            raise storage_error("write into", self._path, error) from error
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def close(self) -> None:
        """Remove the folder."""
        if self._lock is not None:
            self._lock.release()
        shutil.rmtree(self._path, ignore_errors=True)


def _remove_abandoned(output: Path) -> None:
    for folder in output.glob(f"{_PREFIX}*"):
        lock = LockedFile.take(folder / _LOCK) if folder.is_dir() and not folder.is_symlink() else None
        if lock is not None:
            lock.release()
            shutil.rmtree(folder, ignore_errors=True)
