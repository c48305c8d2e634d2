"""Removes the program: never images, and models and settings only if asked for."""

import contextlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from mezzotint_setup.building import WINDOW
from mezzotint_setup.errors import SetupFailed
from mezzotint_setup.install import backend_of
from mezzotint_setup.root import Root, data_folder, left_root, remove

_OURS = (
    "versions",
    "downloads",
    "cache",
    "python",
    "payloads",
    "current.json",
    "updates.json",
    "lock",
)
_LEFT = ("versions", "downloads", "cache", "current.json", "updates.json")  # where another folder was chosen
_NEVER = {"models", "undecoded", "engine"}


def remove_all(
    root: Root,
    *,
    purge: bool = False,
    models: bool = False,
    environment: Mapping[str, str] = os.environ,
    system: str = sys.platform,
) -> list[Path]:
    """Remove versions, downloads, cache and Python; returns what could not be removed."""
    if not root.path.is_dir():
        wanted: list[Path] = []
    else:
        with root.owned():
            root.drop_parts()
        wanted = [root.path / name for name in _OURS]
    drop_left_window(root.path, environment, system)
    data = data_folder(environment, system)
    wanted += [data / "engine" / "elsewhere.json", data / "engine" / "python"]  # there, wherever the versions are
    if purge:
        wanted += _settings(environment, system)
    if models and not environment.get("MEZZOTINT_MODELS"):
        wanted.append(data / "models")
    left = [path for path in wanted if not remove(path)]
    for folder in (root.path, data / "engine", data):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
    return left


def drop_left_window(used: Path, environment: Mapping[str, str] = os.environ, system: str = sys.platform) -> None:
    """Empty the folder before this one, if it has only what the window needs, and none of it runs."""
    left = left_root(environment, system)
    if left is None or left == used or not left.is_dir():
        return
    root = Root(left)
    with contextlib.suppress(SetupFailed, OSError):
        with root.owned():
            versions = [one for one in root.versions.iterdir() if not one.name.startswith(".")]
            if {backend_of(root, one.name) for one in versions} - {WINDOW} or not all(map(root.drop, versions)):
                return
            for name in _LEFT:
                remove(root.path / name)
        remove(root.path / "lock")
        left.rmdir()  # unless something else is in it


def _settings(environment: Mapping[str, str], system: str) -> list[Path]:
    """Settings, queue and caches where engine/mezzotint/paths.py has them; folders that were moved are left alone."""
    home = Path(environment.get("USERPROFILE" if system == "win32" else "HOME") or Path.home())
    data = data_folder(environment, system)
    if system == "win32":
        folders = {"CONFIG": data, "CACHE": data / "Cache", "STATE": data}
    elif system == "darwin":
        folders = {"CONFIG": data, "CACHE": home / "Library" / "Caches" / "mezzotint", "STATE": data}
    else:
        places = {"CONFIG": ".config", "CACHE": ".cache", "STATE": ".local/state"}
        folders = {
            name: Path(environment.get(f"XDG_{name}_HOME") or home / place) / "mezzotint"
            for name, place in places.items()
        }
    found = [folder for name, folder in folders.items() if not environment.get(f"MEZZOTINT_{name}") and folder.is_dir()]
    # Where folders coincide, models and images that are not decoded yet lie beside the settings.
    return [path for folder in dict.fromkeys(found) for path in folder.iterdir() if path.name not in _NEVER]
