"""What is left to layers is done once, by the kernels or by torch, and never forgotten."""

import pytest
import torch
from fake_products import FakeProducts, fake_product_backends
from quantized_weights import relative, seeded
from torch import nn

from mezzotint.quantization.feed_forward import fused
from mezzotint.quantization.formats import Int8, LowRank4
from mezzotint.quantization.fusion.layers import Fusion
from mezzotint.quantization.layers import QuantizedLinear
from mezzotint.quantization.linear import Branch
from mezzotint.quantization.products.self_test import CASES

SELF_TEST = len(CASES["kernels"])  # products
INT8 = Int8(dynamic=True, group=16)
NORM = nn.LayerNorm(64, elementwise_affine=False)


@pytest.fixture(autouse=True)
def without_gradients():
    with torch.inference_mode():
        yield


def layer(format_=INT8):
    made = QuantizedLinear(format_, (64, 64), None)
    made.set_tensors(format_.quantize(seeded(64, 64)))
    return made


def computed(layers, library=None, dtype=torch.float16, branch=None):
    """What layers make of a normalized x, with gate and residual for the first, and the same by torch."""
    library = library or FakeProducts()
    session = fake_product_backends(library).session("cpu", "float16", [nn.ModuleList(layers)], lambda *_: None)
    x = seeded(2, 5, 64).to(dtype)
    gain, shift, gate = (seeded(2, 1, 64, seed=seed).to(dtype) for seed in (1, 2, 3))
    branches = () if branch is None else (branch,)
    layers[0].branches = branches
    plain = [each(NORM(x) * (1 + gain) + shift) for each in layers]
    fusion, library.after = Fusion(session, layers), 0
    del library.quantized[:], library.multiplied[:]
    for each in layers:
        each.branches, each.products = (), session
    with fused(fusion, [], layers), fusion.block():
        read = fusion.normalized(layers, NORM, x, gain, shift)
        layers[0].branches = branches  # unusual, but not forgotten
        end = fusion.ending(layers[0], x, gate)
        found = [each(read) for each in layers]
        found[0] = end(found[0])
    plain[0] = x + gate * plain[0]
    return found, plain, library


def included(library):
    return [bool(each.gain) for each in library.quantized], [bool(each.residual) for each in library.multiplied]


def test_norm_modulation_gate_and_residual_are_in_the_kernels():
    found, plain, library = computed([layer(), layer()])
    assert all(relative(*pair) < 0.01 for pair in zip(found, plain, strict=True))
    assert included(library) == ([True, True], [True, False])


@pytest.mark.parametrize("others", [[LowRank4(rank=16)], [Int8(dynamic=False)]], ids=str)
def test_of_layers_that_need_the_norm_s_output_torch_makes_it(others):
    found, plain, library = computed([layer(), *map(layer, others)])
    assert all(relative(*pair) < 0.02 for pair in zip(found, plain, strict=True))
    assert not any(included(library)[0]) and included(library)[1][0]


def test_a_lora_sees_the_norm_s_output():
    branch = Branch(down=seeded(16, 64).half() / 8, up=seeded(64, 16, seed=1).half() / 4)
    found, plain, library = computed([layer()], branch=branch)
    assert relative(found[0], plain[0]) < 0.01
    assert included(library) == ([False], [False])


@pytest.mark.parametrize("fault", [{"depths": {1}}, {"fault": "launch", "after": SELF_TEST}], ids=["refused", "failed"])
def test_where_a_kernel_fails_torch_makes_all_of_it(fault):
    found, plain, _ = computed([layer(), layer()], FakeProducts(**fault))
    assert all(pair[0].equal(pair[1]) for pair in zip(found, plain, strict=True))


def test_an_input_that_was_not_taken_is_an_error():
    one = layer()
    fusion = Fusion(None, [one])
    with pytest.raises(RuntimeError, match="1 layers did not take"), fusion.block():
        fusion.normalized([one], NORM, seeded(1, 5, 64))
    with fusion.block():
        pass


def test_another_input_is_an_error():
    one = layer()
    fusion = Fusion(None, [one])
    with pytest.raises(RuntimeError, match="another input"), fused(fusion, [], [one]), fusion.block():
        fusion.normalized([one], NORM, seeded(1, 5, 64))
        one(seeded(1, 5, 64))


def test_a_gate_of_each_token_is_torch_s():
    one, x, gate = layer(), seeded(1, 5, 64), seeded(1, 5, 64, seed=1)
    fusion = Fusion(None, [one])
    with fused(fusion, [], [one]), fusion.block():
        end = fusion.ending(one, x, gate)
        y = one(x)
    assert end(y).equal(x + gate * y)


def test_a_residual_in_another_format_is_torch_s():
    one, x = layer(), seeded(1, 5, 64).half()
    library = FakeProducts()
    session = fake_product_backends(library).session("cpu", "float16", [one], lambda *_: None)
    fusion = Fusion(session, [one])
    with fused(fusion, [], [one]), fusion.block():
        end = fusion.ending(one, x.float())
        assert end(one(x)).dtype == torch.float32
    assert not any(each.residual for each in library.multiplied)
