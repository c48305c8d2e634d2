"""Images of the gallery by their file names, for programs that do not keep the gallery."""

import contextlib
import sqlite3
from pathlib import Path

from mezzotint.paths import state_folder

DATABASE = "gallery.db"
_MOST = 100


def images_called(name: str, folder: Path | None = None) -> list[Path]:
    """Return the images with this name, newest first; none if there is no gallery, or it is damaged."""
    database = (folder or state_folder()) / DATABASE
    if not name or not database.is_file():
        return []
    pattern = "".join(f"\\{letter}" if letter in "\\%_" else letter for letter in name)
    with contextlib.suppress(sqlite3.Error), contextlib.closing(_reading(database)) as connection:
        found = connection.execute(
            "SELECT path FROM images WHERE readable AND path LIKE ? ESCAPE '\\' ORDER BY made DESC LIMIT ?",
            (f"%{pattern}", _MOST),
        )
        return [path for (text,) in found if (path := Path(text)).name == name]
    return []


def _reading(database: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)
