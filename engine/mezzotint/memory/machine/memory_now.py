"""Current memory usage as reported by the system, and by torch if it is loaded and has opened a GPU."""

import sys
from collections.abc import Iterable
from typing import Any, TypeAlias

from mezzotint.gpu import opened_gpu
from mezzotint.memory.machine.ram_limits import Bound, group_bounds
from mezzotint.protocol import MemoryNow

Torch: TypeAlias = Any  # the module, possibly half imported


def memory_now(torch: Torch = None, bounds: Iterable[Bound] | None = None) -> MemoryNow:
    """Return the memory usage of process and machine, within its control groups, and of the first GPU if it is open.

    torch may be half imported by another thread. A GPU that is not open yet is not opened, which would take seconds and
    some of its memory.
    """
    import psutil

    machine = psutil.virtual_memory()
    total, free = int(machine.total), int(machine.available)
    for bound in group_bounds() if bounds is None else bounds:
        total, free = min(total, bound.limit), min(free, max(0, bound.limit - bound.used))
    used, card_free, card_total = _card(torch or sys.modules.get("torch")) or (None, None, None)
    return MemoryNow(
        ram_bytes=int(psutil.Process().memory_info().rss),
        ram_free_bytes=free,
        ram_total_bytes=total,
        vram_bytes=used,
        vram_free_bytes=card_free,
        vram_total_bytes=card_total,
    )


def _card(torch: Torch) -> tuple[int, int, int] | None:
    """Bytes held by torch, free, and in total."""
    found = None if torch is None else opened_gpu(torch)
    if found is None:
        return None
    try:
        return found.held_bytes(0), found.free_bytes(0), found.total_bytes(0)
    except RuntimeError:  # the GPU is lost, which the job that used it reports
        return None
