"""Products with quantized weights in compiled code: the kernels are called, in one graph, and gradients are torch's."""

import pytest
import torch
from diffusers.models.attention import FeedForward
from fake_products import FakeProducts, fake_product_backends
from quantized_weights import relative, seeded
from torch import nn

from mezzotint.quantization.formats import Int4, Int8, LowRank4, Nf4
from mezzotint.quantization.fp8 import Fp8
from mezzotint.quantization.layers import quantized_layers, swap_in
from mezzotint.quantization.linear import Branch
from mezzotint.quantization.products.self_test import CASES

SELF_TEST = len(CASES["kernels"])  # products
FORMATS = [
    Fp8(by_rows=True, inputs="quantized"),
    Int4(group=64),
    Int8(dynamic=True, group=64),
    LowRank4(rank=16, group=64),
]


@pytest.fixture(autouse=True)
def _nothing_compiled():
    torch.compiler.reset()
    yield
    torch.compiler.reset()


def quantized(network, format_):
    """The linear layers of a network quantized, and nothing else."""
    network = network.half().eval().requires_grad_(False)
    linear = {name: each.weight.float() for name, each in network.named_modules() if isinstance(each, nn.Linear)}
    swap_in(network, dict.fromkeys(linear, format_))
    for name, layer in quantized_layers(network):
        layer.set_tensors(layer.format.quantize(linear[name]))
    return network


def two_layers(format_):
    torch.manual_seed(0)
    return quantized(nn.Sequential(nn.Linear(64, 128), nn.Linear(128, 64, bias=False)), format_)


def session_of(library, *networks):
    return fake_product_backends(library).session("cpu", "float16", networks, lambda *_: None)


def whole(network, backend="aot_eager"):
    return torch.compile(network, backend=backend, fullgraph=True)


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("format_", FORMATS, ids=str)
@torch.inference_mode()
def test_compiled_code_multiplies_by_the_kernels(format_, backend):
    library, network, x = FakeProducts(), two_layers(format_), seeded(2, 5, 64).half()
    network[1].branches = (Branch(down=seeded(4, 128).half(), up=seeded(64, 4).half()),)
    session = session_of(library, network)
    with session.multiplying():
        eager = network(x)
        assert whole(network, backend)(x).equal(eager)
    assert session.integers.calls == 4 and len(library.multiplied) == SELF_TEST + 4


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("kind", ["geglu", "gelu-approximate"])
@pytest.mark.parametrize("fault", [None, "launch"])
@torch.inference_mode()
def test_the_activation_is_made_in_the_kernel_or_by_torch(kind, fault):
    torch.manual_seed(0)
    network = quantized(FeedForward(64, activation_fn=kind), Int8(dynamic=True, group=64))
    library, x = FakeProducts(fault, after=SELF_TEST), seeded(5, 64).half()
    plain, session = network(x), session_of(library, network)
    with session.multiplying():
        assert relative(whole(network)(x), plain) < 0.01
    assert session.integers.calls == (0 if fault else 2) and bool(session.fallbacks) is bool(fault)
    assert bool(library.quantized[-1].preparation) is not bool(fault)


@torch.inference_mode()
def test_another_job_multiplies_by_its_own(monkeypatch):
    network, x = two_layers(FORMATS[0]), seeded(5, 64).half()
    compiled = whole(network)
    sessions = [session_of(FakeProducts(), network) for _ in range(2)]
    for session in sessions:
        with session.multiplying():
            compiled(x)
    assert [session.integers.calls for session in sessions] == [2, 2]


def test_gradients_are_those_of_the_plain_path():
    network, library = two_layers(FORMATS[0]), FakeProducts()
    found = []
    for forward in (network, whole(network)):
        with session_of(library, network).multiplying():
            x = seeded(5, 64).half().requires_grad_()
            forward(x).float().square().sum().backward()
            found.append(x.grad)
    torch.testing.assert_close(found[1], found[0])


@torch.inference_mode()
def test_weights_in_nf4_go_the_same_way():
    network, x = two_layers(Nf4()), seeded(5, 64).half()
    plain = network(x)
    for layer in network:
        layer.products = session_of(FakeProducts(), network)
    assert whole(network)(x).equal(plain)
