"""Networks that remove backgrounds by name: ONNX files in the folders that programs keep them in."""

from pathlib import Path

from mezzotint.catalog.named_files import BACKGROUNDS, file_named, named_files
from mezzotint.catalog.places import Places
from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import UnknownModel

_GET = "mezzotint models get onnx-community/BiRefNet_lite-ONNX"


def backgrounds_in(places: Places) -> dict[str, Path]:
    """All that are found, by name."""
    return named_files(places, BACKGROUNDS)


def background_at(name: str | None, places: Places) -> Path:
    """The file of a network by name or path, without one the first; raises UnknownModel, naming those there are."""
    found = backgrounds_in(places)
    if name is not None:
        none = f"no network {plain(name, 200)} removes backgrounds: neither a file nor a name in a folder"
        return file_named(name, found, f"{none} {BACKGROUNDS.folders[0]}")
    if not found:
        raise UnknownModel(f"there is no network that removes backgrounds: `{_GET}` downloads one")
    return next(iter(found.values()))
