"""The most memory that one image takes, in a process of its own: nothing that ran before counts."""

import multiprocessing
import signal
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path

from mezzotint.errors import Cancelled, MezzotintError
from mezzotint.protocol import GenerateRequest

_LOOK_SECONDS = 0.2

Measure = Callable[[GenerateRequest, Sequence[Path]], int]  # bytes, of the request's first image


def peak_here(request: GenerateRequest, folders: Sequence[Path]) -> int:
    """Make the images of a request with the models of this machine and of the folders; bytes of this process."""
    from mezzotint.catalog import Catalog
    from mezzotint.engine import Engine

    result = Engine(Catalog.standard(folders)).generate(request, lambda _: None, lambda: False)
    return result.memory.peak_ram_bytes


def peak_in_own_process(
    request: GenerateRequest, folders: Sequence[Path], cancelled: Callable[[], bool], measure: Measure = peak_here
) -> int | None:
    """Bytes of a new process that makes the request's images; None when it cannot. Raises Cancelled."""
    context = multiprocessing.get_context("spawn")  # a fork would begin with what is loaded here
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_tell, args=(sender, measure, request, tuple(folders)), daemon=True)
    child.start()
    sender.close()  # so that the end of the child is the end of the pipe
    try:
        while not receiver.poll(_LOOK_SECONDS):
            if cancelled():
                raise Cancelled("stopped while memory was measured")
        told: int | None = receiver.recv()
        return told
    except EOFError:
        return None  # it was ended, for want of memory perhaps
    finally:
        child.terminate()
        child.join()
        receiver.close()


def _tell(sender: Connection, measure: Measure, request: GenerateRequest, folders: Sequence[Path]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches both; the other process ends this one
    try:
        sender.send(measure(request, folders))
    except MezzotintError:
        sender.send(None)  # the other process meets the same, and tells it
