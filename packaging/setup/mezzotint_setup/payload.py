"""The payload: what an installer carries."""

import hashlib
import json
import os
import tomllib
import urllib.parse
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from mezzotint_setup.errors import SetupFailed
from mezzotint_setup.wheel_tags import Target, this_target

BACKENDS = ("window", "cpu", "cu126", "cu130", "rocm", "xpu", "mps")
_CHUNK = 1 << 20
_UNPACKED = 3.2  # bytes on disk for a byte of wheel, where the lock does not say


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheel:
    """One wheel of a lock."""

    name: str
    version: str
    filename: str
    url: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """Every wheel of a backend that fits this Python and system."""

    wheels: tuple[Wheel, ...]
    installed: int  # bytes on disk

    @property
    def download(self) -> int:
        """Bytes of all wheels."""
        return sum(wheel.size for wheel in self.wheels)


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """The folder with uv, our wheels, the locks and this bootstrap."""

    folder: Path
    version: str
    files: dict[str, str]  # the SHA-256 of each, by its relative path
    mirrors: tuple[str, ...]
    updates: str = ""  # the address of the release index
    key: str = ""  # minisign's public key of the owner of the index

    @classmethod
    def read(cls, folder: Path) -> "Payload":
        """Read payload.json."""
        try:
            data = json.loads((folder / "payload.json").read_text("utf-8"))
            return cls(
                folder=folder,
                version=str(data["version"]),
                files={str(name): str(sha256) for name, sha256 in data["files"].items()},
                mirrors=tuple(str(one) for one in data.get("index", ())),
                updates=str(data.get("updates", "")),
                key=str(data.get("key", "")),
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise damaged(f"{folder / 'payload.json'} ({type(error).__name__}: {error})") from error

    def verify(self) -> None:
        """Compare every file with its hash."""
        for name, sha256 in self.files.items():
            path = self.folder / PurePosixPath(name)
            try:
                if hash_of(path) != sha256:
                    raise damaged(f"{path} is not what was released")
            except OSError as error:
                raise damaged(f"{path} cannot be read ({error.strerror})") from error

    @property
    def uv(self) -> Path:
        """The program that builds environments."""
        return self.folder / ("uv.exe" if os.name == "nt" else "uv")

    @property
    def backends(self) -> tuple[str, ...]:
        """Backends that there are locks for."""
        return tuple(name for name in BACKENDS if self._lock(name).is_file())

    def lock(self, backend: str, target: Target | None = None) -> Lock:
        """Read the lock of a backend."""
        path = self._lock(backend)
        if backend not in self.backends:
            known = ", ".join(self.backends)
            raise SetupFailed("no_lock", f"this release has no {backend} build", f"choose one of: {known}")
        try:
            data = tomllib.loads(path.read_text("utf-8"))
            wheels = tuple(_wheel(one, target or this_target()) for one in data["packages"])
            told = data.get("tool", {}).get("mezzotint", {}).get("installed")
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise damaged(f"{path} ({type(error).__name__}: {error})") from error
        return Lock(wheels=wheels, installed=int(told or _UNPACKED * sum(wheel.size for wheel in wheels)))

    def own_wheels(self, backend: str, target: Target | None = None) -> tuple[Wheel, ...]:
        """Mezzotint's wheel, and that of the kernels where it can be used."""
        target = target or this_target()
        return tuple(
            _own_wheel(self.folder / PurePosixPath(name), sha256)
            for name, sha256 in sorted(self.files.items())
            if name.startswith("wheels/")
            and target.rank(name.rpartition("/")[2]) is not None
            and (backend.startswith("cu") or not name.startswith("wheels/mezzotint_kernels"))
        )

    def _lock(self, backend: str) -> Path:
        return self.folder / "locks" / f"pylock.{backend}.toml"


def damaged(what: str) -> SetupFailed:
    """The failure of a payload that is not as released."""
    return SetupFailed("payload", f"the installation is damaged: {what}", "download the installer and run it again")


def hash_of(path: Path) -> str:
    """The SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _wheel(package: dict[str, Any], target: Target) -> Wheel:
    """The wheel of a package that fits best."""
    ranked = sorted(
        (rank, number)
        for number, one in enumerate(package.get("wheels", ()))
        if (rank := target.rank(_filename(one))) is not None
    )
    if not ranked:
        python = ".".join(map(str, target.python))
        raise SetupFailed(
            "no_wheel",
            f"there is no build of {package['name']} for Python {python} on {target.platform}",
            "use the installer made for this system, or a Python from 3.11 to 3.14",
        )
    one = package["wheels"][ranked[0][1]]
    return Wheel(
        name=package["name"],
        version=package["version"],
        filename=_filename(one),
        url=one["url"],
        size=int(one["size"]),
        sha256=one["hashes"]["sha256"],
    )


def _filename(wheel: dict[str, Any]) -> str:
    name = str(wheel.get("name") or urllib.parse.unquote(urllib.parse.urlsplit(wheel["url"]).path.rpartition("/")[2]))
    if set(name) & set("/\\:") or name.startswith("."):
        raise ValueError(f"{name!r} is no file name")
    return name


def _own_wheel(path: Path, sha256: str) -> Wheel:
    name, version = path.name.split("-")[:2]
    return Wheel(
        name=name, version=version, filename=path.name, url=path.as_uri(), size=path.stat().st_size, sha256=sha256
    )


def requirements(wheels: Iterable[Wheel]) -> str:
    """Requirements that only these very files satisfy."""
    return "".join(f"{wheel.name}=={wheel.version} --hash=sha256:{wheel.sha256}\n" for wheel in wheels)
