"""Weights without LoRAs: of the network, of where it moves from, dequantized where there is room."""

import pytest
import torch
from torch import nn

from mezzotint.families.lora.base_weights import base_weight, in_network
from mezzotint.memory.host import HostTensor
from mezzotint.quantization.branched import set_branches
from mezzotint.quantization.formats import Int8
from mezzotint.quantization.layers import swap_in
from mezzotint.quantization.linear import Branch


@pytest.fixture
def quantized():
    network, format_ = nn.Sequential(nn.Linear(8, 6)), Int8(dynamic=False)
    weight = network[0].weight.detach()
    swap_in(network, {"0": format_})
    network[0].set_tensors(format_.quantize(weight))
    return network


def test_a_merged_weight_is_the_original():
    network = nn.Sequential(nn.Linear(8, 6))
    weight = network[0].weight
    set_branches(network, {"0": [Branch(down=torch.ones(1, 8), up=torch.ones(6, 1))]})
    assert base_weight(network, "0", in_network("unet")) is weight


def test_where_it_moves_from_comes_first(quantized):
    plain, elsewhere = nn.Sequential(nn.Linear(8, 6)), torch.ones(6, 8)
    assert base_weight(plain, "0", {"0.weight": HostTensor(elsewhere)}) is elsewhere
    scale = 2 * quantized[0].quantized_weight_scale
    found = base_weight(quantized, "0", {"0.quantized_weight_scale": HostTensor(scale)})
    torch.testing.assert_close(found, 2 * quantized[0].weight.dequantized(torch.float32))


def test_without_room_on_the_device_it_is_dequantized_on_the_host(quantized, monkeypatch):
    tried, original = [], Int8.dequantize

    def full(format_, tensors, shape, dtype):
        tried.append(tensors["weight"].device.type)
        if len(tried) == 1:
            raise torch.OutOfMemoryError
        return original(format_, tensors, shape, dtype)

    monkeypatch.setattr(Int8, "dequantize", full)
    weight = base_weight(quantized, "0", {}, torch.device("cpu"))
    assert tried == ["cpu", "cpu"] and torch.equal(weight, quantized[0].weight.dequantized(torch.float32))
