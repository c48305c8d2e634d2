"""The settings of the whole window. Those of a single model are on the Create page."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QStandardPaths

from mezzotint import paths
from mezzotint.protocol import Attention, MemoryPolicy
from mezzotint.request_protocol import MetadataKept

Theme = Literal["system", "light", "dark"]
PreviewDecoder = Literal["auto", "linear"]  # the engine also has `small`, and fails where there is none
Closing = Literal["ask", "go_on", "stop"]

DEFAULT_TEMPLATE = "[date]/[time]-[seed]-[prompt].png"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every field has a default, so that files of older versions can be read."""

    theme: Theme = "system"
    language: str = ""  # empty: the system's
    output_folder: str = ""  # empty: Mezzotint in the user's Pictures folder
    name_template: str = DEFAULT_TEMPLATE
    gallery_folders: tuple[str, ...] = ()  # in addition to the output folder
    memory: MemoryPolicy = "auto"
    vram_limit_bytes: int | None = None
    ram_limit_bytes: int | None = None
    attention: Attention = "auto"
    device: str = "auto"
    previews: bool = True
    preview_decoder: PreviewDecoder = "auto"
    metadata: MetadataKept = "all"  # what images say of how they were made
    keep_awake: bool = True
    notify: bool = True
    remember_prompts: bool = True
    when_closed: Closing = "ask"  # while work is left in the queue
    tag_file: str = ""  # CSV for completing prompts; empty: none
    wildcard_folder: str = ""  # with NAME.txt for each __NAME__ in a prompt; empty: none
    hub_endpoint: str = ""  # empty: HF_ENDPOINT, or else the Hugging Face Hub itself
    hub_search: bool = False  # whether models may be searched for on the hub
    update_check: bool = False  # whether to look for newer releases at the start
    first_run_done: bool = False


def settings_path() -> Path:
    """The path of the settings file."""
    return paths.config_folder() / "window.json"


def state_path(name: str) -> Path:
    """The path of a state file that the window writes by itself, such as its layout."""
    return paths.config_folder() / f"{name}.json"


def output_folder(settings: Settings) -> Path:
    """The folder that images are saved in."""
    if settings.output_folder:
        return Path(settings.output_folder)
    return _images_location(str(Path.home())) / "Mezzotint"


@cache
def _images_location(_home: str) -> Path:
    """The user's Pictures folder, cached per home directory because Qt reads files to find it."""
    return Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.PicturesLocation))
