"""Queries, keys and values of one input, rounded once: the very numbers that each would have made for itself."""

import pytest
import torch
from diffusers.models.attention_processor import Attention
from fake_products import FakeProducts, fake_product_backends
from quantized_weights import seeded
from torch import nn
from transformers import T5Config
from transformers.models.t5.modeling_t5 import T5Attention

from mezzotint.acceleration.text_cache import cached_text
from mezzotint.quantization import formats
from mezzotint.quantization.formats import Int8, LowRank4, Nf4
from mezzotint.quantization.layers import quantized_layers, swap_in
from mezzotint.quantization.linear import Branch
from mezzotint.quantization.products.self_test import CASES
from mezzotint.quantization.shared_quantization import share_quantized_inputs, shared_quantize

SELF_TEST = len(CASES["kernels"])  # products
INT8 = Int8(dynamic=True, group=64)
QKV = ("to_q", "to_k", "to_v")


@pytest.fixture(autouse=True)
def without_gradients():
    with torch.inference_mode():
        yield


@pytest.fixture
def roundings(monkeypatch):
    """The shapes of what torch rounds."""
    shapes, real = [], formats.quantize_rows

    def quantize_rows(x):
        shapes.append(tuple(x.shape))
        return real(x)

    monkeypatch.setattr(formats, "quantize_rows", quantize_rows)
    return shapes


def quantized(module, chosen):
    weights = {name: module.get_submodule(name).weight.float() for name in chosen}
    swap_in(module, chosen)
    for name, layer in quantized_layers(module):
        layer.set_tensors(layer.format.quantize(weights[name]))
    return module


def attention(format_=INT8, *, words=False, **others):
    torch.manual_seed(0)
    made = Attention(64, cross_attention_dim=64 if words else None, heads=2, dim_head=32).half().eval()
    return quantized(made, {**dict.fromkeys((*QKV, "to_out.0"), format_), **others})


def by_kernels(library, model):
    session = fake_product_backends(library).session("cpu", "float16", [model], lambda *_: None)
    del library.quantized[:], library.multiplied[:]
    return session


@pytest.mark.parametrize("format_", [INT8, LowRank4(rank=16, group=16)])
@pytest.mark.parametrize("words", [False, True])
def test_torch_makes_the_same_of_fewer_roundings(roundings, format_, words):
    model, x = attention(format_, words=words), seeded(2, 5, 64).half()
    given = {"encoder_hidden_states": seeded(2, 3, 64).half()} if words else {}
    del roundings[:]
    apart = model(x, **given)
    assert len(roundings) == 4
    del roundings[:]
    with share_quantized_inputs([model]):
        assert model(x, **given).equal(apart)
    assert roundings == [(10, 64), (6, 64), (10, 64)] if words else [(10, 64), (10, 64)]
    assert "forward" not in vars(model)


@pytest.mark.parametrize("format_", [INT8, LowRank4(rank=16, group=16)])
@pytest.mark.parametrize("words", [False, True])
def test_the_kernels_make_the_same_of_fewer_launches(format_, words):
    model, x = attention(format_, words=words), seeded(2, 5, 64).half()
    given = {"encoder_hidden_states": seeded(2, 3, 64).half()} if words else {}
    library = FakeProducts()
    session = by_kernels(library, model)
    for _, layer in quantized_layers(model):
        layer.products = session
    apart = model(x, **given)
    assert (len(library.quantized), len(library.multiplied), session.integers.calls) == (4, 4, 4)
    session = by_kernels(library, model)
    with session.multiplying():
        assert model(x, **given).equal(apart)
    assert (len(library.quantized), len(library.multiplied), session.integers.calls) == (3 if words else 2, 4, 4)


def test_what_is_rounded_in_another_way_is_rounded_for_itself(roundings):
    model = attention(to_v=Int8(dynamic=True, group=16))
    x = seeded(1, 5, 64).half()
    apart = model(x)
    del roundings[:]
    with share_quantized_inputs([model]):
        assert model(x).equal(apart)
    assert len(roundings) == 3


def test_a_lora_on_one_of_the_layers_changes_nothing_of_it():
    model, x, library = attention(), seeded(1, 5, 64).half(), FakeProducts()
    model.to_k.branches = (Branch(down=seeded(16, 64), up=seeded(64, 16)),)
    session = by_kernels(library, model)
    for _, layer in quantized_layers(model):
        layer.products = session
    apart = model(x)
    session = by_kernels(library, model)
    with session.multiplying():
        assert model(x).equal(apart)
    assert (len(library.quantized), [bool(asked.rank) for asked in library.multiplied]) == (
        2,
        [False, True, False, False],
    )


def test_what_the_kernels_refuse_torch_rounds_once(roundings):
    model, x = attention(), seeded(1, 5, 64).half()
    apart = model(x)
    del roundings[:]
    library = FakeProducts(depths={1})
    session = by_kernels(library, model)
    with session.multiplying():
        assert model(x).equal(apart)
    assert len(roundings) <= 3
    assert session.integers.calls == 0


def test_each_call_rounds_its_own_input(roundings):
    """Even where it is the same tensor with other numbers, as a captured step has it."""
    model, x = attention(), seeded(1, 5, 64).half()
    other = seeded(1, 5, 64).half() * 2 + 1
    expected = model(other)
    with share_quantized_inputs([model]):
        model(x)
        x.copy_(other)
        assert model(x).equal(expected)


def test_an_error_inside_ends_it(roundings):
    model, x = attention(), seeded(1, 5, 64).half()
    with share_quantized_inputs([model]):
        with pytest.raises(RuntimeError):
            model(x[:, :, :32])
        del roundings[:]
        model.to_q(x), model.to_k(x)
    assert len(roundings) == 2


def test_nothing_is_held_while_attention_computes(roundings):
    model, x = attention(), seeded(1, 5, 64).half()
    del roundings[:]
    held = []

    def out(self, inputs):
        shared_quantize(x, 64, lambda: held.append("anew"))

    model.to_out[0].register_forward_pre_hook(out)
    with share_quantized_inputs([model]):
        model(x)
    assert held == ["anew"]


def test_layers_that_remember_the_words_are_not_waited_for(roundings):
    """Or the rounded image would be held while attention computes."""
    model, words = attention(words=True), seeded(1, 3, 64).half()
    network = nn.ModuleList([model])
    plain = [model(seeded(1, 5, 64).half() + step, encoder_hidden_states=words) for step in range(2)]
    del roundings[:]
    with share_quantized_inputs([network]), cached_text(network):
        for step, expected in enumerate(plain):
            assert model(seeded(1, 5, 64).half() + step, encoder_hidden_states=words).equal(expected)
    assert len(roundings) == 4 + 2


def test_text_encoders_share_too(roundings):
    torch.manual_seed(0)
    model = T5Attention(T5Config(d_model=64, d_kv=32, num_heads=2)).half().eval()
    quantized(model, dict.fromkeys(("q", "k", "v", "o"), INT8))
    x = seeded(1, 5, 64).half()
    apart = model(x)[0]
    assert len(roundings) == 4 + 4  # of the weights, first
    del roundings[:]
    with share_quantized_inputs([model]):
        assert model(x)[0].equal(apart)
    assert len(roundings) == 2


def test_compiled_code_is_one_graph_all_the_same():
    model, x = attention(), seeded(1, 5, 64).half()
    apart = model(x)
    with share_quantized_inputs([model]):
        assert torch.compile(model, backend="eager", fullgraph=True)(x).equal(apart)


@pytest.mark.parametrize("format_", [Nf4(), Int8(dynamic=False)])
def test_layers_that_round_nothing_are_left_alone(format_):
    model = attention(format_)
    with share_quantized_inputs([model, None]):
        assert "forward" not in vars(model)
