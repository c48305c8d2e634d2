"""The token of the API: from a file, from the environment, or a new one."""

import os
from pathlib import Path

from mezzotint.errors import UsageError
from mezzotint.trouble import storage_error

TOKEN_VARIABLE = "MEZZOTINT_API_TOKEN"  # noqa: S105  the variable's name
_LARGEST_FILE = 4096  # bytes


def token_of(file: Path | None, *, no_token: bool) -> tuple[str | None, bool]:
    """The token, and whether it is new and must be shown; None with `no_token`. Raises UsageError, StorageError."""
    from mezzotint.api_server.access import checked_token, new_token

    if no_token:
        if file is not None:
            raise UsageError("--no-token and --token-file exclude each other: leave one out")
        return None, False
    if file is not None:
        return checked_token(_read(file), str(file)), False
    given = os.environ.get(TOKEN_VARIABLE)
    return (new_token(), True) if given is None else (checked_token(given, TOKEN_VARIABLE), False)


def _read(file: Path) -> str:
    try:
        with open(file, "rb") as opened:
            return opened.read(_LARGEST_FILE).decode("utf-8", "replace")
    except OSError as error:
        raise storage_error("read the token from", file, error) from error
