"""The single entry point for opening a model on disk, whatever its layout."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mezzotint.checkpoints.folder import FolderCheckpoint, open_folder
from mezzotint.checkpoints.foreign_kind import is_pickle_name, pickle_advice
from mezzotint.checkpoints.header import Header
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_folder
from mezzotint.checkpoints.weight_file import weight_header
from mezzotint.errors import ModelRefused


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCheckpoint:
    """A model in a single file, or one of its networks, with the other components in separate files."""

    path: Path
    header: Header
    bytes: int
    parts: Mapping[str, Path] = field(default_factory=dict)  # by component: matching files that were found or chosen
    chosen: frozenset[str] = frozenset()  # components whose file the user chose


Checkpoint = FolderCheckpoint | FileCheckpoint


def open_checkpoint(path: Path) -> Checkpoint:
    """Open and validate a model folder or file; loads and executes nothing."""
    if is_folder(path):
        return open_folder(path)
    try:
        header = weight_header(path)
    except ModelRefused:
        if is_pickle_name(path):
            raise ModelRefused(f"{plain(path, 300)}: {pickle_advice()}") from None
        raise
    return FileCheckpoint(path=path, header=header, bytes=header.bytes)
