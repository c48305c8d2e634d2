"""Simulate a smaller GPU: another process occupies its memory, so that the driver reports no more than the limit."""

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection

from mezzotint.errors import OutOfMemory
from mezzotint.memory.machine.probe import CONTEXT

_PATIENCE = 60.0  # timeout in seconds for the process to start and allocate

Allocate = Callable[[int, int], object]  # allocates a GPU's memory, given its index and the bytes to leave


def fill_gpu(index: int, left: int) -> object:
    """Allocate a GPU's free memory except `left` bytes; it is freed together with the returned object."""
    import torch

    free, _ = torch.cuda.mem_get_info(index)
    if free < left:
        raise OutOfMemory(f"only {free} bytes of GPU memory are free, less than the {left} to leave")
    return torch.empty(free - left, dtype=torch.uint8, device=f"cuda:{index}")


@contextmanager
def limit_gpu_memory(index: int, limit: int, allocate: Allocate = fill_gpu) -> Iterator[None]:
    """Leave only as much GPU memory inside the context as a GPU of `limit` bytes has beside its driver context."""
    _give_back(index)
    context = multiprocessing.get_context("spawn")  # CUDA cannot be used after a fork
    here, there = context.Pipe()
    child = context.Process(target=_hold, args=(there, allocate, index, max(0, limit - CONTEXT)), daemon=True)
    child.start()
    there.close()
    try:
        problem = here.recv() if here.poll(_PATIENCE) else "it took too long"
        if problem is not None:
            raise OutOfMemory(f"cannot limit GPU memory: {problem}")
        yield
    except EOFError as error:
        raise OutOfMemory("cannot limit GPU memory: the process that should hold the rest ended") from error
    finally:
        here.close()
        child.join(_PATIENCE)
        child.terminate()


def _give_back(index: int) -> None:
    """Release this process's cached memory, and create its CUDA context, which takes some too."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
        torch.cuda.mem_get_info(index)


def _hold(pipe: Connection, allocate: Allocate, index: int, left: int) -> None:
    """Allocate, report to the other side, and hold the memory until it closes the pipe."""
    try:
        memory = allocate(index, left)
    except Exception as error:  # noqa: BLE001  any error is reported to the other side
        pipe.send(str(error).partition("\n")[0])
        return
    pipe.send(None)
    try:
        pipe.recv()
    except EOFError:
        del memory
