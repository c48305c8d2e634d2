"""Functions that a subprocess runs in tests instead of generating images; referred to by name, as it imports them."""

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

from mezzotint.errors import UnknownModel
from mezzotint.protocol import GenerateRequest


def its_number(_: GenerateRequest, __: Sequence[Path]) -> int:
    """Return the process id."""
    return os.getpid()


def what_came(request: GenerateRequest, folders: Sequence[Path]) -> int:
    """Return a value that shows that the entire request arrived."""
    return len(request.prompt) * 100 + len(folders)


def ends(_: GenerateRequest, __: Sequence[Path]) -> int:
    """Exit as if the system had killed the process."""
    os._exit(9)


def refuses(_: GenerateRequest, __: Sequence[Path]) -> int:
    """Fail as if the model were missing."""
    raise UnknownModel("no such model")


def is_interrupted(_: GenerateRequest, __: Sequence[Path]) -> int:
    """Press Ctrl-C, which the parent process handles."""
    signal.raise_signal(signal.SIGINT)
    return 7


def sleeps(_: GenerateRequest, folders: Sequence[Path]) -> int:
    """Sleep longer than any test; a file in the first folder shows that it has started."""
    (folders[0] / str(os.getpid())).touch()
    time.sleep(3600)
    return 0


class _Taken:
    """Leaves a file while it exists."""

    def __init__(self, words: str) -> None:
        self._path = Path(os.environ["TAKEN"])
        self._path.write_text(words)

    def __del__(self) -> None:
        self._path.unlink()


def takes(index: int, left: int) -> object:
    """Succeed like a process that occupies a GPU's memory."""
    return _Taken(f"{index} {left}")


def keeps_nothing(_: int, __: int) -> object:
    """Fail like a process on a GPU that is already full."""
    raise RuntimeError("the card is full\nCUDA kernel errors might be reported later")


def ends_taking(_: int, __: int) -> object:
    """Exit as if the system had killed the process."""
    os._exit(9)
