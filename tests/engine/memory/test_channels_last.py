"""Weights of convolutions in channels_last, in RAM and from files, streamed and with LoRAs."""

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from mezzotint.checkpoints.header import read_header
from mezzotint.checkpoints.positioned import PositionedFile
from mezzotint.memory.channels_last import keep_channels_last
from mezzotint.memory.device import open_device
from mezzotint.memory.host import HostTensor, disk_tensor
from mezzotint.memory.streaming import StreamedNetwork
from mezzotint.quantization.branched import set_branches
from mezzotint.quantization.formats import Int8
from mezzotint.quantization.layers import swap_in
from mezzotint.quantization.linear import Branch

CARD = torch.device("cpu")


def network_of(dtype=torch.bfloat16):
    torch.manual_seed(2)
    layers = nn.Conv2d(8, 16, 3, padding=1), nn.Conv2d(16, 16, 1), nn.Conv2d(16, 8, 3, stride=2), nn.GroupNorm(2, 8)
    return nn.Sequential(*layers).to(dtype).requires_grad_(False).eval()


def is_laid_out(weight):
    return weight.is_contiguous(memory_format=torch.channels_last)


def on_disk(weight, path):
    save_file({"weight": weight.detach()}, path)
    spec = read_header(path).tensors["weight"]
    return disk_tensor(PositionedFile(path), spec, shape=tuple(weight.shape), dtype=weight.dtype)


@torch.inference_mode()
def test_the_layout_changes_and_no_number():
    network, kept = network_of(), network_of()
    before = [parameter.data_ptr() for parameter in network.parameters()]
    assert keep_channels_last(network, {}) == {}
    assert is_laid_out(network[0].weight) and is_laid_out(network[2].weight)
    assert all(a.equal(b) for a, b in zip(network.parameters(), kept.parameters(), strict=True))
    moved = [a != b.data_ptr() for a, b in zip(before, network.parameters(), strict=True)]
    assert moved == [True, *(False,) * 3, True, *(False,) * 3], "the 1x1 weight is the same in both layouts"
    laid_out = network[0].weight
    keep_channels_last(network, {})
    assert network[0].weight is laid_out


def test_bytes_whose_pixels_are_rounded_too_and_no_others(tmp_path):
    network = nn.Sequential(*(nn.Conv2d(64, 8, 3, padding=1) for _ in range(2))).requires_grad_(False)
    formats = {"0": Int8(dynamic=False, pixels=True), "1": Int8(dynamic=False)}
    weights = {name: format_.quantize(network[int(name)].weight) for name, format_ in formats.items()}
    swap_in(network, formats)
    for name, tensors in weights.items():
        network[int(name)].set_tensors(tensors)
    save_file({"w": weights["0"]["weight"]}, tmp_path / "weights.safetensors")
    spec = read_header(tmp_path / "weights.safetensors").tensors["w"]
    file = PositionedFile(tmp_path / "weights.safetensors")
    source = disk_tensor(file, spec, shape=(8, 64, 3, 3), dtype=torch.int8)
    arriving = keep_channels_last(network, {"0.quantized_weight": source})["0.quantized_weight"]
    assert [is_laid_out(layer.quantized_weight) for layer in network] == [True, False]
    assert network[0].quantized_weight.equal(weights["0"]["weight"])
    assert arriving.tensor().equal(weights["0"]["weight"]) and is_laid_out(arriving.tensor())


def test_32_bits_stay_as_they_are():
    network = network_of(torch.float32)
    keep_channels_last(network, {})
    assert not is_laid_out(network[0].weight)


@pytest.mark.parametrize("from_disk", [False, True], ids=["RAM", "disk"])
@torch.inference_mode()
def test_streamed_weights_arrive_in_the_layout_with_their_loras(tmp_path, from_disk):
    network, x = network_of(), torch.randn(2, 8, 6, 6, dtype=torch.bfloat16)
    save_file(network.state_dict(), tmp_path / "weights.safetensors")
    file, specs = (
        PositionedFile(tmp_path / "weights.safetensors"),
        read_header(tmp_path / "weights.safetensors").tensors,
    )
    shape = network[0].weight.shape
    disk = {"0.weight": disk_tensor(file, specs["0.weight"], shape=tuple(shape), dtype=torch.bfloat16)}
    lora = {"0": [Branch(down=torch.randn(2, 8, 3, 3), up=torch.randn(16, 2, 1, 1), scale=0.5)]}
    set_branches(network, lora, merge_now=True)
    wanted = network(x)
    set_branches(network, {})
    sources = keep_channels_last(network, disk if from_disk else {})
    device = open_device(CARD, cap=2**20, simulated=True, reading=False)
    placing = {"resident": 0, "slots": 1, "copier": device.copier, "arena": device.arena}
    set_branches(network, lora, merge_now=False)
    streamed = StreamedNetwork(network, ["0", "1", "2"], disk=sources, **placing)
    streamed.enter()
    streamed.ready()
    seen = []
    network[0].register_forward_hook(lambda layer, *_: seen.append(is_laid_out(layer.weight)))
    with device.counting():
        for _ in range(2):
            torch.testing.assert_close(network(x), wanted, atol=2e-2, rtol=2e-2)
    streamed.leave()
    assert seen == [True, True]


def test_bytes_of_a_file_are_not_those_of_the_layout(tmp_path):
    network = network_of()
    kept = network[0].weight.detach().clone()
    save_file({"0.weight": kept}, tmp_path / "weights.safetensors")
    file, specs = (
        PositionedFile(tmp_path / "weights.safetensors"),
        read_header(tmp_path / "weights.safetensors").tensors,
    )
    source = disk_tensor(file, specs["0.weight"], shape=tuple(kept.shape), dtype=torch.bfloat16)
    assert source.supports_partial_reads
    laid_out = keep_channels_last(network, {"0.weight": source, "2.weight": HostTensor(kept)})["0.weight"]
    assert not laid_out.supports_partial_reads and laid_out.layout.bytes == source.layout.bytes
    assert laid_out.tensor().equal(kept) and is_laid_out(laid_out.tensor())
