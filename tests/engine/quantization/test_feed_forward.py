"""Feed-forward layers with the activation in the kernel, beside themselves without."""

import pytest
import torch
from diffusers.models.attention import FeedForward
from fake_products import FakeProducts, fake_product_backends
from quantized_weights import relative, seeded

from mezzotint.dispatch.library import Activation as Kind
from mezzotint.dispatch.library import Preparation
from mezzotint.quantization.formats import Int8, LowRank4
from mezzotint.quantization.fp8 import Fp8
from mezzotint.quantization.layers import quantized_layers, swap_in
from mezzotint.quantization.linear import Branch
from mezzotint.quantization.products.self_test import CASES

# Of both products: how their inputs are prepared, and what becomes of them. GELU is free in quantizing rows.
KINDS = {
    ("geglu", Int8): ([0, 0], [Kind.GATED_GELU, 0]),
    ("gelu-approximate", Int8): ([0, Preparation.GELU_TANH], [0, 0]),
    ("gelu-approximate", LowRank4): ([0, 0], [Kind.GELU_TANH, 0]),
    ("gelu-approximate", Fp8): ([0, Preparation.GELU_TANH], [0, 0]),
}
SELF_TEST = len(CASES["kernels"])  # products


def feed_forward(kind="geglu", format_=None, **options):
    torch.manual_seed(0)
    made = FeedForward(64, activation_fn=kind, **options).half().eval()
    weights = {name: made.get_submodule(name).weight.float() for name in ("net.0.proj", "net.2")}
    swap_in(made, dict.fromkeys(weights, format_ or Int8(dynamic=True, group=64)))
    for name, layer in quantized_layers(made):
        layer.set_tensors(layer.format.quantize(weights[name]))
    return made


def multiplying(library, *networks, notices=None):
    session = fake_product_backends(library).session(
        "cpu", "float16", networks, lambda *told: (notices if notices is not None else []).append(told)
    )
    return session, session.multiplying()


def preparations(library):
    return [asked.preparation for asked in library.quantized[SELF_TEST:]]


def activations(library):
    return [asked.activation for asked in library.multiplied[SELF_TEST:]]


FORMATS = {Int8: None, LowRank4: LowRank4(rank=16), Fp8: Fp8(by_rows=True, inputs="quantized")}


@pytest.mark.parametrize(("kind", "format_"), KINDS)
@torch.inference_mode()
def test_the_activation_is_made_in_the_kernel(kind, format_):
    library, model, x = FakeProducts(), feed_forward(kind, FORMATS[format_]), seeded(2, 5, 64).half()
    plain = model(x)
    _, inside = multiplying(library, model)
    with inside:
        assert relative(model(x), plain) < 0.01
    assert (preparations(library), activations(library)) == KINDS[kind, format_]
    assert model(x).equal(plain) and "forward" not in vars(model.net[0]) | vars(model.net[2])
    assert len(preparations(library)) == 2


@pytest.mark.parametrize(
    ("kind", "format_"),
    [
        ("gelu", None),  # by the error function
        ("geglu-approximate", None),
        ("geglu", LowRank4(rank=16)),
        ("linear-silu", None),
    ],
)
@torch.inference_mode()
def test_what_the_kernel_does_not_know_is_torch_s(kind, format_):
    library, model, x = FakeProducts(), feed_forward(kind, format_), seeded(5, 64).half()
    plain = model(x)
    _, inside = multiplying(library, model)
    with inside:
        assert relative(model(x), plain) < 0.01
    assert (preparations(library), activations(library)) == ([0, 0], [0, 0])


@torch.inference_mode()
def test_a_lora_on_the_first_layer_leaves_the_activation_to_the_second():
    library, model, x = FakeProducts(), feed_forward(), seeded(5, 64).half()
    _, inside = multiplying(library, model)
    with inside:
        model.net[0].proj.branches = (Branch(down=seeded(4, 64) / 16, up=seeded(512, 4)),)
        found = model(x)
    assert (preparations(library), activations(library)) == ([0, Preparation.GEGLU], [0, 0])
    assert relative(found, model(x)) < 0.01


@torch.inference_mode()
def test_another_layer_s_input_is_prepared_all_the_same():
    """That the activation was made once is not remembered."""
    library, model, x = FakeProducts(), feed_forward(), seeded(5, 64).half()
    _, inside = multiplying(library, model)
    with inside:
        model(x)
        model.net[2](seeded(5, 512).half())
    assert preparations(library) == [0, 0, Preparation.GEGLU]


@torch.inference_mode()
def test_a_dropout_that_drops_stays():
    library, model = FakeProducts(), feed_forward(dropout=0.5).train()
    _, inside = multiplying(library, model)
    with inside:
        model(seeded(5, 64).half())
    assert preparations(library) == [0, 0]


@torch.inference_mode()
def test_a_lora_on_the_layer_sees_the_activation():
    library, model, x = FakeProducts(), feed_forward(), seeded(5, 64).half()
    _, inside = multiplying(library, model)
    with inside:
        model.net[2].branches = (Branch(down=seeded(4, 256) / 16, up=seeded(64, 4)),)
        found = model(x)
    assert preparations(library) == [0, 0]
    assert relative(found, model(x)) < 0.01


@torch.inference_mode()
def test_where_the_kernel_fails_torch_makes_it():
    library, model, x, notices = FakeProducts("launch", after=SELF_TEST + 1), feed_forward(), seeded(5, 64).half(), []
    plain = model(x)
    session, inside = multiplying(library, model, notices=notices)
    with inside:
        assert relative(model(x), plain) < 0.01
        assert model(x).equal(plain)
    assert session.integers.used == "torch" and len(notices) == 1
