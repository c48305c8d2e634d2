"""What a person has settled for the whole window. What belongs to one model is with the Create page."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QStandardPaths

from mezzotint import paths
from mezzotint.protocol import Attention, MemoryPolicy

Theme = Literal["system", "light", "dark"]
Closing = Literal["ask", "go_on", "stop"]

DEFAULT_TEMPLATE = "[date]/[time]-[seed]-[prompt].png"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every field has a default, so that a file of an older version is taken."""

    theme: Theme = "system"
    language: str = ""  # empty: the system's
    output_folder: str = ""  # empty: Mezzotint in the person's folder of images
    name_template: str = DEFAULT_TEMPLATE
    gallery_folders: tuple[str, ...] = ()  # beside the output folder
    memory: MemoryPolicy = "auto"
    vram_limit_bytes: int | None = None
    ram_limit_bytes: int | None = None
    attention: Attention = "auto"
    device: str = "auto"
    previews: bool = True
    keep_awake: bool = True
    notify: bool = True
    remember_prompts: bool = True
    when_closed: Closing = "ask"  # with work left in the queue
    hub_endpoint: str = ""  # empty: HF_ENDPOINT, or the hub itself
    first_run_done: bool = False


def settings_path() -> Path:
    """The path of the settings file."""
    return paths.config_folder() / "window.json"


def state_path(name: str) -> Path:
    """The file of something the window remembers by itself, such as its layout."""
    return paths.config_folder() / f"{name}.json"


def output_folder(settings: Settings) -> Path:
    """Where images go."""
    if settings.output_folder:
        return Path(settings.output_folder)
    return _images_location(str(Path.home())) / "Mezzotint"


@cache
def _images_location(_home: str) -> Path:
    """The person's own folder of images; the system reads files to find it, so it is asked once for each home."""
    return Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.PicturesLocation))
