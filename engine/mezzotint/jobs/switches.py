"""Flags of the whole queue."""

from mezzotint.jobs.storage.database import Database

PAUSED, STOPPING = "paused", "stop_after_current"


def setting(database: Database, name: str) -> bool:
    """Whether a flag of the queue is set."""
    found = database.row("SELECT value FROM settings WHERE name = ?", name)
    return bool(found and found[0])


def switch(database: Database, **values: bool) -> None:
    """Set flags of the queue; call inside `writing()`."""
    for name, value in values.items():
        database.change("INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)", name, int(value))
