"""A card made small: another process holds its memory, but for so many bytes, so that the driver shows no more."""

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection

from mezzotint.errors import OutOfMemory
from mezzotint.memory.machine.probe import CONTEXT

_PATIENCE = 60.0  # seconds for a process to begin and to take memory

Take = Callable[[int, int], object]  # what a card's memory is taken by: its number, and the bytes that are left


def take_card(index: int, left: int) -> object:
    """Take what is free of a card, but for so many bytes; it stays taken while what is given here lives."""
    import torch

    free, _ = torch.cuda.mem_get_info(index)
    if free < left:
        raise OutOfMemory(f"{free} bytes of the card are free: there are no {left} to leave")
    return torch.empty(free - left, dtype=torch.uint8, device=f"cuda:{index}")


@contextmanager
def ballast(index: int, limit: int, take: Take = take_card) -> Iterator[None]:
    """Inside, the card has as much memory left as one of `limit` bytes, whose driver takes some of it."""
    _give_back(index)
    context = multiprocessing.get_context("spawn")  # a card cannot be used after a fork
    here, there = context.Pipe()
    child = context.Process(target=_hold, args=(there, take, index, max(0, limit - CONTEXT)), daemon=True)
    child.start()
    there.close()
    try:
        problem = here.recv() if here.poll(_PATIENCE) else "it took too long"
        if problem is not None:
            raise OutOfMemory(f"the card cannot be made small: {problem}")
        yield
    except EOFError as error:
        raise OutOfMemory("the card cannot be made small: the process that was to hold its memory ended") from error
    finally:
        here.close()
        child.join(_PATIENCE)
        child.terminate()


def _give_back(index: int) -> None:
    """What this process keeps of the card for later; and have its driver there, which takes some too."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
        torch.cuda.mem_get_info(index)


def _hold(pipe: Connection, take: Take, index: int, left: int) -> None:
    """Say that it is taken, and keep it until the other side closes."""
    try:
        taken = take(index, left)
    except Exception as error:  # noqa: BLE001  whatever a driver raises is told on the other side
        pipe.send(str(error).partition("\n")[0])
        return
    pipe.send(None)
    try:
        pipe.recv()
    except EOFError:
        del taken
