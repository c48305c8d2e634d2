"""What multiplies in a job: kernels where they can, torch elsewhere, counted and told."""

import pytest
import torch
from diffusers.models.attention import FeedForward
from fake_products import FakeProducts, fake_product_backends
from quantized_weights import relative, seeded
from torch import nn

from mezzotint.dispatch.library import Unavailable
from mezzotint.protocol import KernelFallback
from mezzotint.quantization.formats import Int8, LowRank4, Nf4
from mezzotint.quantization.fp8 import Fp8
from mezzotint.quantization.layers import QuantizedLinear, quantized_layers, swap_in
from mezzotint.quantization.linear import Branch
from mezzotint.quantization.products.selection import ProductBackends
from mezzotint.quantization.products.self_test import CASES

SELF_TEST = len(CASES["kernels"])  # products


@pytest.fixture
def notices():
    return []


def layer(format_, n=24, k=128):
    made = QuantizedLinear(format_, (n, k), seeded(n, seed=2).half())
    made.set_tensors(format_.quantize(seeded(n, k, seed=1)))
    return made


def network(*formats):
    return nn.Sequential(*(layer(format_, 128, 128) for format_ in formats))


def session_of(backends, notices, *networks, dtype="float16"):
    return backends.session("cpu", dtype, networks, lambda *told: notices.append(told))


def x(rows=5, k=128):
    return seeded(rows, k).half()


def test_the_kernels_multiply_inside_and_only_there(notices):
    library, model = FakeProducts(), network(Int8(dynamic=True, group=64), Nf4(), LowRank4(rank=16))
    session = session_of(fake_product_backends(library), notices, model, "no network")
    plain = model(x())
    with session.multiplying():
        assert relative(model(x()), plain) < 5e-3
        model[0].branches = (Branch(down=seeded(4, 128), up=seeded(128, 4)),)
        model(x())
    assert len(library.multiplied) == SELF_TEST + 4
    model(x())
    assert len(library.multiplied) == SELF_TEST + 4
    assert (session.integers.used, session.fallbacks, notices) == ("kernels", (), [])
    assert session.schemes == {"int8": 2, "int4-lowrank": 2} and session.calls == 4
    assert all(each.products is None for each in model)


def test_what_the_kernels_cannot_do_is_counted_and_told_once(notices):
    model, odd = network(Int8(dynamic=True)), layer(Int8(dynamic=True), k=72)
    session = session_of(fake_product_backends(FakeProducts()), notices, model, odd)
    with session.multiplying():
        model(x())
        for _ in range(2):
            assert relative(odd(x(k=72)), odd.weight.format.product(x(k=72), odd.weight.tensors, odd.shape)) < 2
        model[0](seeded(3, 128))
    reasons = ["the weight has 72 columns, not a multiple of 16", "x is torch.float32; the kernels take torch.float16"]
    assert [fallback.calls for fallback in session.fallbacks] == [2, 1]
    assert all(told.reason.startswith(why) for told, why in zip(session.fallbacks, reasons, strict=True))
    assert session.integers.used == "kernels"
    ((code, message),) = notices
    assert code == "products_fell_back" and reasons[0] in message


def test_a_failed_launch_ends_it(notices):
    library, model = FakeProducts("launch", after=SELF_TEST), network(Int8(dynamic=True), Int8(dynamic=True))
    session = session_of(fake_product_backends(library), notices, model)
    plain = model(x())
    with session.multiplying():
        assert model(x()).equal(plain) and model(x()).equal(plain)
    assert session.fallbacks == (KernelFallback(reason="the launch failed", calls=1),)
    assert session.integers.used == "torch" and len(notices) == 1
    assert len(library.multiplied) == SELF_TEST + 1


@pytest.mark.parametrize("fault", ["wrong", "nan", "bug"])
def test_after_a_failed_self_test_torch_multiplies(notices, fault):
    library, model = FakeProducts(fault), network(Int8(dynamic=True))
    session = session_of(fake_product_backends(library), notices, model)
    with session.multiplying():
        model(x())
    assert (session.integers.used, len(library.multiplied)) == ("torch", 1)
    ((fallback,), ((code, message),)) = session.fallbacks, notices
    assert fallback.calls == 0 and fallback.reason in message and code == "products_fell_back"


def test_the_self_test_runs_once_for_a_device_and_a_format(notices):
    library = FakeProducts()
    backends = fake_product_backends(library)
    for dtype in ("float16", "bfloat16", "float16"):
        session_of(backends, notices, network(Int8(dynamic=True)), dtype=dtype)
    assert len(library.multiplied) == 2 * SELF_TEST


@pytest.mark.parametrize(
    ("backends", "dtype", "missing"),
    [
        (ProductBackends(), "float16", "need an NVIDIA GPU, and the device is cpu"),
        (fake_product_backends(error=Unavailable("no driver")), "float16", "no driver"),
        (fake_product_backends(FakeProducts()), "float32", "not float32"),
    ],
)
def test_where_there_are_none_nothing_is_said(notices, backends, dtype, missing):
    assert missing in backends.integers.missing("cpu", dtype)
    session = session_of(backends, notices, network(Int8(dynamic=True)), dtype=dtype)
    assert (session.fallbacks, notices) == ((), [])


def test_a_device_without_kernels_is_torch_s(notices):
    session = session_of(fake_product_backends(FakeProducts("unsupported")), notices, network(Int8(dynamic=True)))
    assert (session.integers.used, notices) == ("torch", [])


def test_without_such_layers_the_library_is_never_opened(notices):
    backends = fake_product_backends(error=AssertionError("opened"))
    assert session_of(backends, notices, network(Nf4()), nn.Linear(8, 8)).integers.used is None


@pytest.mark.parametrize("format_", [Int8(dynamic=True, group=64), LowRank4(rank=16)], ids=str)
def test_in_training_the_kernels_multiply_and_torch_computes_gradients(notices, format_):
    library, model = FakeProducts(), network(format_)
    model[0].branches = (Branch(down=seeded(4, 128).requires_grad_(), up=seeded(128, 4).requires_grad_()),)
    inputs = [x().requires_grad_(), *model[0].branches[0].factors]
    plain = torch.autograd.grad(model(inputs[0]).float().sum(), inputs)
    session = session_of(fake_product_backends(library), notices, model)
    with session.multiplying():
        found = torch.autograd.grad(model(inputs[0]).float().sum(), inputs)
    assert all(one.equal(other) for one, other in zip(found, plain, strict=True))
    assert (len(library.multiplied), session.fallbacks, notices) == (SELF_TEST + 1, (), [])


def test_in_training_torch_computes_activations(notices):
    library, model = FakeProducts(), FeedForward(64, activation_fn="geglu").half().requires_grad_(requires_grad=False)
    weights = {name: model.get_submodule(name).weight.float() for name in ("net.0.proj", "net.2")}
    swap_in(model, dict.fromkeys(weights, Int8(dynamic=True, group=64)))
    for name, each in quantized_layers(model):
        each.set_tensors(each.format.quantize(weights[name]))
    inputs, session = x(k=64).requires_grad_(), session_of(fake_product_backends(library), notices, model)
    (plain,) = torch.autograd.grad(model(inputs).float().sum(), inputs)
    with session.multiplying():
        (found,) = torch.autograd.grad(model(inputs).float().sum(), inputs)
    assert relative(found, plain) < 0.01
    assert (len(library.multiplied), session.fallbacks, notices) == (SELF_TEST + 2, (), [])


def test_files_of_floats_are_multiplied_as_such_where_the_card_does(notices):
    """And nothing is told where it does not: then weights are dequantized as ever."""
    model, library = network(Fp8(inputs="either"), Fp8()), FakeProducts()
    session = session_of(fake_product_backends(library), notices, model)
    assert session.integers.layers == (model[0],)
    plain = model(x())
    with session.multiplying():
        assert 1e-3 < relative(model(x()), plain) < 5e-2
    assert [asked.shares_weight_scale for asked in library.multiplied[SELF_TEST:]] == [1]
    other = session_of(fake_product_backends(FakeProducts(floats=False)), notices, model)
    with other.multiplying():
        assert torch.equal(model(x()), plain)
    assert (other.integers.layers, other.integers.used, notices) == ((), None, [])


def test_layers_whose_inputs_decide_much_keep_them(notices):
    model = nn.ModuleDict({"attn2": nn.ModuleDict({name: layer(Fp8(inputs="either")) for name in ("to_q", "to_k")})})
    wanted = session_of(fake_product_backends(FakeProducts()), notices, nn.ModuleDict({"block": model}))
    assert wanted.integers.layers == (model["attn2"]["to_q"],)


def test_the_scheme_fp8_says_where_there_is_no_kernel(notices):
    model = network(Fp8(by_rows=True, inputs="quantized"))
    session = session_of(fake_product_backends(FakeProducts(floats=False)), notices, model)
    plain = model(x())
    with session.multiplying():
        assert torch.equal(model(x()), plain)
    assert [each.calls for each in session.fallbacks] == [1]
    assert "does not multiply floats of 8 bits" in notices[0][1]
