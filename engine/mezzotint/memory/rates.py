"""How fast this machine copies to its card and reads from its disk, measured in a moment."""

import os
import time
from collections.abc import Callable
from pathlib import Path

from mezzotint.gpu import gpu, index_of
from mezzotint.memory.speeds import Link

_COPIED = 128 * 2**20  # bytes
_READ = 64 * 2**20
_PIECE = 4 * 2**20
_CACHED = 8e9  # bytes per second; no disk of a person is faster, so it was RAM that was read


def measured_link(device: str, clock: Callable[[], float] = time.perf_counter) -> Link | None:
    """Of host to a card, the best of three; None where memory for it cannot be had."""
    import torch

    found, index = gpu(device), index_of(device)
    if found is None:
        return None
    try:
        target = torch.empty(_COPIED, dtype=torch.uint8, device=device)
        pinned = torch.ones(_COPIED, dtype=torch.uint8, pin_memory=found.has_streams)
        pageable = torch.ones(_COPIED, dtype=torch.uint8)
    except RuntimeError:
        return None

    def seconds(source: torch.Tensor) -> float:
        found.synchronize(index)
        begun = clock()
        target.copy_(source, non_blocking=True)
        found.synchronize(index)
        return clock() - begun

    times = [min(seconds(source) for _ in range(3)) for source in (pinned, pageable)]
    if min(times) <= 0:
        return None
    return Link(pinned=_COPIED / times[0], pageable=_COPIED / times[1])


def measured_disk(sample: Path, clock: Callable[[], float] = time.perf_counter) -> float | None:
    """Of reading a part of a large file; None where it cannot be read, is small, or came from RAM."""
    try:
        with open(sample, "rb", buffering=0) as file:
            size = min(_READ, os.fstat(file.fileno()).st_size)
            _forget(file.fileno(), size)
            begun, done = clock(), 0
            while done < size and (piece := file.read(min(_PIECE, size - done))):
                done += len(piece)
            spent = clock() - begun
    except OSError:
        return None
    if done < _PIECE or spent <= 0 or done / spent > _CACHED:
        return None
    return done / spent


def _forget(handle: int, size: int) -> None:
    """Have the system drop what it keeps of the file in RAM, where it can be asked to."""
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(handle, 0, size, os.POSIX_FADV_DONTNEED)
