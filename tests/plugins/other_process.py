"""What a process of its own does in tests, in the place of making images; by name, since it is imported there."""

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

from mezzotint.errors import UnknownModel
from mezzotint.protocol import GenerateRequest


def its_number(_: GenerateRequest, __: Sequence[Path]) -> int:
    """Which process this is."""
    return os.getpid()


def what_came(request: GenerateRequest, folders: Sequence[Path]) -> int:
    """That all of the question arrives."""
    return len(request.prompt) * 100 + len(folders)


def ends(_: GenerateRequest, __: Sequence[Path]) -> int:
    """As one that the system has ended."""
    os._exit(9)


def refuses(_: GenerateRequest, __: Sequence[Path]) -> int:
    """As one that cannot find its model."""
    raise UnknownModel("no such model")


def is_interrupted(_: GenerateRequest, __: Sequence[Path]) -> int:
    """Ctrl-C, of which the other process decides."""
    signal.raise_signal(signal.SIGINT)
    return 7


def sleeps(_: GenerateRequest, folders: Sequence[Path]) -> int:
    """Longer than any test; the first folder tells that it has begun."""
    (folders[0] / str(os.getpid())).touch()
    time.sleep(3600)
    return 0


class _Taken:
    """Leaves a file while it is there."""

    def __init__(self, words: str) -> None:
        self._path = Path(os.environ["TAKEN"])
        self._path.write_text(words)

    def __del__(self) -> None:
        self._path.unlink()


def takes(index: int, left: int) -> object:
    """As one that takes a card's memory."""
    return _Taken(f"{index} {left}")


def keeps_nothing(_: int, __: int) -> object:
    """As one on a card that others hold."""
    raise RuntimeError("the card is full\nCUDA kernel errors might be reported later")


def ends_taking(_: int, __: int) -> object:
    """As one that the system has ended."""
    os._exit(9)
