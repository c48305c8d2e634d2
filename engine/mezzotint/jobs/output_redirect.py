"""Redirect the output of waiting entries to another folder."""

from mezzotint import codec
from mezzotint.errors import ProtocolError
from mezzotint.jobs.storage.database import Database


def redirect_output(database: Database, old: str, new: str) -> int:
    """Redirect waiting entries whose output begins with `old` to `new`; return how many.

    Both are prefixes of templates, with the separator that ends the folder.
    """
    moved = set()
    with database.writing():
        waiting = database.rows(
            "SELECT entry, request FROM requests JOIN entries ON entries.id = entry "
            "WHERE running = 0 AND waiting + interrupted > 0"
        )
        for entry, request in waiting:
            there = _moved(request, old, new)
            if there is not None:
                database.change("UPDATE requests SET request = ? WHERE entry = ?", there, entry)
                moved.add(entry)
            for task, changes in database.rows("SELECT id, changes FROM tasks WHERE entry = ?", entry):
                other = _moved(changes, old, new)
                if other is not None:
                    database.change("UPDATE tasks SET changes = ? WHERE id = ?", other, task)
                    moved.add(entry)
    return len(moved)


def _moved(written: str, old: str, new: str) -> str | None:
    """Return a request, or the changes of a task, with the new folder; None if nothing changes."""
    try:
        values = codec.parse_json(written)
    except ProtocolError:
        return None  # damage is reported when the task's turn comes
    output = values.get("output") if isinstance(values, dict) else None
    path = output.get("path") if isinstance(output, dict) else None
    if not isinstance(values, dict) or not isinstance(output, dict) or not isinstance(path, str):
        return None
    if not path.startswith(old):
        return None
    return codec.to_json(values | {"output": output | {"path": new + path.removeprefix(old)}})
