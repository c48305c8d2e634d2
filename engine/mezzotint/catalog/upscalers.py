"""Upscalers by name: the bundled one, and the files in ComfyUI's and A1111's folders of them."""

from pathlib import Path

from mezzotint.catalog.named_files import UPSCALERS, file_named, named_files
from mezzotint.catalog.places import Places
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_file
from mezzotint.library_protocol import BUNDLED_UPSCALER


def upscalers_in(places: Places) -> dict[str, Path]:
    """All upscalers found, by name: the bundled one first, then files by their names without suffix."""
    bundled = None if places.bundled is None else places.bundled / "upscaler" / "model.safetensors"
    found = {} if bundled is None or not is_file(bundled) else {BUNDLED_UPSCALER: bundled}
    return found | {name: path for name, path in named_files(places, UPSCALERS).items() if name not in found}


def upscaler_at(name: str, places: Places) -> Path:
    """The file of an upscaler, by name or path; raises UnknownModel, naming those that there are."""
    folder = UPSCALERS.folders[0]
    none = f"there is no upscaler {plain(name, 200)}: neither a file nor a name in a folder {folder}"
    return file_named(name, upscalers_in(places), none)
