"""The folder of versions: which one is in use, which one was before, and what else lies there."""

import contextlib
import json
import os
import secrets
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from mezzotint_setup.errors import SetupFailed, disk_trouble
from mezzotint_setup.held_file import HeldFile

FORMAT = 1
PROVEN = ".proven"
IN_USE = ".in_use"
_ELSEWHERE = "elsewhere.json"  # in the default folder: the one that was chosen instead
_LONGEST_ON_WINDOWS = 100  # characters of the folder; packages need up to 150 more, and Windows allows 260
_SYNC_SECONDS = 20.0
_RETRY_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0)  # Windows: a scanner holds the new files


@dataclass(frozen=True, slots=True, kw_only=True)
class Pointer:
    """The version in use, and the one before."""

    version: str
    before: str | None = None


class Root:
    """One folder of versions; everything in it can be made again."""

    def __init__(self, path: Path, *, windows: bool = os.name == "nt") -> None:
        self.path = path.absolute()
        self._windows = windows
        self.versions = self.path / "versions"
        self.downloads = self.path / "downloads"
        self.cache = self.path / "cache"
        self.python = self.path / "python"
        self.payloads = self.path / "payloads"
        self._current = self.path / "current.json"

    def create(self) -> None:
        """Make the folder; raises SetupFailed if it cannot be used."""
        if self._windows and len(str(self.path)) > _LONGEST_ON_WINDOWS:
            raise SetupFailed(
                "path_long", f"{self.path} is too long for Windows", "choose a folder with a shorter path"
            )
        try:
            for folder in (self.versions, self.downloads):
                folder.mkdir(parents=True, exist_ok=True)
            probe = self.path / f".probe-{secrets.token_hex(4)}"
            probe.touch()
            probe.unlink()
        except OSError as error:
            raise disk_trouble(error, self.path) from error

    def free(self) -> int:
        """Bytes free on the disk, also before the folder exists."""
        there = next(one for one in (self.path, *self.path.parents) if one.is_dir())
        return shutil.disk_usage(there).free

    @contextlib.contextmanager
    def owned(self) -> Iterator[None]:
        """Hold the folder for one change at a time; the system frees it when the holder ends, however it ends."""
        held = HeldFile.take(self.path / "lock")
        if held is None:
            raise SetupFailed(
                "busy", f"another installation is at work in {self.path}", "wait until it has ended, then try again"
            )
        try:
            yield
        finally:
            held.release()

    # ---- versions

    def folder(self, name: str) -> Path:
        """The environment of a version."""
        return self.versions / name

    def interpreter(self, name: str, *, console: bool = True) -> Path:
        """The Python of a version."""
        return interpreter_in(self.folder(name), windows=self._windows, console=console)

    def works(self, name: str | None) -> bool:
        """Whether a version is complete and its Python is still there."""
        return name is not None and (self.folder(name) / PROVEN).is_file() and self.interpreter(name).exists()

    def pointer(self) -> Pointer | None:
        """What current.json says; None if it is missing or damaged."""
        try:
            data = json.loads(self._current.read_text("utf-8"))
            version, before = data["version"], data.get("before")
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        names = [name for name in (version, before) if name is not None]
        if not all(isinstance(name, str) and _is_name(name) for name in names):
            return None
        return Pointer(version=version, before=before)

    def facts(self, name: str) -> dict[str, str]:
        """What was written when a version was finished; empty if it never was."""
        try:
            found: dict[str, str] = json.loads((self.folder(name) / PROVEN).read_text("utf-8"))
            return found if isinstance(found, dict) else {}
        except (OSError, ValueError):
            return {}

    def proven(self) -> list[str]:
        """Every version that works, newest first."""
        if not self.versions.is_dir():
            return []
        names = [one.name for one in self.versions.iterdir() if _is_name(one.name) and self.works(one.name)]
        return sorted(names, key=lambda name: (self.folder(name) / PROVEN).stat().st_mtime, reverse=True)

    def usable(self) -> str | None:
        """The version to start: the one in use, else the one before, else the newest; None if there is none."""
        pointer = self.pointer()
        wanted = () if pointer is None else (pointer.version, pointer.before)
        return next((name for name in (*wanted, *self.proven()) if self.works(name)), None)

    def switch(self, name: str, before: str | None) -> None:
        """Point to another version, atomically."""
        _sync()
        temporary = self._current.with_suffix(f".{secrets.token_hex(4)}.tmp")
        try:
            with temporary.open("w", encoding="utf-8") as file:
                json.dump({"format": FORMAT, "version": name, "before": before}, file)
                file.flush()
                os.fsync(file.fileno())
            moved(temporary, self._current)
        except OSError as error:
            raise disk_trouble(error, self._current) from error
        finally:
            temporary.unlink(missing_ok=True)

    def new_name(self, wanted: str) -> str:
        """A name for a new version: a repaired one stands beside the broken one."""
        names = (wanted, *(f"{wanted}.{number}" for number in range(2, 1000)))
        return next(name for name in names if not self.folder(name).exists())

    def new_part(self, name: str) -> Path:
        """A folder to build in, which no earlier process that is still ending writes to."""
        return self.versions / f".{name}.{secrets.token_hex(3)}.part"

    def drop_parts(self) -> None:
        """Remove what earlier attempts left."""
        leftovers = (".pro*", "current.*.tmp", "versions/.*", "payloads/.*")
        for leftover in [path for pattern in leftovers for path in self.path.glob(pattern)]:
            remove(leftover)

    def drop_old(self) -> None:
        """Remove versions except the one in use, the one before, and those that a window still runs."""
        pointer = self.pointer()
        kept = set() if pointer is None else {pointer.version, pointer.before}
        for folder in self.versions.iterdir():
            if folder.name in kept or folder.name.startswith(".") or not folder.is_dir():
                continue
            self.drop(folder)

    def drop(self, version: Path) -> bool:
        """Remove the folder of a version; returns False if a window still runs it."""
        held = HeldFile.take(version / IN_USE)
        if held is None:
            return False
        held.release()
        try:
            return remove(version.replace(self.new_part(version.name)))
        except OSError:  # Windows refuses while a program in it runs
            return False


def _sync() -> None:
    """Bring the version's files to the disk before the pointer, unless other programs' writing takes too long."""
    if hasattr(os, "sync"):
        thread = threading.Thread(target=os.sync, daemon=True)
        thread.start()
        thread.join(_SYNC_SECONDS)


def interpreter_in(folder: Path, *, windows: bool = os.name == "nt", console: bool = True) -> Path:
    """The Python of an environment; without a console on Windows for the window."""
    return folder / "Scripts" / ("python.exe" if console else "pythonw.exe") if windows else folder / "bin" / "python"


def moved(source: Path, target: Path, sleep: Callable[[float], None] = time.sleep) -> None:
    """Rename, and retry while another program holds the file on Windows."""
    for seconds in _RETRY_SECONDS:
        try:
            source.replace(target)
            return
        except PermissionError:
            sleep(seconds)
    source.replace(target)


def remove(path: Path) -> bool:
    """Remove a file or folder as far as the system lets; links are not followed."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
    return not path.exists()


def _is_name(name: str) -> bool:
    return bool(name) and not name.startswith(".") and not set(name) & set("/\\:")


# ---- where it is


def default_root(environment: Mapping[str, str] = os.environ, system: str = sys.platform) -> Path:
    """MEZZOTINT_ENGINE_ROOT, else the folder that was chosen, else the system's folder for data."""
    if chosen := environment.get("MEZZOTINT_ENGINE_ROOT"):
        return Path(chosen).expanduser()
    return _chosen("root", environment, system) or data_folder(environment, system) / "engine"


def left_root(environment: Mapping[str, str] = os.environ, system: str = sys.platform) -> Path | None:
    """The folder that was in use until another was chosen."""
    return _chosen("left", environment, system)


def remember(root: Path, environment: Mapping[str, str] = os.environ, system: str = sys.platform) -> None:
    """Find this folder by itself from now on."""
    standard = data_folder(environment, system) / "engine"
    before, root = default_root(environment, system).absolute(), root.absolute()
    left = left_root(environment, system) if before == root else before
    told = {"root": str(root)} | ({"left": str(left)} if left else {})
    standard.mkdir(parents=True, exist_ok=True)
    (standard / _ELSEWHERE).write_text(json.dumps(told), "utf-8")


def _chosen(name: str, environment: Mapping[str, str], system: str) -> Path | None:
    path = data_folder(environment, system) / "engine" / _ELSEWHERE
    try:
        return Path(json.loads(path.read_text("utf-8"))[name])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def data_folder(environment: Mapping[str, str] = os.environ, system: str = sys.platform) -> Path:
    """The system's folder for a user's data of Mezzotint, the one that the engine keeps models in."""
    home = Path(environment.get("USERPROFILE" if system == "win32" else "HOME") or Path.home())
    if system == "win32":
        return Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local") / "mezzotint"
    if system == "darwin":
        return home / "Library" / "Application Support" / "mezzotint"
    return Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share") / "mezzotint"
