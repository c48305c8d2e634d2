"""Upscalers by name: the bundled one, and the files in ComfyUI's and A1111's folders of them."""

from pathlib import Path

from mezzotint.catalog.named_files import UPSCALERS, file_named, named_files
from mezzotint.catalog.places import Places
from mezzotint.checkpoints.plain_text import plain


def upscaler_at(name: str, places: Places) -> Path:
    """The file of an upscaler, by name or path; raises UnknownModel, naming those that there are."""
    folder = UPSCALERS.folders[0]
    none = f"there is no upscaler {plain(name, 200)}: neither a file nor a name in a folder {folder}"
    return file_named(name, named_files(places, UPSCALERS), none)
