"""`mezzotint doctor --repair`: builds the environment again, with the bootstrap that installed it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from mezzotint.errors import UsageError

_PROVEN = ".proven"  # written by packaging/setup/mezzotint_setup/building.py
_RUNS = Callable[[Sequence[str], Mapping[str, str]], int]


def has_bootstrap(prefix: Path = Path(sys.prefix)) -> bool:
    """Whether this environment was made by the bootstrap of an installer."""
    return (prefix / _PROVEN).is_file()


def repair(prefix: Path = Path(sys.prefix), run: _RUNS | None = None) -> int:
    """Run the bootstrap's repair and return its exit code; raises UsageError if Mezzotint came in another way."""
    try:
        facts = json.loads((prefix / _PROVEN).read_text("utf-8"))
        python, payload, root = (str(facts[name]) for name in ("python", "payload", "root"))
    except (OSError, ValueError, KeyError, TypeError):
        raise UsageError(_otherwise()) from None
    if not Path(payload, "mezzotint_setup").is_dir():
        raise UsageError(f"{payload} is gone, which the repair needs: run Mezzotint's installer again")
    words = (python, "-m", "mezzotint_setup", "repair", "--root", root, "--payload", payload)
    return (run or _run)(words, {**os.environ, "PYTHONPATH": payload, "PYTHONSAFEPATH": "1"})


def _run(words: Sequence[str], environment: Mapping[str, str]) -> int:
    return subprocess.run(words, env=environment, check=False).returncode  # noqa: S603  our own bootstrap


def _otherwise() -> str:
    return (
        "this Mezzotint was not installed by its installer, so nothing was repaired: install it again as before "
        "(in a checkout: make clean setup; otherwise: pipx reinstall mezzotint, uv tool install --reinstall mezzotint, "
        f"or {sys.executable} -m pip install --force-reinstall with the wheel)"
    )
