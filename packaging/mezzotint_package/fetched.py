"""Files from elsewhere, each known by its hash, kept in a folder of downloads."""

import hashlib
import os
import subprocess
import sys
import tomllib
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

from mezzotint_package.errors import PackagingError
from mezzotint_package.targets import Target

_PINS = Path(__file__).parents[1] / "pins.toml"
_MOST = 1 << 28  # bytes of a download


def pins() -> dict[str, dict[str, str]]:
    """Return versions and hashes of what comes from elsewhere."""
    return tomllib.loads(_PINS.read_text("utf-8"))


def sha256(path: Path) -> str:
    """Return the hash of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def uv(target: Target, downloads: Path) -> bytes:
    """Return the program uv for a system, from its pinned wheel."""
    pin = pins()["uv"]
    folder = downloads / f"uv-{pin['version']}-{target.system}"
    if not list(folder.glob("*.whl")):
        _pip_download(pin, target, folder)
    [wheel] = folder.glob("*.whl")
    if sha256(wheel) != pin[target.system]:
        raise PackagingError(f"{wheel} is not the file that packaging/pins.toml names; delete it, and build again")
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(f"uv-{pin['version']}.data/scripts/uv{target.suffix}")


def uv_here(downloads: Path, target: Target) -> Path:
    """Return a uv that runs on this machine, whose system is `target`."""
    path = downloads / f"uv{target.suffix}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(uv(target, downloads))
    path.chmod(0o755)
    return path


def appimage_runtime(downloads: Path) -> Path:
    """Return the program that every AppImage begins with, downloaded if it is not there."""
    pin = pins()["appimage_runtime"]
    path = downloads / f"appimage-runtime-{pin['version']}"
    if not path.is_file():
        try:
            with urllib.request.urlopen(pin["url"], timeout=60) as answer:
                data = answer.read(_MOST)
        except (urllib.error.URLError, OSError) as error:
            raise PackagingError(
                f"{pin['url']} cannot be downloaded: {error}. Give it as RUNTIME=FILE, or build another KIND."
            ) from error
        if hashlib.sha256(data).hexdigest() != pin["sha256"]:
            raise PackagingError(f"{pin['url']} is not the file that packaging/pins.toml names")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return path


def _pip_download(pin: dict[str, str], target: Target, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    wanted = folder / "requirements.txt"
    wanted.write_text(f"uv=={pin['version']} --hash=sha256:{pin[target.system]}\n", "utf-8")
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "--require-hashes"]
    command += ["--platform", target.wheel_platform, "-d", str(folder), "-r", str(wanted)]
    done = subprocess.run(command, env=dict(os.environ, PIP_NO_WARN_CONFLICTS="1"), check=False)
    if done.returncode:
        raise PackagingError(f"pip could not download uv {pin['version']} for {target.system}; its reason is above")
