"""What is in use at this moment, asked of the system; torch is only asked where it is loaded and has a card."""

import sys
from collections.abc import Iterable
from typing import Any, TypeAlias

from mezzotint.gpu import opened_gpu
from mezzotint.memory.machine.ram_limits import Bound, group_bounds
from mezzotint.protocol import MemoryNow

Torch: TypeAlias = Any  # the module, wherever its import stands


def memory_now(torch: Torch = None, bounds: Iterable[Bound] | None = None) -> MemoryNow:
    """Of this process and its machine, within the control groups that it is in; the first card that torch has opened.

    torch may be half imported by another thread, and a card that it has not opened yet is left closed: opening one
    takes seconds, and some of its memory.
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
    """Bytes that torch holds, that are free, that there are."""
    found = None if torch is None else opened_gpu(torch)
    if found is None:
        return None
    try:
        return found.held_bytes(0), found.free_bytes(0), found.total_bytes(0)
    except RuntimeError:  # the card has fallen over; the job that used it says so
        return None
