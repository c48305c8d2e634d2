"""`python -m mezzotint_app` and `mezzotint-app` open the window, or print one line if PySide6 is missing."""

import importlib.util
import sys

from mezzotint.errors import NoPySide6


def main() -> int | str:
    """Open the window and return the argument for `sys.exit`."""
    if importlib.util.find_spec("PySide6") is None:
        return f"mezzotint: error: {NoPySide6()}"
    from mezzotint_app.main import main as open_window

    return open_window()


if __name__ == "__main__":
    sys.exit(main())
