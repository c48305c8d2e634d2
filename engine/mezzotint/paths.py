"""Where Mezzotint keeps its files, by the conventions of each system."""

import os
from pathlib import Path

import platformdirs

_APP = "mezzotint"


def _folder(variable: str, fallback: str) -> Path:
    value = os.environ.get(variable)
    return Path(value).expanduser() if value else Path(fallback)


def models_folder() -> Path:
    """The folder of the person's own models; `MEZZOTINT_MODELS` moves it."""
    return _folder("MEZZOTINT_MODELS", str(Path(platformdirs.user_data_dir(_APP, False)) / "models"))


def config_folder() -> Path:
    """The folder of settings; `MEZZOTINT_CONFIG` moves it."""
    return _folder("MEZZOTINT_CONFIG", platformdirs.user_config_dir(_APP, False))


def cache_folder() -> Path:
    """The folder of what can be made again; `MEZZOTINT_CACHE` moves it."""
    return _folder("MEZZOTINT_CACHE", platformdirs.user_cache_dir(_APP, False))


def state_folder() -> Path:
    """The folder of what is under way: the queue, leases, images not decoded; `MEZZOTINT_STATE` moves it."""
    return _folder("MEZZOTINT_STATE", platformdirs.user_state_dir(_APP, False))


def undecoded_folder() -> Path:
    """The folder of images that are made but not decoded."""
    return state_folder() / "undecoded"


def assets_folder() -> Path:
    """The folder of the bundled models and images: beside the package, or in the source tree."""
    packaged = Path(__file__).parent / "assets"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "assets"


def huggingface_cache() -> Path:
    """The Hugging Face hub's cache, found as its own library finds it."""
    hub = os.environ.get("HF_HUB_CACHE")
    if hub:
        return Path(hub).expanduser()
    home = os.environ.get("HF_HOME")
    root = Path(home).expanduser() if home else Path.home() / ".cache" / "huggingface"
    return root / "hub"
