"""LoRAs merged on the device: the same numbers at any residency, fetched again where they changed, no trace left."""

import re
from contextlib import contextmanager
from typing import ClassVar

import pytest
import torch
from hypothesis import given, settings
from streamed_networks import NAMES, Case, case, cases, fingerprint
from torch import nn

from mezzotint.memory import merging
from mezzotint.memory.accounting import DeviceOutOfMemory
from mezzotint.memory.device import open_device
from mezzotint.memory.host import HostTensor
from mezzotint.memory.streaming import StreamedNetwork
from mezzotint.quantization.branched import branchable_layers, set_branches, weight_shape
from mezzotint.quantization.linear import Branch


def branches_of(network: nn.Module, pattern: str, seed: int = 1) -> dict[str, list[Branch]]:
    generator = torch.Generator().manual_seed(seed)
    found = {}
    for name, layer in branchable_layers(network):
        if re.search(pattern, name):
            n, *rest = weight_shape(layer)
            shapes = (2, *rest), (n, 2, *(1 for _ in rest[1:]))
            down, up = (torch.randn(shape, generator=generator) for shape in shapes)
            found[name] = [Branch(down=down, up=up, scale=0.1)]
    return found


@contextmanager
def streamed(chosen: Case, resident: int, slots: int):
    """A network that has no branches left afterwards."""
    device = open_device(torch.device("cpu"), cap=64 * 2**20, simulated=True, reading=False)
    network = StreamedNetwork(
        chosen.network, chosen.blocks, resident=resident, slots=slots, copier=device.copier, arena=device.arena
    )
    try:
        yield network
    finally:
        network.leave()
        set_branches(chosen.network, {})
        assert fingerprint(chosen.network) == chosen.fingerprint


def begin(network: StreamedNetwork, branches: dict[str, list[Branch]]) -> None:
    set_branches(network.network, branches, merge_now=False)
    network.enter()
    network.ready()


@settings(max_examples=max(1, settings.default.max_examples // 16))
@given(cases())
def test_any_residency_gives_the_same_numbers_and_leaves_the_host_alone(chosen_plan):
    chosen, resident, slots = chosen_plan
    sets = [branches_of(chosen.network, "attn|ff|conv1|proj"), branches_of(chosen.network, "to_q|conv|linear", 2)]
    sets += [{**sets[0], **sets[1]}, {}]
    expected = []
    for branches in sets:
        set_branches(chosen.network, branches)
        expected.append(chosen.call())
    set_branches(chosen.network, {})
    assert not expected[0].equal(expected[1]) and expected[3].equal(chosen.answer)
    with streamed(chosen, resident, slots) as network:
        for _ in range(2):
            for index in (0, 1, 2, 3, 0):
                begin(network, sets[index])
                assert chosen.call().equal(expected[index])
                assert chosen.call().equal(expected[index])
            network.leave()


@pytest.mark.parametrize("name", NAMES)
def test_more_and_fewer_that_stay_in_the_middle_of_an_image_change_nothing(name):
    chosen = case(name)
    with streamed(chosen, 1, 2) as network:
        begin(network, branches_of(chosen.network, "attn|ff|conv1"))
        expected = chosen.call()
        for resident in (len(chosen.blocks), 0):
            network.arrange(resident)
            assert chosen.call().equal(expected)


class Fetched(HostTensor):
    """Weights in RAM that say when they are fetched again by themselves."""

    log: ClassVar[list[int]] = []

    def read_into(self, target):
        self.log.append(id(self.kept))
        super().read_into(target)


def test_what_stays_is_fetched_again_only_where_branches_changed():
    chosen = case("sdxl")
    first, second = (branches_of(chosen.network, pattern) for pattern in (r"attn1\.to_q", r"attn2\.to_q"))
    with streamed(chosen, len(chosen.blocks), 1) as network:
        begin(network, {})
        chosen.call()
        names = {}
        for weight in network.weights:
            names[id(weight.source.tensor())] = weight.name.removesuffix(".weight")
            weight.source = Fetched(weight.source.tensor())
        for branches, again in (({**first, **second}, {}), (first, second), (first, {}), ({}, first)):
            Fetched.log.clear()
            begin(network, branches)
            chosen.call()
            assert {names[each] for each in Fetched.log} == set(again) and len(Fetched.log) == len(again)


def test_what_is_broken_off_is_merged_whole_the_next_time(monkeypatch):
    chosen = case("pixart")
    branches = branches_of(chosen.network, "attn|ff")
    set_branches(chosen.network, branches)
    expected = chosen.call()
    set_branches(chosen.network, {})
    for resident in (0, len(chosen.blocks)):
        with streamed(chosen, resident, 1) as network:
            original, left = merging.merge, iter((False, False, True))

            def failing(target, weight, wanted, original=original, left=left):
                original(target, weight, wanted)
                if next(left, False):
                    raise DeviceOutOfMemory(requested=1, in_use=1, cap=1)

            begin(network, branches)
            with monkeypatch.context() as patch:
                patch.setattr(merging, "merge", failing)
                with pytest.raises(DeviceOutOfMemory):
                    chosen.call()
            assert chosen.call().equal(expected)


def test_a_weight_of_several_layers_is_no_place_for_a_branch():
    layers = nn.Sequential(nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False))
    layers[1].weight = layers[0].weight
    device = open_device(torch.device("cpu"), cap=None, simulated=True, reading=False)
    network = StreamedNetwork(layers, (), resident=0, slots=1, copier=device.copier, arena=device.arena)
    with pytest.raises(ValueError, match="0.weight is shared by 2 layers"):
        begin(network, {"0": [Branch(down=torch.ones(1, 4), up=torch.ones(4, 1))]})
    network.leave()
