"""The AppImage and the macOS bundle: their structure, and their launcher as far as it runs on this machine."""

import json
import os
import plistlib
import shutil
import struct
import subprocess
import zipfile
from pathlib import Path

from mezzotint_package.fetched import sha256

# Begins a test's AppImage: unpacks what follows it, since the real runtime comes from outside of every registry.
RUNTIME = """#!/bin/sh
set -e
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unsquashfs -quiet -no-progress -f -o 512 -d "$folder" "$0" > /dev/null
"$folder/AppRun" "$@"
exit
"""


def runtime(work: Path) -> Path:
    """Write the stand-in for AppImages' runtime."""
    path = work / "stand_in_runtime"
    path.write_bytes(RUNTIME.encode().ljust(512, b"\n"))
    return path


def check_appimage(image: Path, work: Path) -> dict[str, float]:
    """Unpack it and look; run it if it begins with the stand-in."""
    folder = work / "AppDir"
    shutil.rmtree(folder, ignore_errors=True)
    data = image.read_bytes()
    offset = _end_of_program(data) if data.startswith(b"\x7fELF") else 512
    subprocess.run(["unsquashfs", "-quiet", "-no-progress", "-o", str(offset), "-d", folder, image], check=True)
    subprocess.run(["desktop-file-validate", folder / "mezzotint.desktop"], check=True)
    [told] = (folder / "usr/share/metainfo").iterdir()
    subprocess.run(["appstreamcli", "validate", "--no-net", told], check=True)
    assert (folder / ".DirIcon").resolve().read_bytes().startswith(b"\x89PNG")
    assert (folder / "AppRun").resolve() == folder / "usr/bin/mezzotint"
    _payload(folder / "usr/lib/mezzotint", "uv", b"\x7fELF")
    mode = (folder / "usr/lib/mezzotint").stat()
    assert (mode.st_uid, mode.st_mode & 0o777) == (0, 0o755)
    if data.startswith(b"#!"):
        empty = work / "empty home"
        shutil.rmtree(empty, ignore_errors=True)
        empty.mkdir()
        done = subprocess.run(
            [image, "cli", "--version"],
            env={"PATH": "/usr/bin:/bin", "HOME": str(empty)},
            capture_output=True,
            text=True,
        )
        assert "no engine is installed yet" in done.stderr, done
        assert list(empty.rglob("*")) == []
    return {"appimage_mb": len(data) / 1e6}


def _end_of_program(data: bytes) -> int:
    """Return where an ELF file ends: after the table of its sections."""
    [table] = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    return int(table + size * count)


def check_macos(bundle: Path, work: Path) -> dict[str, float]:
    """Unpack it and look; its launcher runs with stand-ins for uname and uv."""
    folder = work / "macos"
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run(["unzip", "-q", bundle, "-d", folder], check=True)
    contents = folder / "Mezzotint.app/Contents"
    properties = plistlib.loads((contents / "Info.plist").read_bytes())
    program = contents / "MacOS" / properties["CFBundleExecutable"]
    assert os.access(program, os.X_OK)
    assert properties["CFBundlePackageType"] == "APPL"
    for icon in (properties["CFBundleIconFile"], properties["CFBundleDocumentTypes"][0]["CFBundleTypeIconFile"]):
        assert (contents / "Resources" / f"{icon}.icns").read_bytes()[:4] == b"icns"
    payload = contents / "Resources/payload"
    _payload(payload, "uv", b"\xcf\xfa\xed\xfe")
    with zipfile.ZipFile(bundle) as archive:
        assert all(name.startswith("Mezzotint.app/") for name in archive.namelist())
    _launched(program, payload, work / "stand-ins", properties["CFBundleShortVersionString"])
    return {"macos_mb": bundle.stat().st_size / 1e6}


def _launched(program: Path, payload: Path, stand_ins: Path, version: str) -> None:
    shutil.rmtree(stand_ins, ignore_errors=True)
    home = stand_ins / "home"
    home.mkdir(parents=True)
    python = stand_ins / "python"
    _script(stand_ins / "uname", "echo Darwin")
    _script(python, 'echo "$@" "$PYTHONPATH" "$MEZZOTINT_SETUP_PAYLOAD"')
    _script(payload / "uv", f'case "$2" in find) [ -e "$HOME/got" ] && echo "{python}" ;; *) touch "$HOME/got";; esac')
    environment = {"PATH": f"{stand_ins}:/usr/bin:/bin", "HOME": str(home)}
    done = subprocess.run([program, "a.png"], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[0] == f"-m mezzotint_setup start a.png {payload} {payload}", done
    assert "Getting Python" in done.stderr
    assert version


def _script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def _payload(folder: Path, uv: str, magic: bytes) -> None:
    table = json.loads((folder / "payload.json").read_text("utf-8"))
    for name, digest in table["files"].items():
        assert sha256(folder / name) == digest, name
    assert (folder / uv).read_bytes().startswith(magic)
    assert os.access(folder / uv, os.X_OK)
