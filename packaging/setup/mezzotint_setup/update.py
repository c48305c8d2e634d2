"""Looks for a newer release, only where that was allowed, and takes its payload by hash."""

import json
import platform
import re
import shutil
import sys
import zipfile
from dataclasses import dataclass
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit

from mezzotint_setup.addresses import is_safe
from mezzotint_setup.download import Downloads
from mezzotint_setup.errors import SetupFailed
from mezzotint_setup.events import Reporter, Stop
from mezzotint_setup.network import Network
from mezzotint_setup.payload import Payload, Wheel
from mezzotint_setup.root import Root, remove
from mezzotint_setup.signature import LARGEST, SUFFIX, check_signature

_LARGEST_INDEX = 1 << 20
_LARGEST_PAYLOAD = 1 << 30
_FORMAT = 1
_ALLOWED = "updates.json"


def allow(root: Root, *, allowed: bool) -> None:
    """Remember whether to ask for releases."""
    root.create()
    (root.path / _ALLOWED).write_text(json.dumps({"allowed": allowed}), "utf-8")


def keep_answer(before: Root, root: Root) -> None:
    """Ask for releases from another folder, too, where that was allowed."""
    if is_allowed(before) and not (root.path / _ALLOWED).exists():
        allow(root, allowed=True)


def is_allowed(root: Root) -> bool:
    """Whether it was allowed to ask for releases; not before."""
    try:
        return json.loads((root.path / _ALLOWED).read_text("utf-8"))["allowed"] is True
    except (OSError, ValueError, KeyError, TypeError):
        return False


def newer(version: str, than: str) -> bool:
    """Whether a version is newer, by its numbers."""
    return _numbers(version) > _numbers(than)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version.partition("+")[0]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """The newest release, as its index tells."""

    version: str
    archive: Wheel  # its payload for this system, a zip file

    def take(self, root: Root, *, network: Network, stop: Stop, reporter: Reporter) -> Payload:
        """Download and unpack its payload beside the others."""
        root.create()
        folder = root.payloads / self.version
        part = root.payloads / f".{self.version}.part"
        with root.owned():
            reporter.phase("download")
            downloads = Downloads(root.downloads, network=network, mirrors=(), stop=stop)
            downloads.fetch([self.archive], reporter.progress)
            remove(part)
            try:
                _unpack(downloads, self.archive, root, self.version)
                remove(folder)
                part.rename(folder)
            finally:
                remove(part)
        return Payload.read(folder)


def _unpack(downloads: Downloads, archive: Wheel, root: Root, version: str) -> None:
    part = root.payloads / f".{version}.part"
    part.mkdir(parents=True)
    with zipfile.ZipFile(downloads.path(archive)) as opened:
        if sum(one.file_size for one in opened.infolist()) > min(_LARGEST_PAYLOAD, root.free()):
            raise SetupFailed("no_room", f"there is no room for {archive.filename}", "free some space")
        for one in opened.infolist():
            opened.extract(one, part)
    for program in part.glob("uv*"):
        program.chmod(0o755)
    downloads.path(archive).unlink()


def platform_key() -> str:
    """The name of this system in a release index: linux_x86_64, win32_amd64, darwin_arm64."""
    return f"{sys.platform}_{platform.machine().lower()}"


def newest(root: Root, index: str, network: Network, key: str) -> Release:
    """Ask a release index, which the owner of the key has signed.

    Raises SetupFailed if that was not allowed, or its answer is not signed or not understood.
    """
    if not is_allowed(root):
        raise SetupFailed("not_allowed", "looking for updates is off", "allow it once (check-update --allow)")
    if not index:
        what = "this copy of Mezzotint names no address to ask for newer versions"
        raise SetupFailed("no_index", what, "get a newer one from where this one came from, or give --index URL")
    try:
        content = _asked(index, network, _LARGEST_INDEX)
        signature = _signature(index, network)
    except OSError as error:
        raise SetupFailed(
            "no_network", f"{index} does not answer ({error})", "check the connection and try again"
        ) from error
    check_signature(content, signature, key, index)
    return _release(content)


def _asked(address: str, network: Network, most: int) -> bytes:
    _require_safe(address)
    with network.open(address) as response:
        _require_safe(response.geturl())  # it may have been sent elsewhere
        return response.read(most)


def _signature(index: str, network: Network) -> str:
    parts = urlsplit(index)
    try:
        address = parts._replace(path=parts.path + SUFFIX).geturl()
        return _asked(address, network, LARGEST).decode("utf-8", "replace")
    except HTTPError as error:
        raise SetupFailed(
            "signature", f"{index} is not signed ({error})", "get the newest installer from Mezzotint's page"
        ) from error


def _release(content: bytes) -> Release:
    try:
        data: dict[str, Any] = json.loads(content)
        if data["format"] != _FORMAT:
            raise ValueError(f"format {data['format']}")
        version = str(data["version"])
        if not re.fullmatch(r"\d+(\.\d+)*[a-z0-9.]*", version):
            raise ValueError(f"version {version}")
        one = data["payloads"][platform_key()]
        archive = Wheel(
            name="mezzotint-payload",
            version=version,
            filename=f"mezzotint-payload-{version}.zip",
            url=str(one["url"]),
            size=int(one["size"]),
            sha256=str(one["sha256"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        what = f"the release index is not understood ({type(error).__name__}: {error})"
        raise SetupFailed("index", what, "get the newest installer from Mezzotint's page") from error
    return Release(version=version, archive=archive)


def _require_safe(address: str) -> None:
    if not is_safe(address):
        raise SetupFailed("index", f"{address} is no release index", "use an https address without a password")


def newest_payload(root: Root, given: Payload) -> Payload:
    """The newest payload that is here: the installer's, or one that an update brought."""
    found = [given]
    for folder in root.payloads.glob("[0-9]*"):
        try:
            found.append(Payload.read(folder))
        except SetupFailed:
            continue
    return max(found, key=lambda one: _numbers(one.version))


def drop_payloads(root: Root, used: set[str]) -> None:
    """Remove payloads that no version was made from."""
    for folder in root.payloads.glob("*"):
        if str(folder) not in used:
            shutil.rmtree(folder, ignore_errors=True)
