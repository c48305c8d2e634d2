"""Reading files of a fetched archive into memory, without unpacking it to disk."""

import tarfile
from collections.abc import Iterable
from pathlib import Path

from mezzotint.errors import StorageError

_LARGEST = 2**26  # bytes of one file


def read_members(archive: Path, names: Iterable[str]) -> dict[str, bytes]:
    """Return the named files of a compressed archive. Raises StorageError, also if one is missing."""
    wanted = set(names)
    found = read_existing(archive, wanted)
    if missing := sorted(wanted - found.keys()):
        raise StorageError(f"{archive} has no file {missing[0]} of a permitted size: delete it and try again")
    return found


def read_existing(archive: Path, names: Iterable[str]) -> dict[str, bytes]:
    """Return those of the named files that are there; others, links and devices are never opened."""
    wanted, found = set(names), dict[str, bytes]()
    try:
        with tarfile.open(archive, "r|gz") as opened:
            for member in opened:
                if member.name in wanted and member.isfile() and member.size <= _LARGEST:
                    found[member.name] = _content(opened, member)
    except (OSError, tarfile.TarError, EOFError) as error:
        raise StorageError(f"cannot read {archive}: {error}; delete it and try again") from error
    return found


def _content(opened: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = opened.extractfile(member)
    return b"" if file is None else file.read()
