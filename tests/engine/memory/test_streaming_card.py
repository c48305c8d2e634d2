"""Networks streamed to a card that is not there: in order, without a wait, and every planted fault is seen."""

import gc

import pytest
import torch
from fake_card.install import fake_card
from streamed_networks import case

from mezzotint.memory.copying import Staging, StreamCopier, StreamTicket
from mezzotint.memory.device import open_device
from mezzotint.memory.pinning import CudaLocker
from mezzotint.memory.streaming import StreamedNetwork

CUDA = torch.device("cuda:0")
MIB = 2**20


def passes(card, *, pinned=True, resident=1, slots=2, scheme="none", times=2, cap=None):
    """The answers of a streamed network that came and went, and whether all are those of the processor."""
    chosen = case.__wrapped__("pixart", scheme)  # one of its own: page-locking moves it
    device = open_device(CUDA, cap=cap, reading=not pinned)
    network = StreamedNetwork(
        chosen.network, chosen.blocks, resident=resident, slots=slots, copier=device.copier, arena=device.arena
    )
    try:
        if pinned:
            assert network.pin(CudaLocker(), 64 * MIB)
        network.enter()
        network.ready()
        card.waits.clear()
        answers = [chosen.call_on(CUDA) for _ in range(times)]
        waits = [what for what, where in card.waits if " in " not in where and what != "copy from host"]
        network.leave()
        same = all(torch.equal(answer.cpu(), chosen.answer) for answer in answers)
        return same, waits
    finally:
        network.unpin()
        device.close()
        assert torch.equal(chosen.call(), chosen.answer), "the host has what it had"


@pytest.mark.parametrize("scheme", ["none", "int8", "int4-lowrank"])
@pytest.mark.parametrize("pinned", [True, False])
def test_it_computes_what_the_processor_does_and_the_host_never_waits(pinned, scheme):
    with fake_card(64 * MIB) as card:
        before = card.device().allocated
        same, waits = passes(card, pinned=pinned, scheme=scheme)
        assert same
        assert (waits, card.hazards) == ([], [])
        gc.collect()
        assert card.device().allocated == before


@pytest.mark.parametrize("slots", [1, 3])
@pytest.mark.parametrize("resident", [0, 2])
def test_any_arrangement_is_in_order(resident, slots):
    with fake_card(64 * MIB) as card:
        assert passes(card, resident=resident, slots=slots) == (True, [])
        assert card.hazards == []


def copies_of_a_pass(card, *, pinned, budget=64 * MIB, scheme="none"):
    """How many copies from the host one pass of a wholly streamed network makes, and how many blocks it has."""
    chosen = case.__wrapped__("flux", scheme)
    device = open_device(CUDA, reading=False)
    network = StreamedNetwork(
        chosen.network, chosen.blocks, resident=0, slots=2, copier=device.copier, arena=device.arena
    )
    if pinned:
        network.pin(CudaLocker(), budget)
    network.enter()
    network.ready()
    counts = []
    real, device.copier.start = device.copier.start, None

    def counted(load, after):
        before = card.operations["copy from host"]
        ticket = real(load, after)
        counts.append(card.operations["copy from host"] - before)
        return ticket

    device.copier.start = counted
    chosen.call_on(CUDA)
    counts.clear()
    assert torch.equal(chosen.call_on(CUDA).cpu(), chosen.answer)
    network.leave()
    network.unpin()
    device.close()
    return counts, len(chosen.blocks)


@pytest.mark.parametrize("scheme", ["none", "int8"])
@pytest.mark.parametrize("pinned", [True, False])
def test_a_block_is_one_copy(pinned, scheme):
    with fake_card(64 * MIB) as card:
        counts, blocks = copies_of_a_pass(card, pinned=pinned, scheme=scheme)
        assert counts == [1] * blocks


def test_a_block_that_is_locked_in_part_is_a_copy_for_each_part():
    with fake_card(64 * MIB) as card:
        counts, blocks = copies_of_a_pass(card, pinned=True, budget=100_000)
        assert len(counts) == blocks
        assert 1 in counts and max(counts) > 1


FAULTS = {
    "computing does not wait for copies": (StreamCopier, "_compute", lambda self, event: None),
    "copies do not wait for computing": (StreamCopier, "mark", lambda self: torch.cuda.Event()),
    "memory is given back while copies are on their way": (StreamTicket, "drain", lambda self: None),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_a_hazard(fault, monkeypatch):
    monkeypatch.setattr(*FAULTS[fault])
    with fake_card(64 * MIB, strict=False) as card:
        passes(card, slots=1, resident=0)
        gc.collect()
        assert card.hazards


def test_staging_memory_that_is_overwritten_too_early_changes_the_image(monkeypatch):
    def the_first(self):
        if not self._buffers:
            self._buffers.append(self._make())
        return 0

    monkeypatch.setattr(Staging, "_next", the_first)
    with fake_card(64 * MIB, strict=False) as card:  # the thread that reads may happen to be the slower one
        assert any(not passes(card, pinned=False)[0] for _ in range(10))


def test_refused_page_locking_costs_time_and_nothing_else():
    """Windows refuses it; CUDA keeps that error for the next launch, which has nothing to do with it."""
    with fake_card(64 * MIB) as card:
        card.refuses_pinning = True
        locker = CudaLocker()
        page = torch.empty(4096, dtype=torch.uint8)
        assert not locker.lock(page.data_ptr(), 4096)
        assert torch.ones(2, device=CUDA).add(1).tolist() == [2.0, 2.0]
        assert passes(card, pinned=False)[0]
