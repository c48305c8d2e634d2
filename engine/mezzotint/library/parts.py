"""Text encoder and VAE files that the user chose for a model, stored in config.toml."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from mezzotint.catalog.catalog import Catalog
from mezzotint.catalog.parts import chosen_part, part_of_kind
from mezzotint.catalog.places import read_settings
from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import ModelRefused, StorageError, UsageError
from mezzotint.library.places import store_parts
from mezzotint.protocol import ModelRef, PartChoice

AUTOMATIC = "auto"


def choose_parts(catalog: Catalog, identity: str, vae: str | None, text_encoders: Sequence[str]) -> None:
    """Store the files that a model uses; "auto" removes those chosen before, and what is not named stays.

    Raises ModelRefused for a file that does not fit, UsageError for one of another kind.
    """
    path = catalog.where(ModelRef(id=identity))[1]
    kept = _chosen_before(path)
    for kind, files in (("vae", () if vae is None else (vae,)), ("text_encoder", text_encoders)):
        if AUTOMATIC in files:
            kept = {component: file for component, file in kept.items() if not component.startswith(kind)}
        kept |= dict(part_of_kind(kind, Path(file), open_checkpoint(path)) for file in files if file != AUTOMATIC)
    store_parts(os.path.realpath(path), [str(file) for file in kept.values()])


def choose_part(catalog: Catalog, choice: PartChoice) -> None:
    """Store the file that a model uses for one component. Raises as `choose_parts` does."""
    path = catalog.where(ModelRef(id=choice.model))[1]
    kept = _chosen_before(path)
    kept.pop(choice.component, None)
    if choice.file is not None:
        component, file = part_of_kind(choice.component, Path(choice.file), open_checkpoint(path))
        if component != choice.component:
            raise UsageError(f"{plain(file, 300)} is for this model's {component}, not for its {choice.component}")
        kept[component] = file
    store_parts(os.path.realpath(path), [str(file) for file in kept.values()])


def _chosen_before(path: Path) -> dict[str, Path]:
    """Files chosen before, by component, without those that are gone or no longer fit."""
    kept = {}
    for file in read_settings().parts.get(os.path.realpath(path), ()):
        with suppress(ModelRefused, StorageError):
            component, _ = chosen_part(file, open_checkpoint(path))
            kept[component] = file
    return kept
