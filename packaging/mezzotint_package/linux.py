"""Linux: the Debian package, and the AppImage."""

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from mezzotint_package import archives, icons
from mezzotint_package.archives import Member
from mezzotint_package.errors import PackagingError
from mezzotint_package.payload import laid_out

_LIBRARY = "lib/mezzotint"
_COPYRIGHT = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Mezzotint

Files: *
Copyright: The Mezzotint authors
License: Apache-2.0
 On Debian systems, the text is in /usr/share/common-licenses/Apache-2.0.
"""


def tree(project: Path, payload: Mapping[str, Member], version: str, epoch: int) -> dict[str, Member]:
    """Return what is under /usr in both: the payload, launchers, icons, the desktop's files."""
    source = project / "packaging/linux"
    date = f"{datetime.fromtimestamp(epoch, UTC):%Y-%m-%d}"
    told = (source / "org.mezzotint.Mezzotint.metainfo.xml").read_text("utf-8")
    files = {f"{_LIBRARY}/{name}": member for name, member in payload.items()}
    files |= {
        "bin/mezzotint": Member(data=(source / "mezzotint").read_bytes(), program=True),
        "bin/mezzotint-app": Member(link="mezzotint"),
        "bin/mezzotint-setup": Member(link="mezzotint"),
        "share/applications/mezzotint.desktop": Member(data=(source / "mezzotint.desktop").read_bytes()),
        "share/mime/packages/mezzotint-job.xml": Member(data=(source / "mezzotint-job.xml").read_bytes()),
        "share/metainfo/org.mezzotint.Mezzotint.metainfo.xml": Member(
            data=told.replace("@VERSION@", version).replace("@DATE@", date).encode()
        ),
    }
    drawings = {"apps/mezzotint": icons.program_drawing(project)}
    drawings["mimetypes/application-x-mezzotint-job"] = icons.job_drawing(project)
    for name, drawing in drawings.items():
        files[f"share/icons/hicolor/scalable/{name}.svg"] = Member(data=drawing)
        for size in icons.SIZES:
            files[f"share/icons/hicolor/{size}x{size}/{name}.png"] = Member(data=icons.png(drawing, size))
    return files


def deb(project: Path, files: Mapping[str, Member], version: str, epoch: int) -> bytes:
    """Return the Debian package."""
    installed = {f"usr/{name}": member for name, member in files.items()}
    installed["usr/share/doc/mezzotint/copyright"] = Member(data=_COPYRIGHT.encode())
    source = project / "packaging/linux/deb"
    size = sum(-(-len(member.data) // 1024) for member in installed.values())
    told = (source / "control").read_text("utf-8").replace("@VERSION@", version).replace("@SIZE@", str(size))
    sums = "".join(
        f"{hashlib.md5(member.data, usedforsecurity=False).hexdigest()}  {name}\n"
        for name, member in sorted(installed.items())
        if not member.link
    )
    control = {"control": Member(data=told.encode()), "md5sums": Member(data=sums.encode())}
    for script in ("prerm", "postrm"):
        control[script] = Member(data=(source / script).read_bytes(), program=True)
    parts = {
        "debian-binary": b"2.0\n",
        "control.tar.xz": archives.tarred(control, epoch),
        "data.tar.xz": archives.tarred(installed, epoch),
    }
    return archives.ar(parts, epoch)


def appdir(files: Mapping[str, Member]) -> dict[str, Member]:
    """Return the contents of an AppImage."""
    inside = {f"usr/{name}": member for name, member in files.items()}
    inside["AppRun"] = Member(link="usr/bin/mezzotint")
    for name in ("mezzotint.desktop", "mezzotint.png"):
        folder = "applications" if name.endswith("desktop") else "icons/hicolor/256x256/apps"
        inside[name] = Member(link=str(PurePosixPath("usr/share", folder, name)))
    inside[".DirIcon"] = Member(link="mezzotint.png")
    return inside


def appimage(files: Mapping[str, Member], runtime: Path, epoch: int) -> bytes:
    """Return the AppImage: its runtime, followed by a compressed file system."""
    program = shutil.which("mksquashfs")
    if program is None:
        raise PackagingError("an AppImage needs mksquashfs; on Debian and Ubuntu: sudo apt-get install squashfs-tools")
    with tempfile.TemporaryDirectory() as folder:
        laid_out(appdir(files), Path(folder) / "AppDir")
        image = Path(folder) / "image"
        command = [program, str(Path(folder) / "AppDir"), str(image), "-all-root", "-no-xattrs", "-noappend"]
        command += ["-comp", "zstd", "-quiet", "-no-progress", "-processors", "1"]  # several would shuffle the blocks
        command += ["-mkfs-time", str(epoch), "-all-time", str(epoch)]
        told = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}  # it refuses both
        done = subprocess.run(command, env=told, check=False)
        if done.returncode:
            raise PackagingError(f"mksquashfs ended with {done.returncode}; its reason is above")
        return runtime.read_bytes() + image.read_bytes()
