"""Parts that a model folder has in common with a neighbour: one autoencoder on disk serves several models.

`mezzotint.json` says `"shared": {"vae": "other-model/vae"}`; the neighbour lies beside the folder, in the same place.
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
    """Whether it is the name of a neighbour and of a part in it, and nothing that could lead elsewhere."""
    return isinstance(value, str) and _PLACE.fullmatch(value) is not None


def part_folder(root: Path, name: str, settings: Mapping[str, object]) -> tuple[Path, Path]:
    """The folder of a part, and the model folder that it lies in; ModelRefused when there is none.

    `root` is resolved already, and `settings` were checked when they were read.
    """
    shared = settings.get("shared")
    place = shared.get(name) if isinstance(shared, Mapping) else None
    if is_folder(root / name):
        return root / name, root
    if place is None:
        raise ModelRefused(f"{plain(root, 300)}: incomplete: the folder {name} is missing")
    neighbour, part = str(place).split("/")
    home = root.parent / neighbour
    if not is_folder(home / part):
        raise ModelRefused(
            f"{plain(root, 300)}: its {name} is that of {neighbour}, and {plain(home / part, 300)} is not there"
        )
    if home.resolve() != home:
        raise ModelRefused(f"{plain(root, 300)}: {neighbour}, whose {name} it shares, is a link that leads elsewhere")
    check_folder(home)
    return home / part, home
