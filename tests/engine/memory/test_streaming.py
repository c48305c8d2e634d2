"""Networks streamed under a cap: the same numbers at any residency, nothing written on the host, nothing left over."""

import gc

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from streamed_networks import NAMES, Case, case, cases, fingerprint, tensors_of
from torch import nn

from mezzotint.memory.accounting import DeviceOutOfMemory
from mezzotint.memory.device import Device, open_device
from mezzotint.memory.streaming import StreamedNetwork

GENEROUS = 64 * 2**20


def simulated(cap: int | None = GENEROUS, **options) -> Device:
    return open_device(torch.device("cpu"), cap=cap, simulated=True, reading=False, **options)


def streamed(chosen: Case, device: Device, resident: int, slots: int) -> StreamedNetwork:
    return StreamedNetwork(
        chosen.network, chosen.blocks, resident=resident, slots=slots, copier=device.copier, arena=device.arena
    )


def addresses(network: nn.Module) -> dict[str, int]:
    return {name: tensor.data_ptr() for name, tensor in tensors_of(network)}


@settings(max_examples=settings.default.max_examples // 8)
@given(cases())
def test_any_plan_gives_the_same_numbers_and_leaves_the_host_alone(chosen_plan):
    chosen, resident, slots = chosen_plan
    device = simulated()
    network = streamed(chosen, device, resident, slots)
    network.enter()
    assert device.arena.in_use == network.bytes()
    before = addresses(chosen.network)
    with device.counting():
        for _ in range(3):
            answer = chosen.call()
            assert answer.equal(chosen.answer)
            assert addresses(chosen.network) == before
            del answer
    assert all(address % 64 == 0 for address in before.values())
    network.leave()
    gc.collect()
    assert device.arena.in_use == device.ledger.in_use == 0
    assert device.ledger.peak <= GENEROUS
    assert fingerprint(chosen.network) == chosen.fingerprint
    assert not any(module._forward_pre_hooks or module._forward_hooks for module in chosen.network.modules())


@pytest.mark.parametrize("name", NAMES)
def test_the_cap_that_it_needs_is_enough_and_a_byte_less_is_not(name):
    chosen, device = case(name), simulated(None)
    network = streamed(chosen, device, 1, 2)
    network.enter()
    with device.counting():
        chosen.call()
    network.leave()
    need = device.peak_bytes()
    for cap, fits in ((need, True), (need - 1, False)):
        device = simulated(cap)
        network = streamed(chosen, device, 1, 2)
        network.enter()
        with device.counting():
            if fits:
                assert chosen.call().equal(chosen.answer)
            else:
                with pytest.raises(DeviceOutOfMemory, match="MiB in use"):
                    chosen.call()
        network.leave()
        gc.collect()
        assert device.ledger.in_use == 0 and device.peak_bytes() <= cap


def test_a_tensor_too_many_is_noticed():
    chosen, device = case("sdxl"), simulated(None)
    network = streamed(chosen, device, 0, 2)
    network.enter()
    with device.counting():
        chosen.call()
    device.ledger.cap = device.peak_bytes()
    with device.counting():
        planted = torch.zeros(128)
        with pytest.raises(DeviceOutOfMemory):
            chosen.call()
        del planted
        assert chosen.call().equal(chosen.answer)
    network.leave()


@pytest.mark.parametrize("name", NAMES)
def test_blocks_are_on_their_way_before_they_are_wanted(name):
    chosen, device = case(name), simulated()
    network = streamed(chosen, device, 1, 2)
    network.enter()
    chosen.call()
    chosen.call()
    learned = network.misses
    chosen.call()
    assert network.misses == learned
    network.leave()


def test_what_streams_takes_less_the_fewer_stay():
    chosen = case("flux")
    network = streamed(chosen, simulated(), 0, 2)
    takes = [network.bytes(resident) for resident in range(len(chosen.blocks) + 1)]
    assert takes[0] < takes[-1] and network.bytes(0, 1) < network.bytes(0, 2)
    assert [len(network.arrangement(resident).resident) for resident in range(6)] == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("name", [pytest.param(each, marks=[pytest.mark.slow] * (each == "sdxl")) for each in NAMES])
def test_interrupted_anywhere_the_next_pass_is_right(name):
    chosen, device = case(name), simulated()
    network = streamed(chosen, device, 1, 2)
    network.enter()

    def fail(*_):
        raise KeyboardInterrupt

    for block in chosen.blocks:
        for inside in (chosen.network.get_submodule(block), next(chosen.network.get_submodule(block).children())):
            hook = inside.register_forward_hook(fail)
            with pytest.raises(KeyboardInterrupt):
                chosen.call()
            hook.remove()
            assert chosen.call().equal(chosen.answer)
    network.leave()
    assert fingerprint(chosen.network) == chosen.fingerprint


@given(st.lists(st.integers(0, 5), max_size=30), st.integers(0, 6), st.integers(1, 4))
def test_blocks_are_right_in_whatever_order_they_are_called(order, resident, slots):
    network = nn.ModuleList([nn.Linear(3, 3) for _ in range(6)]).requires_grad_(False)
    x = torch.ones(3)
    expected = [network[index](x) for index in order]
    device = simulated()
    entered = StreamedNetwork(
        network,
        [str(index) for index in range(6)],
        resident=resident,
        slots=slots,
        copier=device.copier,
        arena=device.arena,
    )
    entered.enter()
    assert all(network[index](x).equal(wanted) for index, wanted in zip(order, expected, strict=True))
    entered.leave()


def test_more_and_fewer_stay_between_steps():
    chosen, device = case("flux"), simulated()
    network = streamed(chosen, device, 0, 1)
    network.enter()
    for change, resident in ((2, 2), (-1, 1), (9, 5), (-2, 3)):
        assert network.promote(change) if change > 0 else network.demote(-change)
        assert network.resident == resident and network.entered
        assert device.arena.in_use == network.bytes()
        assert chosen.call().equal(chosen.answer)
    network.arrange(0)
    assert not network.demote(1)
    device.ledger.cap = device.ledger.in_use + 512
    assert not network.promote(1) and network.resident == 0
    assert chosen.call().equal(chosen.answer)
    network.leave()
    device.ledger.cap = None
    assert network.promote(5) and not network.entered and not network.promote(1)


def test_what_stays_leaves_room_for_activations():
    chosen, device = case("flux"), simulated()
    network = streamed(chosen, device, 0, 1)
    network.enter()
    sizes = [network.bytes(resident) for resident in range(6)]
    for wanted in (5, 3, 0):
        device.ledger.cap = 10_000 + sizes[wanted]
        assert network.most_resident(room=10_000) == wanted
    assert not network.promote(1, room=10_000)
    device.ledger.cap = 10_000 + sizes[3]
    assert network.promote(3, room=10_000) and network.resident == 3
    assert network.most_resident() == 3
    network.leave()
    device.ledger.cap = None
    assert network.most_resident() == 5


@pytest.mark.parametrize("refused", range(3))
def test_without_room_everything_is_as_before(refused):
    chosen = case("pixart")
    device = simulated(refuse=lambda number, _: number == refused)
    network = streamed(chosen, device, 0, 2)
    with pytest.raises(DeviceOutOfMemory):
        network.enter()
    assert not network.entered and device.arena.in_use == 0
    assert fingerprint(chosen.network) == chosen.fingerprint
    assert chosen.call().equal(chosen.answer)
    network.enter()
    assert chosen.call().equal(chosen.answer)
    network.leave()


@pytest.mark.parametrize(("resident", "slots"), [(-1, 1), (0, 0), (1, 0)])
def test_blocks_that_could_not_be_anywhere_are_refused(resident, slots):
    with pytest.raises(ValueError, match="others need a slot"):
        streamed(case("pixart"), simulated(), resident, slots)


def test_what_is_remembered_of_the_words_is_the_same():
    from mezzotint.acceleration.text_cache import cached_text

    chosen, device = case("sdxl", "int8"), simulated()
    network = streamed(chosen, device, 1, 1)
    with cached_text(chosen.network):
        network.enter()
        assert all(chosen.call().equal(chosen.answer) for _ in range(3))
    assert chosen.call().equal(chosen.answer)
    network.leave()
    assert chosen.call().equal(chosen.answer)
