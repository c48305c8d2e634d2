"""Segments of a device: aligned, counted, given back."""

import pytest
import torch

from mezzotint.memory import arena as module
from mezzotint.memory.accounting import ByteAccount, ByteLedger, DeviceOutOfMemory
from mezzotint.memory.arena import ALIGNMENT, DeviceArena

CPU = torch.device("cpu")


@pytest.mark.parametrize("size", [0, 1, 63, 64, 1000, 4096])
def test_segments_are_aligned_and_counted(size):
    arena = DeviceArena(CPU, ByteLedger())
    segment = arena.allocate(size)
    assert segment.memory.nbytes == size and segment.memory.data_ptr() % ALIGNMENT == 0
    assert arena.in_use == arena.ledger.in_use >= size
    arena.free(segment)
    arena.trim()
    assert arena.in_use == arena.ledger.in_use == 0
    with pytest.raises(RuntimeError, match="after it was released"):
        _ = segment.memory


def test_memory_that_is_not_aligned_is_cut(monkeypatch):
    real = torch.empty
    monkeypatch.setattr(module.torch, "empty", lambda size, **how: real(size + 4, **how)[4:])
    segment = DeviceArena(CPU, ByteLedger()).allocate(1000)
    assert segment.memory.data_ptr() % ALIGNMENT == 0 and segment.memory.nbytes == 1000


def test_weights_and_activations_share_the_cap():
    ledger = ByteLedger(4096)
    arena, account = DeviceArena(CPU, ledger), ByteAccount(ledger)
    with account:
        held = torch.zeros(512)
        segment = arena.allocate(2048)
        assert ledger.in_use == 4096  # the segment once, though the mode is active
        with pytest.raises(DeviceOutOfMemory):
            arena.allocate(1)
        arena.free(segment)
        arena.allocate(1024)
        del held
    assert ledger.in_use == 1024


@pytest.mark.parametrize("error", [torch.OutOfMemoryError("no"), RuntimeError("DefaultCPUAllocator: no")])
def test_what_the_device_refuses_is_not_counted(monkeypatch, error):
    def refuse(*_, **__):
        raise error

    arena = DeviceArena(CPU, ByteLedger(10_000))
    monkeypatch.setattr(module.torch, "empty", refuse)
    with pytest.raises(DeviceOutOfMemory):
        arena.allocate(600)
    assert arena.in_use == arena.ledger.in_use == 0


def test_other_errors_of_a_card_are_what_they_are(monkeypatch):
    def break_down(*_, **__):
        raise RuntimeError("CUDA error: an illegal memory access")

    arena = DeviceArena(torch.device("cuda"), ByteLedger())
    monkeypatch.setattr(module.torch, "empty", break_down)
    with pytest.raises(RuntimeError, match="illegal memory access"):
        arena.allocate(600)
    assert arena.ledger.in_use == 0
