"""The detector that a name or folder means."""

import difflib
from pathlib import Path

from mezzotint.catalog.looking import RECOMMENDED, looking_networks
from mezzotint.catalog.place import at_home
from mezzotint.catalog.places import Places
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_folder
from mezzotint.errors import UnknownModel

_GET = f"`mezzotint models get {RECOMMENDED['detection']}` downloads one"


def detectors_for(name: str | None, places: Places) -> tuple[Path, ...]:
    """The detector of a name or path; without one all; raises UnknownModel, naming those that there are."""
    found = looking_networks(places, "detection")
    if name is None:
        if not found:
            raise UnknownModel(f"there is no detector; {_GET}")
        return tuple(found.values())
    path = at_home(Path(name))
    if name in found or is_folder(path):
        return (found.get(name, path),)
    near = difflib.get_close_matches(name, found, n=1) or sorted(found)[:10]
    meant = f"found: {', '.join(map(plain, near))}" if near else _GET
    raise UnknownModel(f"there is no detector {plain(name, 200)}, neither a folder nor a name; {meant}")
