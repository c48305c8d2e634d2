"""Networks that remove backgrounds by name: folders of hubs, and ONNX files in the folders that they are kept in."""

from pathlib import Path

from mezzotint.catalog.looking import RECOMMENDED, looking_networks
from mezzotint.catalog.named_files import BACKGROUNDS, file_named, named_files
from mezzotint.catalog.places import Places
from mezzotint.checkpoints.looking_folder import ONNX_FILE
from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import UnknownModel

_GET = f"mezzotint models get {RECOMMENDED['background']}"


def backgrounds_in(places: Places) -> dict[str, Path]:
    """All that are found, by name."""
    folders = looking_networks(places, "background")
    return {name: folder / ONNX_FILE for name, folder in folders.items()} | named_files(places, BACKGROUNDS)


def background_at(name: str | None, places: Places) -> Path:
    """The file of a network by name or path, without one the first; raises UnknownModel, naming those there are."""
    found = backgrounds_in(places)
    if name is not None:
        none = f"no network {plain(name, 200)} removes backgrounds: neither a file nor a name in a folder"
        return file_named(name, found, f"{none} {BACKGROUNDS.folders[0]}")
    if not found:
        raise UnknownModel(f"there is no network that removes backgrounds: `{_GET}` downloads one")
    return next(iter(found.values()))
