"""Mezzotint's folders, following each system's conventions."""

import os
from pathlib import Path

import platformdirs

_APP = "mezzotint"
_PRIVATE = 0o700


def _folder(variable: str, fallback: str) -> Path:
    value = os.environ.get(variable)
    return Path(value).expanduser() if value else Path(fallback)


def models_folder() -> Path:
    """The folder of the user's own models; `MEZZOTINT_MODELS` moves it."""
    return _folder("MEZZOTINT_MODELS", str(Path(platformdirs.user_data_dir(_APP, False)) / "models"))


def config_folder() -> Path:
    """The folder of settings; `MEZZOTINT_CONFIG` moves it."""
    return _folder("MEZZOTINT_CONFIG", platformdirs.user_config_dir(_APP, False))


def cache_folder() -> Path:
    """The folder for regenerable files; `MEZZOTINT_CACHE` moves it."""
    return _folder("MEZZOTINT_CACHE", platformdirs.user_cache_dir(_APP, False))


def state_folder() -> Path:
    """The folder for the queue, leases and undecoded images; `MEZZOTINT_STATE` moves it."""
    return _folder("MEZZOTINT_STATE", platformdirs.user_state_dir(_APP, False))


def make_private(folder: Path) -> None:
    """Create one of our own folders so that other users of the machine cannot read it; raises OSError.

    One that exists is tightened, unless `MEZZOTINT_STATE` names it, since others may be meant to use that.
    """
    chosen = "MEZZOTINT_STATE" in os.environ and folder == state_folder() and folder.is_dir()
    folder.mkdir(_PRIVATE, parents=True, exist_ok=True)
    if not chosen:
        folder.chmod(_PRIVATE)  # mkdir's mode is subject to the umask, and without effect if the folder exists


def undecoded_folder() -> Path:
    """The folder for latents that are not decoded yet."""
    return state_folder() / "undecoded"


def assets_folder() -> Path:
    """The folder of bundled models and images: next to the package, or in the source tree."""
    packaged = Path(__file__).parent / "assets"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "assets"


def huggingface_cache() -> Path:
    """The Hugging Face hub's cache, located as its own library does."""
    hub = os.environ.get("HF_HUB_CACHE")
    if hub:
        return Path(hub).expanduser()
    home = os.environ.get("HF_HOME")
    root = Path(home).expanduser() if home else Path.home() / ".cache" / "huggingface"
    return root / "hub"
