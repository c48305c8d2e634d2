"""Everything that is put together for one installer, and where it is written."""

import json
import os
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mezzotint_package import archives, fetched, linux, locks, macos, sbom, windows
from mezzotint_package.archives import Member
from mezzotint_package.errors import PackagingError
from mezzotint_package.payload import Parts, payload
from mezzotint_package.signing import PUBLIC_KEY
from mezzotint_package.targets import PYTORCH, TARGETS, Target
from mezzotint_setup.signature import PublicKey

KINDS = ("wheel", "deb", "appimage", "nsis", "macos")
_INDEX = "mezzotint-releases.json"  # what the bootstrap asks for updates
SYSTEMS = {"deb": "linux", "appimage": "linux", "nsis": "windows", "macos": "macos"}
_HERE = {"linux": "linux", "win32": "windows", "darwin": "macos"}


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the person who builds can choose."""

    project: Path
    output: Path
    work: Path  # downloads, and locks once they are made
    kernels: Sequence[Path] = ()  # their wheels
    runtime: Path | None = None  # of AppImages
    torch_index: str | None = None
    locks: Path | None = None  # a folder with a folder for each system
    release: bool = False  # every backend, and nothing of this machine's own
    updates: str = ""  # the folder of URLs of the newest release
    url: str = ""  # that of this one
    public_key: Path | None = None  # that the index is signed by, instead of the project's


class Release:
    """Builds installers of one version."""

    def __init__(self, options: Options, say: Callable[[str], None]) -> None:
        self._options = options
        self._say = say
        self._scratch = tempfile.TemporaryDirectory()
        self.epoch = epoch(options.project)

    def build(self, kind: str) -> Path:
        """Build one kind, and return the file."""
        self._options.output.mkdir(parents=True, exist_ok=True)
        if kind == "wheel":
            return self._kept(self.wheel.name, self.wheel.read_bytes())
        target = TARGETS[SYSTEMS[kind]]
        texts = self.locks(target)
        files = payload(self._parts(target, texts))
        self._kept_bill(target, texts)
        make = {"deb": self._deb, "appimage": self._appimage, "nsis": self._nsis, "macos": self._macos}[kind]
        return self._kept(*make(files))

    def build_payload(self, target: Target) -> Path:
        """Build what an update downloads, and the index that names it for each system."""
        texts = self.locks(target)
        self._kept_bill(target, texts)
        data = archives.zipped(payload(self._parts(target, texts)), self.epoch)
        path = self._kept(f"mezzotint-payload-{self.version}-{target.key}.zip", data)
        payloads = {}
        for system in TARGETS.values():
            archive = self._options.output / f"mezzotint-payload-{self.version}-{system.key}.zip"
            if archive.is_file():
                told = {"url": self._options.url.rstrip("/") + "/" + archive.name, "size": archive.stat().st_size}
                payloads[system.key] = told | {"sha256": fetched.sha256(archive)}
        index = {"format": 1, "version": self.version, "payloads": payloads}
        self._kept(_INDEX, (json.dumps(index, indent=1) + "\n").encode())
        return path

    def _kept_bill(self, target: Target, texts: Mapping[str, str]) -> None:
        packages = {backend: locks.read(text) for backend, text in texts.items()}
        bill = sbom.bill(self.version, self.epoch, fetched.pins()["uv"]["version"], packages)
        self._kept(f"mezzotint-{self.version}-{target.system}.cdx.json", bill.encode())

    @cached_property
    def version(self) -> str:
        """The version, as the wheel has it."""
        return self.wheel.name.split("-")[1]

    @cached_property
    def wheel(self) -> Path:
        """Our wheel, built once."""
        folder = self._scratch.name
        command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, str(self._options.project)]
        told = dict(os.environ, SOURCE_DATE_EPOCH=str(self.epoch))
        if subprocess.run(command, env=told, check=False).returncode:
            raise PackagingError("pip could not build the wheel; its reason is above")
        [built] = Path(folder).glob("mezzotint-*.whl")
        return built

    def locks(self, target: Target) -> dict[str, str]:
        """Return the locks of a system by backend: those of the given folder, or new ones."""
        given = self._options.locks
        if given is not None:
            paths = (given / target.system).glob("pylock.*.toml")
            found = {path.name.split(".")[1]: path.read_text("utf-8") for path in paths}
            if "window" not in found:
                raise PackagingError(f"{given / target.system} has no pylock.window.toml; make locks with KIND=locks")
            return found
        base = self._torch_index()
        backends = [name for name in target.backends if base is not None or name in ("window", "cpu", "mps")]
        return {backend: self._lock(target, backend, base) for backend in backends}

    def write_locks(self, systems: Sequence[str]) -> Path:
        """Write the locks of systems into the output, a folder for each."""
        for system in systems:
            for backend, text in self.locks(TARGETS[system]).items():
                path = self._options.output / "locks" / system / f"pylock.{backend}.toml"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, "utf-8")
        return self._options.output / "locks"

    def _lock(self, target: Target, backend: str, base: str | None) -> str:
        self._say(f"locking {backend} for {target.system}")
        uv = fetched.uv_here(self._options.work, TARGETS[_HERE[sys.platform]])
        index = locks.index_of(target, backend, base)
        resolver = locks.Resolver(uv=uv, project=self._options.project, index=index)
        packages = resolver.lock(target, backend)
        if self._options.release and (bad := locks.local(packages)):
            raise PackagingError(f"a release cannot name {bad[0]}, which others cannot read")
        return locks.written(packages, index.pythons)

    def _torch_index(self) -> str | None:
        base = self._options.torch_index
        if base is not None or self._options.release:
            return None if base == "configured" else base or PYTORCH
        try:
            urllib.request.urlopen(PYTORCH + "cpu/", timeout=5).close()
        except (urllib.error.URLError, OSError):
            self._say(f"{PYTORCH} cannot be reached: locking the CPU build alone, from the index that pip uses")
            return None
        return PYTORCH

    def _parts(self, target: Target, texts: dict[str, str]) -> Parts:
        kernels = [wheel for wheel in self._options.kernels if target.fits(wheel)]
        updates = self._options.updates
        return Parts(
            version=self.version,
            python=locks.python_for(target, [locks.read(text) for text in texts.values()]),
            uv=fetched.uv(target, self._options.work),
            uv_name=f"uv{target.suffix}",
            wheels=[self.wheel, *kernels],
            locks=texts,
            bootstrap=self._options.project / "packaging/setup/mezzotint_setup",
            updates=updates and f"{updates.rstrip('/')}/{_INDEX}",
            key=self._key() if updates else "",
        )

    def _key(self) -> str:
        """The public key that updates are signed by, without which no copy could trust one."""
        path = self._options.public_key or self._options.project / "packaging" / PUBLIC_KEY
        try:
            text = path.read_text("utf-8")
            PublicKey.read(text)
        except (OSError, ValueError) as error:
            raise PackagingError(f"{path} has no public key for updates ({error}); see docs/releasing.md") from None
        return text.strip().rpartition("\n")[2]

    def _deb(self, files: dict[str, Member]) -> tuple[str, bytes]:
        inside = linux.tree(self._options.project, files, self.version, self.epoch)
        data = linux.deb(self._options.project, inside, self.version, self.epoch)
        return f"mezzotint_{self.version}_amd64.deb", data

    def _appimage(self, files: dict[str, Member]) -> tuple[str, bytes]:
        runtime = self._options.runtime or fetched.appimage_runtime(self._options.work)
        inside = linux.tree(self._options.project, files, self.version, self.epoch)
        return f"Mezzotint-{self.version}-x86_64.AppImage", linux.appimage(inside, runtime, self.epoch)

    def _nsis(self, files: dict[str, Member]) -> tuple[str, bytes]:
        data = windows.installer(self._options.project, files, self.version, self.epoch)
        return f"Mezzotint-{self.version}-setup.exe", data

    def _macos(self, files: dict[str, Member]) -> tuple[str, bytes]:
        inside = macos.bundle(self._options.project, files, self.version)
        return f"Mezzotint-{self.version}-macos-arm64.zip", archives.zipped(inside, self.epoch)

    def _kept(self, name: str, data: bytes) -> Path:
        path = self._options.output / name
        part = path.with_name(path.name + ".part")
        part.write_bytes(data)
        if name.endswith(".AppImage"):
            part.chmod(0o755)
        part.replace(path)
        write_sums(self._options.output)
        return path


def epoch(project: Path) -> int:
    """Return SOURCE_DATE_EPOCH, or the time of the last commit."""
    told = os.environ.get("SOURCE_DATE_EPOCH")
    if told is None:
        command = ["git", "-C", str(project), "log", "-1", "--format=%ct"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        told = done.stdout.strip() or "1767225600"
    return int(told)


def write_sums(folder: Path) -> None:
    """Write SHA256SUMS, with every other file of a folder."""
    lines = [
        f"{fetched.sha256(path)}  {path.name}\n"
        for path in sorted(folder.iterdir())
        if path.is_file() and path.name != "SHA256SUMS" and path.suffix != ".part"
    ]
    (folder / "SHA256SUMS").write_text("".join(lines), "utf-8")
