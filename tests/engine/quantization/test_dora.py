"""DoRAs, merged and beside quantized weights, against the formula in float64."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional

from mezzotint.quantization import dora
from mezzotint.quantization.branched import merge, same_branches, set_branches
from mezzotint.quantization.dora import Dora, input_squares, row_squares
from mezzotint.quantization.formats import Int8, LowRank4, Nf4
from mezzotint.quantization.fp8 import Fp8
from mezzotint.quantization.gguf_blocks import GgufBlocks
from mezzotint.quantization.layers import QuantizedConv2d, QuantizedLinear
from mezzotint.quantization.linear import Branch
from mezzotint.quantization.lycoris import Hadamard, Kronecker

N, K = 48, 64
SIDES = ["outputs", "inputs"]


def random(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed + sum(shape)))


def updates(window=()):
    """One of each kind for a weight `(48, 64, *window)`."""
    flat = (1,) * len(window)
    return {
        "LoRA": Branch(down=random(3, K, *window), up=random(N, 3, *flat), scale=-0.5),
        "LoHa": Hadamard(
            ups=(random(N, 2), random(N, 2, seed=1)),
            downs=(random(2, K, *window), random(2, K, *window, seed=1)),
            scale=0.3,
        ),
        "LoKr": Kronecker(left=random(6, 4), right=random(8, 16, *window), scale=0.7),
    }


KINDS = list(updates())


def whole(update, weight):
    """The update in float64, from the formula of its kind."""
    if isinstance(update, Kronecker):
        left, right = update.left.double(), update.right.double()
        made = torch.kron(left.reshape(*left.shape, *(1,) * (right.ndim - 2)), right)
    elif isinstance(update, Hadamard):
        one, two = (
            torch.einsum("nr,r...->n...", up.double(), down.double())
            for up, down in zip(update.ups, update.downs, strict=True)
        )
        made = one * two
    else:
        made = torch.einsum("nr,r...->n...", update.up.double().flatten(1), update.down.double())
    return (update.scale * made).view_as(weight)


def made_of(weight, update, sides, scale=1.0, seed=0):
    """A DoRA of random magnitudes, and the difference that it makes to the weight."""
    changed = weight.double() + whole(update, weight)
    over = (0 if sides == "inputs" else 1, *range(2, weight.ndim))
    norms = torch.linalg.vector_norm(changed, dim=over, keepdim=True)
    magnitudes = norms * (0.5 + torch.rand(norms.shape, generator=torch.Generator().manual_seed(seed)))
    squares = (input_squares if sides == "inputs" else row_squares)(weight, update)
    gain = magnitudes.float().flatten().view(squares.shape) / squares.sqrt()
    return Dora(update=update, gain=gain, scale=scale), scale * (magnitudes / norms * changed - weight.double())


@pytest.mark.parametrize("sides", SIDES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("window", [(), (3, 3)])
@pytest.mark.parametrize("scale", [1.0, -0.4])
def test_merged_it_is_the_formula(monkeypatch, sides, kind, window, scale):
    monkeypatch.setattr("mezzotint.quantization.branched._MERGE_CHUNK", 7 * K)
    monkeypatch.setattr(dora, "_CHUNK", 5 * K)
    weight = random(N, K, *window, seed=5)
    one, difference = made_of(weight, updates(window)[kind], sides, scale)
    total = torch.empty_like(weight)
    merge(total, weight, [one])
    torch.testing.assert_close(total, (weight + difference).float(), rtol=1e-5, atol=1e-5)


def test_several_are_each_made_of_the_weight_alone():
    weight = random(N, K, seed=5)
    kinds = updates()
    first, one = made_of(weight, kinds["LoRA"], "outputs", 0.6)
    second, other = made_of(weight, kinds["LoKr"], "inputs", -0.5, seed=3)
    plain = Branch(down=random(2, K, seed=9), up=random(N, 2, seed=9), scale=0.2)
    total = torch.empty_like(weight)
    merge(total, weight, [plain, first, second])
    wanted = weight + one + other + whole(plain, weight)
    torch.testing.assert_close(total, wanted.float(), rtol=1e-5, atol=1e-5)
    back = total.clone()
    merge(back, weight, [first, plain, second])
    torch.testing.assert_close(back, total, rtol=1e-5, atol=1e-5)


FORMATS = [
    (Int8(dynamic=False, group=16), 1e-5),
    (Int8(dynamic=True), 0.02),
    (Nf4(), 1e-5),
    (LowRank4(rank=4, group=16), 0.02),
]


@pytest.mark.parametrize(("format_", "tolerance"), FORMATS, ids=[str(format_) for format_, _ in FORMATS])
@pytest.mark.parametrize(
    "chosen", [("outputs",), ("inputs",), ("outputs", "inputs"), ("outputs", "outputs")], ids="-".join
)
@pytest.mark.parametrize("kind", KINDS)
@torch.inference_mode()
def test_beside_a_quantized_weight(format_, tolerance, chosen, kind):
    bias, x = random(N), random(20, K)
    layer = QuantizedLinear(format_, (N, K), bias)
    layer.set_tensors(format_.quantize(random(N, K, seed=5)))
    network, weight = nn.Sequential(layer), layer.weight.dequantized(torch.float32)
    plain = network(x)
    made = [made_of(weight, updates()[kind], sides, 0.7, seed) for seed, sides in enumerate(chosen)]
    lora = Branch(down=random(2, K, seed=9), up=random(N, 2, seed=9), scale=0.2)
    set_branches(network, {"0": [made[0][0], lora, *(one for one, _ in made[1:])]})
    wanted = functional.linear(x, (weight + whole(lora, weight) + sum(other for _, other in made)).float(), bias)
    assert (wanted - plain).norm() > 0.2 * wanted.norm()
    assert (network(x) - wanted).norm() <= tolerance * wanted.norm()
    set_branches(network, {})
    assert torch.equal(network(x), plain)


@pytest.mark.parametrize("packed", [Fp8(), GgufBlocks(kind="Q8_0")], ids=["fp8", "GGUF"])
@torch.inference_mode()
def test_beside_a_weight_in_the_format_of_its_file(packed):
    weight = random(N, K, seed=5)
    if isinstance(packed, Fp8):
        tensors = packed.quantize(weight)
    else:
        codes = (weight * 20).round().to(torch.int8).view(-1, 32).view(torch.uint8)
        scales = torch.full((len(codes), 1), 0.05, dtype=torch.float16).view(torch.uint8)
        tensors = {"weight": torch.cat([scales, codes], dim=1).view(N, -1)}
    layer, x = QuantizedLinear(packed, (N, K), random(N)), random(20, K)
    layer.set_tensors(tensors)
    network, weight = nn.Sequential(layer), layer.weight.dequantized(torch.float32)
    one, difference = made_of(weight, updates()["LoRA"], "outputs", 0.7)
    set_branches(network, {"0": [one]})
    wanted = functional.linear(x, (weight + difference).float(), layer.bias)
    torch.testing.assert_close(network(x), wanted, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize("chosen", [("outputs",), ("inputs",), ("outputs", "inputs")], ids="-".join)
@torch.inference_mode()
def test_beside_a_quantized_convolution(chosen, with_bias):
    plain, format_ = nn.Conv2d(K, N, 3, stride=2, padding=1, bias=with_bias), Int8(dynamic=False)
    layer = QuantizedConv2d(format_, plain)
    layer.set_tensors(format_.quantize(plain.weight))
    network, weight, x = nn.Sequential(layer), layer.weight.dequantized(torch.float32), random(2, K, 7, 7)
    kinds = updates((3, 3))
    made = [made_of(weight, kinds[kind], sides, 0.7) for kind in KINDS for sides in chosen]
    set_branches(network, {"0": [one for one, _ in made]})
    wanted = functional.conv2d(x, (weight + sum(other for _, other in made)).float(), layer.bias, 2, 1)
    torch.testing.assert_close(network(x), wanted, rtol=1e-3, atol=1e-3 * float(wanted.abs().max()))


@given(n=st.integers(1, 9), c=st.integers(1, 9), window=st.sampled_from([(), (2, 3)]), chunk=st.integers(1, 40))
def test_norms_of_rows_and_inputs(n, c, window, chunk):
    weight, update = random(n, c, *window), Branch(down=random(2, c, *window), up=random(n, 2), scale=0.3)
    changed = (weight.double() + whole(update, weight)).reshape(n, c, -1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dora, "_CHUNK", chunk)
        torch.testing.assert_close(row_squares(weight, update), changed.square().sum((1, 2))[:, None].float())
        torch.testing.assert_close(input_squares(weight, update), changed.square().sum((0, 2))[None].float())


def test_gains_of_16_bits_scale_what_they_add_to_the_weight():
    """A gain near 1 is not rounded to 16 bits: its difference from 1 is."""
    layer = QuantizedLinear(Int8(dynamic=False), (N, K), None)
    layer.set_tensors(layer.format.quantize(random(N, K)))
    layer.bfloat16()
    nothing = Branch(down=torch.zeros(1, K, dtype=torch.bfloat16), up=torch.zeros(N, 1, dtype=torch.bfloat16))
    network, x = nn.Sequential(layer), random(5, K).bfloat16()
    plain = network(x)
    set_branches(network, {"0": [Dora(update=nothing, gain=torch.full((N, 1), 1.003), scale=100.0)]})
    torch.testing.assert_close(network(x), plain * 1.3, rtol=0.01, atol=1e-3)


def test_another_strength_is_another_branch():
    one, _ = made_of(random(N, K), updates()["LoRA"], "outputs")
    half = Dora(update=one.update, gain=one.gain, scale=0.5)
    assert same_branches([one], [Dora(update=one.update, gain=one.gain)])
    assert not same_branches([one], [half]) and not same_branches([one], [one.update])


def test_what_is_joined_is_not_multiplied_alone():
    one, _ = made_of(random(N, K), updates()["LoRA"], "outputs")
    with pytest.raises(TypeError, match="a Branch is joined"):
        one.apply(random(2, K))
