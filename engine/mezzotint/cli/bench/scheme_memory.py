"""Measure the peak memory of one image in a separate process, so that earlier work does not count."""

import multiprocessing
import signal
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path

from mezzotint.errors import Cancelled, MezzotintError
from mezzotint.protocol import GenerateRequest

_LOOK_SECONDS = 0.2

Measure = Callable[[GenerateRequest, Sequence[Path]], int]  # returns the peak in bytes


def peak_here(request: GenerateRequest, folders: Sequence[Path]) -> int:
    """Generate a request's images with the models of this machine and `folders`; return this process's peak bytes."""
    from mezzotint.catalog import Catalog
    from mezzotint.engine import Engine

    result = Engine(Catalog.standard(folders)).generate(request, lambda _: None, lambda: False)
    return result.memory.peak_ram_bytes


def peak_in_own_process(
    request: GenerateRequest, folders: Sequence[Path], cancelled: Callable[[], bool], measure: Measure = peak_here
) -> int | None:
    """Return the peak bytes of a new process that runs the request; None if it fails. Raises Cancelled."""
    context = multiprocessing.get_context("spawn")  # a fork would inherit what is loaded here
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_measure_in_child, args=(sender, measure, request, tuple(folders)), daemon=True)
    child.start()
    sender.close()  # so that the pipe reports EOF when the child exits
    try:
        while not receiver.poll(_LOOK_SECONDS):
            if cancelled():
                raise Cancelled("stopped while memory was measured")
        peak: int | None = receiver.recv()
        return peak
    except EOFError:
        return None  # the child died, perhaps out of memory
    finally:
        child.terminate()
        child.join()
        receiver.close()


def _measure_in_child(sender: Connection, measure: Measure, request: GenerateRequest, folders: Sequence[Path]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches both processes; the parent terminates this one
    try:
        sender.send(measure(request, folders))
    except MezzotintError:
        sender.send(None)  # the parent hits the same error and reports it
