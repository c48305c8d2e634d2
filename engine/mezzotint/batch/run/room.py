"""Check whether images can be written: neither a full disk nor a lost permission stops a batch for good."""

import contextlib
import errno
import os
import secrets
from pathlib import Path

from mezzotint.atomic import TEMPORARY_PREFIX, TEMPORARY_SUFFIX
from mezzotint.batch.tasks.outputs import RUN_FOLDER
from mezzotint.errors import StorageError
from mezzotint.trouble import meaning, shown

TRIAL_BYTES = 1 << 20
_FULL = tuple(meaning(OSError(number, "")) for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG))

_OF_NAME = tuple(
    meaning(OSError(number, ""))
    for number in (errno.ENAMETOOLONG, errno.EEXIST, errno.ENOTDIR, errno.ELOOP, errno.EINVAL)
)


def why_no_room(folder: Path, size: int = TRIAL_BYTES, output: Path | None = None) -> str | None:
    """Return why a file of `size` bytes cannot be written there, or None; actually writes one.

    With `output`, the folder of a run that has begun: that is not made anew, in case its disk was disconnected.
    """
    if output is not None and not (output / RUN_FOLDER).is_dir():
        return f"{shown(output)}: the folder is gone: connect its disk again, or start anew"
    trial = folder / f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}{TEMPORARY_SUFFIX}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with open(trial, "xb") as file:
            file.write(bytes(size))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return f"{shown(folder)}: {meaning(error)}"
    finally:
        with contextlib.suppress(OSError):
            trial.unlink(missing_ok=True)
    return None


def is_full(error: StorageError) -> bool:
    """Whether a disk was full; detected by the message, since the error may come from another process."""
    return any(words in str(error) for words in _FULL)


def is_of_name(why: str) -> bool:
    """Whether the reason is that the folder cannot exist, and not that the disk is not writable."""
    return any(words in why for words in _OF_NAME)
