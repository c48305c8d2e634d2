"""The published sets that training pictures come from, fetched by npm and kept outside the project."""

import hashlib
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from mezzotint.errors import StorageError

_SECONDS = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedSet:
    """A package of npm: its exact version, the SHA-512 of its archive, and the licence of its content."""

    package: str
    version: str
    sha512: str
    licence: str

    @property
    def archive(self) -> str:
        """The name of the file that `npm pack` writes."""
        return f"{self.package.removeprefix('@').replace('/', '-')}-{self.version}.tgz"


NAMES = PublishedSet(
    package="emojibase-data",
    version="17.0.0",
    sha512="62f81be405a81d588757f82ad6aaf96406ab7018a9f81dbbfd92d1b142646e000468b959fdfa1ff60f3cd8b4e9984a728413440b49b6484988b658c7b13ca08c",
    licence="MIT",
)
SOLID = PublishedSet(
    package="@lobehub/fluent-emoji-3d",
    version="1.1.0",
    sha512="5a5ab69554ad4e7afc043a48274a449d328ee0bb83c71a931214ef46d0f50cb445d267bba207914232a87a10c75ee549d9069e720979c1106feb4954006de1ee",
    licence="MIT",
)
FLAT = PublishedSet(
    package="@iconify-json/fluent-emoji-flat",
    version="1.2.6",
    sha512="458e3b4603dbe3b7d8522cab03ae2c20e2f4f94534dacdbdb17a4d05b2104415253e57cd1532949990c4446bb10ecffbc8d196a9062fb9a4983353387d15e553",
    licence="MIT",
)


def default_folder() -> Path:
    """The folder of the archives: of the user's cache, never of the project."""
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "mezzotint" / "starter-data"


def archive_of(published: PublishedSet, folder: Path) -> Path:
    """Return the set's archive in the folder, fetched first if it is missing. Raises StorageError."""
    path = folder / published.archive
    if not path.exists():
        _fetch(published, folder)
    found = hashlib.sha512(path.read_bytes()).hexdigest()
    if found != published.sha512:
        raise StorageError(f"{path} is not version {published.version} of {published.package}: delete it and try again")
    return path


def _fetch(published: PublishedSet, folder: Path) -> None:
    wanted = f"{published.package}@{published.version}"
    npm = shutil.which("npm")
    if npm is None:
        raise StorageError(
            f"npm was not found, which fetches the training pictures: install Node.js, or put the archive of {wanted} "
            f"into {folder} as {published.archive}"
        )
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as fresh:
        _pack(npm, wanted, Path(fresh))
        Path(fresh, published.archive).replace(folder / published.archive)


def _pack(npm: str, wanted: str, into: Path) -> None:
    command = [npm, "pack", "--ignore-scripts", "--pack-destination", str(into), wanted]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=_SECONDS)  # noqa: S603  a list
    except subprocess.SubprocessError as error:
        said = str(getattr(error, "stderr", "") or error).strip().splitlines()
        raise StorageError(f"npm could not fetch {wanted}: {said[-1] if said else 'it said nothing'}") from error
