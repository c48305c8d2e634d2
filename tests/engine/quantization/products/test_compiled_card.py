"""Our quantized products end to end: on a card by the installed library, and always by one that is stood in for."""

import pytest
import torch
from card_kernels import CardProducts
from fake_card.install import fake_card
from fake_products import FakeProducts

from mezzotint.dispatch.library import Preparation, Unavailable, Unsupported, open_installed
from mezzotint.quantization.formats import Int8, LowRank4
from mezzotint.quantization.fusion.around import Around, Ending, Norm
from mezzotint.quantization.linear import Branch, QuantizedWeight, linear
from mezzotint.quantization.products.compiled import CompiledLinear
from mezzotint.quantization.products.self_test import run_self_test
from mezzotint.quantization.random_weights import random_quantized_weight

FORMATS = [Int8(dynamic=True, group=64), Int8(dynamic=True), LowRank4(group=64)]
SHAPES = [(1, 320, 640), (17, 328, 1280), (77, 1280, 2048), (300, 640, 640)]  # rows, outputs, columns


@pytest.fixture(params=["stand-in", pytest.param("card", marks=pytest.mark.gpu)])
def place(request):
    """A function of tensors, and the device for them."""
    if request.param == "stand-in":
        return CompiledLinear(FakeProducts()), torch.device("cpu")
    try:
        return CompiledLinear(open_installed()), torch.device("cuda")
    except Unavailable as error:
        pytest.skip(str(error))


def near(found, exact):
    """Within the rounding of the output, and some halves of x's rounding that fall the other way."""
    return float((found.float() - exact).norm() / exact.norm()) < 2e-3


def test_the_self_test_passes(place):
    kernels, device = place
    assert run_self_test(kernels, device, torch.float16).problem is None


@pytest.mark.slow_after(4)
@pytest.mark.parametrize("format_", FORMATS, ids=str)
@pytest.mark.parametrize("rank", [0, 24, 300])
def test_layers_are_as_by_the_plain_path(place, format_, rank):
    kernels, device = place
    generator = torch.Generator().manual_seed(rank)

    def draw(*size):
        return torch.randn(size, generator=generator).to(device).half()

    for rows, outputs, columns in SHAPES:
        weight = random_quantized_weight(format_, (outputs, columns), torch.Generator(device).manual_seed(1))
        x, bias = draw(rows, columns), draw(outputs)
        branches = [Branch(down=draw(rank, columns) / 50, up=draw(outputs, rank) / 20)] if rank else []
        out = kernels(x, weight, bias, branches[0] if rank else None)
        assert near(out, linear(x.float(), weight, bias.float(), branches))


@pytest.mark.parametrize("preparation", [Preparation.GELU_TANH, Preparation.GEGLU])
def test_an_activation_on_the_way(place, preparation):
    kernels, device = place
    weight = random_quantized_weight(FORMATS[0], (640, 2560), torch.Generator(device).manual_seed(1))
    x = torch.randn(100, 5120 if preparation is Preparation.GEGLU else 2560, device=device).half()
    active = torch.nn.functional.gelu(x.float(), approximate="tanh")
    if preparation is Preparation.GEGLU:
        a, b = x.float().chunk(2, dim=1)
        active = a * torch.nn.functional.gelu(b)
    assert near(kernels(x, weight, None, None, preparation), linear(active, weight))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_branches_are_in_memory_once(dtype):
    """Of a network in slots a second copy of each would stay, which no plan counts."""
    weight = random_quantized_weight(LowRank4(group=64), (640, 640), torch.Generator().manual_seed(1))
    with fake_card() as card, torch.inference_mode():
        there = {name: tensor.to("cuda:0") for name, tensor in weight.tensors.items()}
        moved = QuantizedWeight(format=weight.format, tensors=there, shape=weight.shape)
        x = torch.randn(8, 640).to("cuda:0", dtype)
        lora = Branch(down=torch.randn(8, 640).to("cuda:0", dtype), up=torch.randn(640, 8).to("cuda:0", dtype))
        kernels, before = CompiledLinear(CardProducts()), card.device().allocated
        for branch in (None, lora):
            out = kernels(x, moved, None, branch)
            assert card.device().allocated == before + out.nbytes
            del out
        assert card.hazards == []


@pytest.mark.parametrize("batches", [1, 3])
def test_a_norm_and_a_sum_around_the_product(place, batches):
    kernels, device = place
    generator = torch.Generator().manual_seed(batches)

    def draw(*size):
        return torch.randn(size, generator=generator).to(device).half()

    weight = random_quantized_weight(FORMATS[0], (640, 320), torch.Generator(device).manual_seed(1))
    x, residual, bias = draw(3, 40, 320), draw(3, 40, 640), draw(640)
    values, gate = draw(batches, 1, 4 * 320), draw(batches, 1, 640)
    gain, shift = values.chunk(4, dim=2)[1:3]
    for module in (torch.nn.LayerNorm(320), torch.nn.RMSNorm(320, eps=1e-6)):
        torch.nn.init.normal_(module.weight)
        norm = Norm(module=module.to(device).half(), gain=gain, shift=shift)
        around = Around(norm=norm, ending=Ending(residual=residual, gate=gate))
        with torch.inference_mode():
            found = kernels(x, weight, bias, None, Preparation.AS_IT_IS, around)
            read = Norm(module=module.float(), gain=gain.float(), shift=shift.float()).plain(x.float())
            ending = Ending(residual=residual.float(), gate=gate.float())
            assert near(found, ending.plain(linear(read, weight, bias.float())))


def test_gates_that_rows_cannot_share():
    weight = random_quantized_weight(FORMATS[0], (64, 64), torch.Generator().manual_seed(1))
    x, gate = torch.randn(2, 5, 64).half(), torch.randn(3, 1, 64).half()
    kernels = CompiledLinear(FakeProducts())
    with torch.inference_mode():
        with pytest.raises(ValueError, match="10 rows cannot share 3"):
            kernels(x, weight, around=Around(ending=Ending(residual=x, gate=gate)))
        with pytest.raises(ValueError, match="the residual is"):
            kernels(x, weight, around=Around(ending=Ending(residual=x[:1])))
        branch = Branch(down=torch.randn(300, 64), up=torch.randn(64, 300))
        with pytest.raises(Unsupported, match="its gate or activation would come before"):
            kernels(x, weight, None, branch, around=Around(ending=Ending(residual=x)))
