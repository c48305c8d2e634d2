"""Check every name below a model folder: no code in it, and no link out of it."""

import os
from pathlib import Path

from mezzotint.checkpoints.allowed_classes import CODE_SUFFIXES
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import reason
from mezzotint.errors import ModelRefused, StorageError

MAX_ENTRIES = 10_000
MAX_DEPTH = 8


def check_folder(root: Path) -> None:
    """Refuse a model folder that contains code, links that lead out of it, or too many files or levels.

    `root` must be resolved.
    """
    allowed = allowed_roots(root)
    pending = [(root, 0)]
    count = 0
    while pending:
        folder, depth = pending.pop()
        if depth > MAX_DEPTH:
            raise ModelRefused(f"{plain(root, 300)}: folders are nested more than {MAX_DEPTH} deep")
        for entry in _entries(folder):
            count += 1
            if count > MAX_ENTRIES:
                raise ModelRefused(f"{plain(root, 300)}: more than {MAX_ENTRIES} files; this is not a model folder")
            _check_entry(root, Path(entry.path), allowed)
            if entry.is_dir(follow_symlinks=False):
                pending.append((Path(entry.path), depth + 1))


def allowed_roots(root: Path) -> tuple[Path, ...]:
    """Where the model's files may really be: in its folder, or in the blobs of its Hugging Face repository."""
    repository = root.parent.parent
    if root.parent.name == "snapshots" and repository.name.startswith("models--"):
        return (root, repository / "blobs")
    return (root,)


def is_inside(path: Path, roots: tuple[Path, ...]) -> bool:
    """Whether the path, with all links resolved, is below one of the roots."""
    real = Path(os.path.realpath(path))  # unlike resolve(), does not raise on a symlink loop
    return any(real.is_relative_to(root) for root in roots)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return [entry for entry, _ in zip(entries, range(MAX_ENTRIES + 1), strict=False)]
    except OSError as error:
        raise StorageError(f"{plain(folder, 300)} cannot be read: {reason(error)}") from None


def _check_entry(root: Path, path: Path, allowed: tuple[Path, ...]) -> None:
    shown = plain(path.relative_to(root), 200)
    if path.suffix.lower() in CODE_SUFFIXES:
        raise ModelRefused(f"{plain(root, 300)} holds code ({shown}): model folders with code in them are not opened")
    if not is_inside(path, allowed):
        raise ModelRefused(
            f"{plain(root, 300)}: {shown} is a link that leads out of the model folder, by which a downloaded folder "
            "could have any file read: if you made it, copy or move the file itself there, or make a hard link"
        )
