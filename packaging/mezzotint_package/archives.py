"""Archives whose bytes depend on their contents alone."""

import io
import lzma
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

_PROGRAM, _FILE, _FOLDER = 0o755, 0o644, 0o755


@dataclass(frozen=True, kw_only=True)
class Member:
    """A file in an archive, or with `link` a symbolic link."""

    data: bytes = b""
    program: bool = False
    link: str = ""

    @property
    def mode(self) -> int:
        """Permissions."""
        return _PROGRAM if self.program else _FILE


def zipped(members: Mapping[str, Member], epoch: int) -> bytes:
    """Return a zip file with Unix permissions."""
    when = datetime.fromtimestamp(max(epoch, 315532800), UTC).timetuple()[:6]  # zip begins in 1980
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, member in sorted(members.items()):
            entry = zipfile.ZipInfo(name, when)
            entry.create_system = 3  # Unix, on any system
            entry.external_attr = (0o100000 | member.mode) << 16
            entry.compress_type = zipfile.ZIP_STORED if name.endswith(".whl") else zipfile.ZIP_DEFLATED
            archive.writestr(entry, member.data)
    return buffer.getvalue()


def tarred(members: Mapping[str, Member], epoch: int) -> bytes:
    """Return an xz-compressed tar file, owned by root, with an entry for each folder."""
    buffer = io.BytesIO()
    folders = {"."} | {
        "/".join(parts[:count]) for parts in (name.split("/") for name in members) for count in range(1, len(parts))
    }
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(folders | set(members), key=lambda name: (name != ".", name)):
            entry = tarfile.TarInfo("./" if name == "." else f"./{name}")
            entry.mtime = epoch
            entry.uname = entry.gname = "root"
            if name in folders:
                entry.type, entry.mode = tarfile.DIRTYPE, _FOLDER
                archive.addfile(entry)
            elif members[name].link:
                entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, members[name].link, 0o777
                archive.addfile(entry)
            else:
                entry.mode, entry.size = members[name].mode, len(members[name].data)
                archive.addfile(entry, io.BytesIO(members[name].data))
    return lzma.compress(buffer.getvalue(), preset=6)


def ar(members: Mapping[str, bytes], epoch: int) -> bytes:
    """Return an ar file with the members in the given order: what a Debian package is."""
    parts = [b"!<arch>\n"]
    for name, data in members.items():
        parts.append(f"{name:<16}{epoch:<12}{0:<6}{0:<6}{0o100644:<8o}{len(data):<10}`\n".encode("ascii"))
        parts.append(data + b"\n" * (len(data) % 2))
    return b"".join(parts)
