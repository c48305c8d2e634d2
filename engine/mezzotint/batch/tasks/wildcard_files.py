"""Wildcard files for an editor: listed, read, and written by name."""

from pathlib import Path

from mezzotint.atomic import atomic_write
from mezzotint.batch.tasks.wildcards import is_wildcard_name, wildcard_data, wildcard_path
from mezzotint.batch_protocol import MOST_WILDCARD_TEXT, SaveWildcard, WildcardFolder, WildcardName
from mezzotint.catalog.place import at_home
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_folder
from mezzotint.errors import UsageError
from mezzotint.library.completion.completer import wildcard_names
from mezzotint.trouble import storage_error
from mezzotint.values.basic import is_text


def names(asked: WildcardFolder) -> tuple[str, ...]:
    """Return the names of all wildcards, sorted. Raises UsageError without a folder."""
    return tuple(sorted(wildcard_names(_folder(asked.folder))))


def text_of(asked: WildcardName) -> str:
    """Return the text of a wildcard. Raises UsageError if it cannot be read as UTF-8."""
    try:
        return wildcard_data(_folder(asked.folder), _name(asked.name)).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(
            f"the file of the wildcard __{plain(asked.name)}__ is not valid UTF-8: save it as UTF-8"
        ) from None


def save(asked: SaveWildcard) -> None:
    """Write the text of a wildcard. Raises UsageError, StorageError."""
    path = wildcard_path(_folder(asked.folder), _name(asked.name))
    if not is_text(asked.text):
        raise UsageError(f"the text of __{plain(asked.name)}__ has characters that cannot be saved: remove them")
    data = asked.text.rstrip("\n").encode() + b"\n"
    if len(data) > MOST_WILDCARD_TEXT:
        raise UsageError(f"the text of __{plain(asked.name)}__ has {len(data)} bytes; at most {MOST_WILDCARD_TEXT}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error("create", path.parent, error) from None
    try:
        atomic_write(path, data, overwrite=asked.replaces)
    except FileExistsError:
        raise UsageError(f"there is already a wildcard __{plain(asked.name)}__: choose another name") from None


def _folder(name: str) -> Path:
    folder = at_home(Path(name))
    if not name or not is_folder(folder):
        raise UsageError(f"there is no folder {plain(name, 300)}: choose the folder of your wildcards in the settings")
    return folder


def _name(name: str) -> str:
    if not is_wildcard_name(name):
        raise UsageError(
            f"'{plain(name)}' is not the name of a wildcard: use letters, digits, - and single _, and / for folders"
        )
    return name
