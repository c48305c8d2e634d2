"""Quick measurements of copy rates to the GPU and of disk read rates."""

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
_CACHED = 8e9  # bytes per second above which data probably came from the page cache, if the system cannot tell
THREADS = max(1, min(4, (os.cpu_count() or 1) // 2))  # threads that read parts of a file in parallel


def measured_link(device: str, clock: Callable[[], float] = time.perf_counter) -> Link | None:
    """Measure copy rates from host to GPU, best of three; None if memory cannot be allocated."""
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
    """Measure the read rate of a large file; None if it cannot be read, is too small, or came from the page cache."""
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
    """Whether any of the file is still in the page cache; None if the system cannot tell."""
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
    """Drop the file from the page cache, where supported."""
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(handle, 0, size, os.POSIX_FADV_DONTNEED)
