"""OFTs, merged and beside quantized weights, against the formula in float64."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional

from mezzotint.quantization import branched
from mezzotint.quantization.branched import merge, same_branches, set_branches
from mezzotint.quantization.dora import Dora
from mezzotint.quantization.formats import Int8, LowRank4, Nf4
from mezzotint.quantization.layers import QuantizedConv2d, QuantizedLinear
from mezzotint.quantization.linear import Branch
from mezzotint.quantization.oft import Rotation

N, K = 48, 64


def random(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed + sum(shape)))


def made_of(weight, side, size=8, scale=1.0, seed=0, shared=False):
    """An OFT of random blocks, and the difference that it makes to the weight."""
    flat = weight.double().flatten(1)
    groups = flat.shape[side == "inputs"] // size
    blocks = random(1 if shared else groups, size, size, seed=seed) * 0.3
    whole = torch.block_diag(*blocks.double().expand(groups, -1, -1))
    difference = flat @ whole if side == "inputs" else whole @ flat
    return Rotation(blocks=blocks, of_inputs=side == "inputs", scale=scale), scale * difference.view_as(weight)


def one_of(name, weight, size, seed):
    """An OFT, or a DoRA that only rescales, and the difference that it makes to the weight."""
    if not name.startswith("DoRA"):
        return made_of(weight, name, size, 0.7, seed)
    by_row = name == "DoRA of rows"
    gain = 1 + random(*((len(weight), 1) if by_row else (1, weight.shape[1])), seed=7) * 0.3
    update = Branch(down=torch.zeros(1, *weight.shape[1:]), up=torch.zeros(len(weight), 1, *(1,) * (weight.ndim - 2)))
    over = gain.double().view(*gain.shape, *(1,) * (weight.ndim - 2))
    return Dora(update=update, gain=gain, scale=0.5), 0.5 * (over - 1) * weight.double()


@pytest.mark.parametrize("side", ["outputs", "inputs"])
@pytest.mark.parametrize("window", [(), (3, 3)])
@pytest.mark.parametrize("chunk", [1, 5 * K, 2**20])
def test_merged_it_is_the_formula(monkeypatch, side, window, chunk):
    monkeypatch.setattr(branched, "_MERGE_CHUNK", chunk)
    weight = random(N, K, *window, seed=5)
    one, difference = made_of(weight, side, scale=-0.4)
    total = torch.empty_like(weight)
    merge(total, weight, [one])
    torch.testing.assert_close(total, (weight + difference).float(), rtol=1e-5, atol=1e-5)


@given(sizes=st.lists(st.sampled_from([1, 2, 3, 4, 6, 12]), min_size=1, max_size=3), chunk=st.integers(1, 40))
def test_several_are_each_made_of_the_weight_alone_in_place(sizes, chunk):
    weight = random(12, 12, seed=5)
    made = [made_of(weight, "inputs" if seed % 2 else "outputs", size, 0.5, seed) for seed, size in enumerate(sizes)]
    total = weight.clone()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(branched, "_MERGE_CHUNK", chunk)
        merge(total, total, [one for one, _ in made])
    wanted = weight + sum(difference for _, difference in made)
    torch.testing.assert_close(total, wanted.float(), rtol=1e-5, atol=1e-5)


def test_one_block_may_be_for_all_inputs():
    weight = random(N, K, seed=5)
    one, difference = made_of(weight, "inputs", shared=True)
    total = torch.empty_like(weight)
    merge(total, weight, [one])
    torch.testing.assert_close(total, (weight + difference).float(), rtol=1e-5, atol=1e-5)


FORMATS = [
    (Int8(dynamic=False, group=16), 1e-5),
    (Int8(dynamic=True), 0.02),
    (Nf4(), 1e-5),
    (LowRank4(rank=4, group=16), 0.02),
]
CHOSEN = [
    ("outputs",),
    ("inputs",),
    ("outputs", "inputs"),
    ("outputs", "outputs", "DoRA of rows"),
    ("inputs", "inputs", "DoRA of inputs"),
    ("outputs", "DoRA of inputs"),
]


@pytest.mark.parametrize(("format_", "tolerance"), FORMATS, ids=[str(format_) for format_, _ in FORMATS])
@pytest.mark.parametrize("chosen", CHOSEN, ids="-".join)
@torch.inference_mode()
def test_beside_a_quantized_weight(format_, tolerance, chosen):
    bias, x = random(N), random(20, K)
    layer = QuantizedLinear(format_, (N, K), bias)
    layer.set_tensors(format_.quantize(random(N, K, seed=5)))
    network, weight = nn.Sequential(layer), layer.weight.dequantized(torch.float32)
    plain = network(x)
    made = [one_of(name, weight, 8, seed) for seed, name in enumerate(chosen)]
    lora = Branch(down=random(2, K, seed=9), up=random(N, 2, seed=9), scale=0.2)
    set_branches(network, {"0": [made[0][0], lora, *(one for one, _ in made[1:])]})
    wanted = functional.linear(x, (weight + 0.2 * lora.up @ lora.down + sum(each for _, each in made)).float(), bias)
    assert (wanted - plain).norm() > 0.2 * wanted.norm()
    assert (network(x) - wanted).norm() <= tolerance * wanted.norm()
    set_branches(network, {})
    assert torch.equal(network(x), plain)


@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize("chosen", CHOSEN, ids="-".join)
@torch.inference_mode()
def test_beside_a_quantized_convolution(chosen, with_bias):
    plain, format_ = nn.Conv2d(K, N, 3, stride=2, padding=1, bias=with_bias), Int8(dynamic=False)
    layer = QuantizedConv2d(format_, plain)
    layer.set_tensors(format_.quantize(plain.weight))
    network, weight, x = nn.Sequential(layer), layer.weight.dequantized(torch.float32), random(2, K, 7, 7)
    made = [one_of(name, weight, 6, seed) for seed, name in enumerate(chosen)]  # 6 inputs are of one or two channels
    set_branches(network, {"0": [one for one, _ in made]})
    wanted = functional.conv2d(x, (weight + sum(each for _, each in made)).float(), layer.bias, 2, 1)
    torch.testing.assert_close(network(x), wanted, rtol=1e-4, atol=1e-4 * float(wanted.abs().max()))


def test_small_rotations_are_not_rounded_away_in_16_bits():
    layer = QuantizedLinear(Int8(dynamic=False), (N, K), None)
    layer.set_tensors(layer.format.quantize(random(N, K)))
    layer.bfloat16()
    blocks = 0.003 * torch.eye(8, dtype=torch.bfloat16).expand(N // 8, -1, -1)
    network, x = nn.Sequential(layer), random(5, K).bfloat16()
    plain = network(x)
    set_branches(network, {"0": [Rotation(blocks=blocks, of_inputs=False, scale=100.0)]})
    torch.testing.assert_close(network(x), plain * 1.3, rtol=0.01, atol=1e-3)


def test_another_strength_is_another_branch():
    one, _ = made_of(random(N, K), "outputs")
    assert same_branches([one], [Rotation(blocks=one.blocks, of_inputs=False)])
    assert not same_branches([one], [Rotation(blocks=one.blocks, of_inputs=False, scale=0.5)])
