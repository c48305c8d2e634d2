"""Upscalers by name: the bundled one, and the files in ComfyUI's and A1111's folders of them."""

import difflib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from mezzotint.catalog.other_programs import part_folders
from mezzotint.catalog.place import at_home
from mezzotint.catalog.places import Places
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_file, is_folder
from mezzotint.errors import UnknownModel
from mezzotint.library_protocol import BUNDLED_UPSCALER

FOLDERS = ("upscale_models", "ESRGAN", "RealESRGAN", "SwinIR", "DAT", "HAT")
SUFFIXES = (".safetensors", ".pth", ".pt")
_MOST_FILES = 500


def upscalers_in(places: Places) -> dict[str, Path]:
    """All upscalers found, by name: the bundled one first, then files by their names without suffix."""
    bundled = None if places.bundled is None else places.bundled / "upscaler" / "model.safetensors"
    found = {} if bundled is None or not is_file(bundled) else {BUNDLED_UPSCALER: bundled}
    for path in islice(_files(places), _MOST_FILES):
        found.setdefault(path.stem, path)
    return found


def upscaler_at(name: str, places: Places) -> Path:
    """The file of an upscaler, by name or path; raises UnknownModel, naming those that there are."""
    found = upscalers_in(places)
    if name in found:
        return found[name]
    path = at_home(Path(name))
    if is_file(path):
        return path
    near = difflib.get_close_matches(name, found, n=1)
    known = ", ".join(map(plain, islice(found, 10))) or "none"
    meant = f"did you mean {plain(near[0])}?" if near else f"found there: {known}"
    raise UnknownModel(
        f"there is no upscaler {plain(name, 200)}: neither a file nor a name in a folder {FOLDERS[0]}; {meant}"
    )


def _files(places: Places) -> Iterator[Path]:
    own = () if places.models is None else tuple(places.models / name for name in FOLDERS)
    others = (folder for path in places.named for folder in part_folders(path, FOLDERS))
    for folder in dict.fromkeys((*own, *others)):
        if is_folder(folder):
            yield from sorted(path for path in islice(folder.iterdir(), _MOST_FILES) if path.suffix.lower() in SUFFIXES)
