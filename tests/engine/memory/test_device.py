"""Devices: simulated on the processor, and cards with their own streams."""

from contextlib import nullcontext

import pytest
import torch
from fake_card.install import fake_card
from fake_streams import FakeStreams

from mezzotint.memory.copying import DirectCopier, StreamCopier
from mezzotint.memory.device import open_device
from mezzotint.memory.residency import Residency


def test_a_simulated_device_counts_everything_inside():
    device = open_device(torch.device("cpu"), cap=10_000, simulated=True, workspace={"mm": lambda *_: 700})
    with device.counting():
        x = torch.eye(8)
        y = torch.mm(x, x)
    z = torch.zeros(1024)
    assert device.ledger.in_use == 1024 and device.peak_bytes() == 2048
    del x, y, z
    device.reset_peak()
    assert device.peak_bytes() == 0
    device.close()


def test_a_processor_counts_weights_alone():
    device = open_device(torch.device("cpu"))
    with device.counting():
        kept = torch.zeros(100)
    segment = device.arena.allocate(100)
    assert device.peak_bytes() == 512 and device.ledger.cap is None
    device.arena.free(segment)
    del kept
    assert isinstance(device.copier, DirectCopier) and isinstance(device.background, DirectCopier)
    device.close()


@pytest.mark.parametrize("reading", [True, False])
def test_a_card_has_two_ways_of_copying(reading):
    streams = FakeStreams()
    device = open_device(torch.device("cuda", 0), cap=10, streams=streams, reading=reading)
    assert isinstance(device.copier, StreamCopier) and device.copier is not device.background
    assert len(streams.streams) == 3 and device.account is None
    device.close()


@pytest.mark.gpu
def test_streaming_on_a_card():
    from streamed_networks import NAMES, case

    from mezzotint.memory.streaming import StreamedNetwork

    device = open_device(torch.device("cuda"))
    for name in NAMES:
        chosen = case(name)
        answers = []
        for resident, slots in ((len(chosen.blocks), 1), (1, 2), (0, 1)):
            network = StreamedNetwork(
                chosen.network,
                chosen.blocks,
                resident=resident,
                slots=slots,
                copier=device.copier,
                arena=device.arena,
            )
            network.enter()
            network.ready()
            answers += [chosen.call_on(device.device).cpu() for _ in range(3)]
            network.leave()
        assert all(answer.equal(answers[0]) for answer in answers)
    assert device.arena.in_use == 0
    device.close()


def test_apple_s_copies_directly_and_counts_weights_alone():
    with fake_card(2**20, device_type="mps"):
        device = open_device(torch.device("mps"), cap=2**19, reading=False)
        segment = device.arena.allocate(1000)
        assert isinstance(device.copier, DirectCopier) and segment.memory.device.type == "mps"
        assert (device.measures, device.peak_bytes(), device.taken_by_others()) == (False, 1024, 0)
        device.limit()
        device.reset_peak()
        device.arena.free(segment)
        device.arena.trim()
        device.close()


def test_a_card_is_shared_with_other_programs():
    with fake_card(2**20) as card:
        device = open_device(torch.device("cuda:0"), cap=2**19, reading=False)
        segment = device.arena.allocate(2**18)
        assert device.taken_by_others() == 0
        card.device().others = 2**19 + 2**17
        assert device.taken_by_others() == 2**17, "of the half that the cap leaves us"
        device.arena.free(segment)
        device.close()
    assert open_device(torch.device("cpu"), cap=2**19, reading=False).taken_by_others() == 0


@pytest.mark.parametrize("spills", [True, False])
def test_where_the_driver_would_spill_nothing_is_taken_that_others_have(spills):
    with fake_card(2**20, wddm=True) as card:
        device = open_device(torch.device("cuda:0"), cap=2**20, reading=False, spills=spills)
        residency = Residency(device)
        card.device().others = 2**19
        with residency.phase(()):
            kept = torch.empty(2**18, dtype=torch.uint8, device="cuda:0")
            with pytest.raises(torch.OutOfMemoryError) if spills else nullcontext():
                torch.empty(2**19, dtype=torch.uint8, device="cuda:0")
        assert (card.device().spilled == 0) == spills
        card.device().others = 0
        with residency.phase(()):  # what others have given back is ours again
            torch.empty(2**19, dtype=torch.uint8, device="cuda:0")
        del kept
        device.close()


def test_the_cap_holds_for_activations_too():
    with fake_card(2**20):
        device = open_device(torch.device("cuda:0"), cap=2**19, reading=False)
        with Residency(device).phase(()), pytest.raises(torch.OutOfMemoryError):
            torch.empty(2**19 + 512, dtype=torch.uint8, device="cuda:0")
        device.close()


def test_what_the_allocator_holds_without_use_is_in_what_it_held():
    with fake_card() as card:
        device = open_device(torch.device("cuda:0"), reading=False)
        device.reset_peak()
        kept = torch.zeros(1000, device="cuda:0")
        card.device().pieces = 512
        assert device.held_bytes() == device.peak_bytes() + 512
        device.reset_peak()
        assert device.held_bytes() is None, "it held that before"
        del kept
        device.close()
    assert open_device(torch.device("cpu"), reading=False).held_bytes() is None
