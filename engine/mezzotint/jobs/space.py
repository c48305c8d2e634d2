"""Detect a full output disk: then the task is not at fault, and the queue pauses."""

import errno
import os
import shutil
from pathlib import Path

from mezzotint.protocol import GenerateRequest

_FULL = {errno.ENOSPC, errno.EDQUOT}
_BYTES_PER_IMAGE = 4 << 20  # as the engine estimates before it begins
_BYTES_TO_SPARE = 16 << 20


def is_for_want_of_space(error: BaseException, request: GenerateRequest) -> bool:
    """Whether an error came from a full disk: by its errno, or because the output disk has no room."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in _FULL:
            return True
        cause = cause.__cause__
    return is_full(request)


def is_full(request: GenerateRequest) -> bool:
    """Whether the output disk has no room for the images of a request."""
    folder = Path(os.path.expanduser((request.output.path or "").partition("[")[0])).absolute()  # noqa: PTH111
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    try:
        return shutil.disk_usage(folder).free < request.count * _BYTES_PER_IMAGE + _BYTES_TO_SPARE
    except OSError:
        return False  # some network disks do not report it
