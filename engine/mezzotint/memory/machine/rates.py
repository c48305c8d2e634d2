"""How fast this machine copies to its card and reads from its disk, measured in a moment."""

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from mezzotint.checkpoints.positioned import PositionedFile
from mezzotint.errors import ModelRefused, StorageError
from mezzotint.gpu import gpu, index_of
from mezzotint.memory.machine.speeds import Link

_COPIED = 128 * 2**20  # bytes
_READ = 64 * 2**20
_PIECE = 4 * 2**20
_CACHED = 8e9  # bytes per second: faster, it may have been RAM that was read, where the system cannot be asked
THREADS = max(1, min(4, (os.cpu_count() or 1) // 2))  # that read parts of a file at the same time


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


def measured_disk(
    sample: Path,
    clock: Callable[[], float] = time.perf_counter,
    in_ram: "Callable[[int, int], bool | None] | None" = None,
) -> float | None:
    """Of reading a part of a large file, as weights are read; None where it cannot be, is small, or came from RAM."""
    try:
        with closing(PositionedFile(sample)) as file, open(sample, "rb", buffering=0) as handle:
            size = min(_READ, file.bytes)
            _forget(handle.fileno(), size)
            known = (in_ram or _in_ram)(handle.fileno(), size)
            if size < _PIECE or known:
                return None
            spent = _seconds_of_reading(file, size, clock)
    except (OSError, ModelRefused, StorageError):
        return None
    if spent <= 0 or (known is None and size / spent > _CACHED):
        return None
    return size / spent


def _seconds_of_reading(file: PositionedFile, size: int, clock: Callable[[], float]) -> float:
    memory = memoryview(bytearray(size))
    with ThreadPoolExecutor(THREADS) as threads:
        begun = clock()
        parts = range(0, size, _PIECE)
        list(threads.map(lambda start: file.read_into(memory[start : start + _PIECE], start), parts))
        return clock() - begun


def _in_ram(handle: int, size: int) -> bool | None:
    """Whether the system has kept any of it in RAM all the same; None: it cannot be asked."""
    nowait = getattr(os, "RWF_NOWAIT", None)
    if nowait is None:
        return None
    try:
        return any(_is_at_hand(handle, position, nowait) for position in range(0, size, _PIECE))
    except OSError:
        return None


def _is_at_hand(handle: int, position: int, nowait: int) -> bool:
    try:
        return os.preadv(handle, [bytearray(1)], position, nowait) > 0
    except BlockingIOError:
        return False


def _forget(handle: int, size: int) -> None:
    """Have the system drop what it keeps of the file in RAM, where it can be asked to."""
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(handle, 0, size, os.POSIX_FADV_DONTNEED)
