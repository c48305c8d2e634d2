"""Detectors by name: folders with a configuration and weights, in the folders that they are kept in."""

import difflib
from itertools import islice
from pathlib import Path

from mezzotint.catalog.other_programs import part_folders
from mezzotint.catalog.place import at_home
from mezzotint.catalog.places import Places
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_file, is_folder
from mezzotint.errors import UnknownModel

FOLDERS = ("detection", "detectors")
_GET = "mezzotint models get PekingU/rtdetr_v2_r18vd"
_MOST = 1000


def detectors_in(places: Places) -> dict[str, Path]:
    """All that are found, by the name of their folder."""
    named = (*((places.models,) if places.models is not None else ()), *places.named)
    found: dict[str, Path] = {}
    for kind in (folder for path in named for folder in part_folders(path, FOLDERS)):
        for folder in islice(sorted(kind.iterdir()), _MOST):
            if is_file(folder / "config.json"):
                found.setdefault(folder.name, folder)
    return found


def detectors_for(name: str | None, places: Places) -> tuple[Path, ...]:
    """The detector of a name or path; without one all; raises UnknownModel, naming those that there are."""
    found = detectors_in(places)
    if name is None:
        if not found:
            raise UnknownModel(f"there is no detector: `{_GET}` downloads one")
        return tuple(found.values())
    path = at_home(Path(name))
    if name in found or is_folder(path):
        return (found.get(name, path),)
    near = difflib.get_close_matches(name, found, n=1)
    meant = (
        f"did you mean {plain(near[0])}?" if near else f"found: {', '.join(map(plain, islice(found, 10))) or 'none'}"
    )
    raise UnknownModel(f"there is no detector {plain(name, 200)}: neither a folder nor a name in {FOLDERS[0]}; {meant}")
