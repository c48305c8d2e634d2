"""Memory as it is: within control groups, with a card only where torch has opened one."""

from types import SimpleNamespace

import psutil
import pytest

from mezzotint.memory.machine.memory_now import memory_now
from mezzotint.memory.machine.ram_limits import Bound

CLOSED = SimpleNamespace(is_initialized=lambda: False)
HALF_IMPORTED = SimpleNamespace()


def card(mem_get_info):
    opened = SimpleNamespace(
        is_initialized=lambda: True,
        mem_get_info=lambda index: mem_get_info(),
        memory_reserved=lambda index: 5,
        get_device_properties=lambda index: SimpleNamespace(total_memory=12),
    )
    return SimpleNamespace(cuda=opened)


def lost():
    raise RuntimeError("CUDA error: unspecified launch failure")


@pytest.mark.parametrize("torch", [HALF_IMPORTED, SimpleNamespace(cuda=HALF_IMPORTED), SimpleNamespace(cuda=CLOSED)])
def test_without_an_open_card(torch):
    now = memory_now(torch, ())
    assert now.vram_bytes is now.vram_free_bytes is now.vram_total_bytes is None
    assert now.ram_total_bytes == psutil.virtual_memory().total
    assert 0 < now.ram_bytes < now.ram_total_bytes


def test_with_one():
    now = memory_now(card(lambda: (7, 12)), ())
    assert (now.vram_bytes, now.vram_free_bytes, now.vram_total_bytes) == (5, 7, 12)
    assert memory_now(card(lost), ()).vram_bytes is None


def test_what_a_control_group_leaves():
    now = memory_now(HALF_IMPORTED, [Bound(name="a group", limit=1000, used=400), Bound(name="b", limit=900, used=950)])
    assert (now.ram_total_bytes, now.ram_free_bytes) == (900, 0)
