"""Components that a model folder shares with a sibling folder: one autoencoder on disk serves several models.

`mezzotint.json` says `"shared": {"vae": "other-model/vae"}`; the sibling has the same parent folder.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from mezzotint.checkpoints.folder_walk import check_folder
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_folder
from mezzotint.errors import ModelRefused

_PLACE = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,63})/([A-Za-z0-9][A-Za-z0-9_]{0,63})")


def is_shared_place(value: object) -> bool:
    """Whether the value names a sibling folder and a component in it, and nothing that could lead elsewhere."""
    return isinstance(value, str) and _PLACE.fullmatch(value) is not None


def part_folder(root: Path, name: str, settings: Mapping[str, object]) -> tuple[Path, Path]:
    """The folder of a component, and the model folder that contains it; raises ModelRefused if there is none.

    `root` must be resolved, and `settings` validated.
    """
    shared = settings.get("shared")
    place = shared.get(name) if isinstance(shared, Mapping) else None
    if is_folder(root / name):
        return root / name, root
    if place is None:
        raise ModelRefused(f"{plain(root, 300)}: incomplete: the folder {name} is missing")
    return shared_part(root, name, str(place))


def shared_part(root: Path, name: str, place: str) -> tuple[Path, Path]:
    """The folder of a component in a sibling folder, `place`, and that sibling; raises ModelRefused if there is none.

    `root`, whose component `name` it is for, must be resolved, and `place` valid by `is_shared_place`.
    """
    neighbour, part = place.split("/")
    home = root.parent / neighbour
    if not is_folder(home / part):
        raise ModelRefused(
            f"{plain(root, 300)}: its {name} is that of {neighbour}, and {plain(home / part, 300)} is not there"
        )
    if home.resolve() != home:
        raise ModelRefused(f"{plain(root, 300)}: {neighbour}, whose {name} it shares, is a link that leads elsewhere")
    check_folder(home)
    return home / part, home
