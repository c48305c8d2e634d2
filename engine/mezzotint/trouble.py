"""User-readable meanings of system error numbers."""

import errno
import os
from pathlib import Path

from mezzotint.errors import StorageError

_MEANINGS = {
    errno.ENOSPC: "the disk is full: free some space, or choose another folder",
    errno.EDQUOT: "your disk quota is used up: free some space",
    errno.EFBIG: "the file is larger than this disk or account allows: choose another folder",
    errno.EACCES: "no permission: choose a folder that you may write to",
    errno.EPERM: "not permitted: choose a folder that you may write to",
    errno.EROFS: "the disk is read-only: choose another folder",
    errno.ENAMETOOLONG: "the name is too long: choose a shorter one",
    errno.ENOENT: "no such file or folder: check the path",
    errno.EEXIST: "something with that name already exists: move it elsewhere",
    errno.ENOTDIR: "a part of the path is a file, not a folder: choose another path",
    errno.EISDIR: "it is a folder, not a file: choose another name",
    errno.ELOOP: "the links in the path form a loop: choose another path",
    errno.EIO: "the disk reports an error: check the disk, or choose another one",
    errno.EINVAL: "the system does not allow this name: choose a simpler one",
    errno.EMFILE: "too many files are open: close other programs and try again",
}


def meaning(error: OSError) -> str:
    """The error in words, with advice where known."""
    known = _MEANINGS.get(error.errno) if error.errno is not None else None
    return known or error.strerror or str(error) or type(error).__name__


def storage_error(action: str, path: str | os.PathLike[str], error: OSError) -> StorageError:
    """A one-line error: the action (such as "write"), the path, and the reason."""
    return StorageError(f"cannot {action} {shown(path)}: {meaning(error)}")


def shown(path: str | os.PathLike[str]) -> str:
    """A path for a message: on one line and printable, whatever bytes it has."""
    text = str(Path(path))
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return "".join(one if one.isprintable() else f"\\x{ord(one):02x}" for one in text)
