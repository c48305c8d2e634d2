"""Layers with the same input by one product: the same to the bit as apart, in every family."""

from contextlib import nullcontext
from dataclasses import replace
from unittest.mock import patch

import pytest
import tiny_krea2
import tiny_sana
import torch
from block_networks import arguments_of, output_of, quantized
from fake_products import FakeProducts, fake_product_backends
from quantized_weights import relative, seeded
from small_networks import small_networks
from torch import nn

from mezzotint.acceleration.text_cache import cached_text
from mezzotint.quantization.feed_forward import fused
from mezzotint.quantization.formats import Int8
from mezzotint.quantization.fusion.layers import Fusion
from mezzotint.quantization.fusion.share import counting_share
from mezzotint.quantization.layers import QuantizedLinear
from mezzotint.quantization.linear import Branch
from mezzotint.quantization.products.self_test import CASES

SELF_TEST = len(CASES["kernels"])  # products


def pixart():
    from diffusers import PixArtTransformer2DModel

    return PixArtTransformer2DModel(
        num_attention_heads=2, attention_head_dim=32, num_layers=2, cross_attention_dim=64, caption_channels=64,
        sample_size=32, out_channels=8, use_additional_conditions=False,
    )  # fmt: skip


def sd3(**others):
    from diffusers import SD3Transformer2DModel

    return SD3Transformer2DModel(
        sample_size=8, in_channels=16, num_layers=2, attention_head_dim=64, num_attention_heads=2,
        joint_attention_dim=64, caption_projection_dim=128, pooled_projection_dim=64, out_channels=16,
        pos_embed_max_size=12, dual_attention_layers=(0,), **others,
    )  # fmt: skip


def sana():
    heads = {"num_attention_heads": 2, "num_cross_attention_heads": 2, "cross_attention_dim": 64}
    return tiny_sana.transformer(**heads, attention_head_dim=32, cross_attention_head_dim=32)


def krea2():
    heads = {"attention_head_dim": 64, "num_attention_heads": 2, "num_key_value_heads": 1}
    return tiny_krea2.transformer(**heads, axes_dims_rope=(16, 24, 24))


NETWORKS = {  # and of a step how many products are of several layers, and at least the percents of operations in them
    "pixart": (pixart, 2, 20),
    "sd3": (sd3, 2 * 2 + 1, 30),
    "sana": (sana, 2, 45),
    "krea2": (krea2, 2, 30),
    "sdxl": (small_networks()["UNet2DConditionModel"], 8, 15),
}


@pytest.fixture(autouse=True)
def without_gradients():
    with torch.inference_mode():
        yield


@pytest.fixture(params=NETWORKS)
def family(request):
    return request.param


def computed(family, network, *, joined=True):
    """The output, the numbers of parts of each product of several layers, all products, and what share they have."""
    library = FakeProducts()
    session = fake_product_backends(library).session("cpu", "bfloat16", [network], lambda *_: None)
    apart = nullcontext() if joined else patch.object(Fusion, "joining", lambda *_: nullcontext())
    with apart, session.multiplying(), counting_share(network, session) as share:
        out = output_of(family, network)
    assert session.fallbacks == ()
    products = library.multiplied[SELF_TEST:]
    return out, [each.part_count for each in products if each.part_count and not each.activation], products, share


def test_it_is_the_same_as_apart_to_the_bit(family):
    network = quantized(NETWORKS[family][0]())
    out, joined, products, share = computed(family, network)
    plain, none, more, before = computed(family, network, joined=False)
    assert out.equal(plain)
    assert (joined, none) == ([3] * NETWORKS[family][1], [])
    assert len(products) == len(more) - 2 * len(joined)
    assert (share.total, share.integers, before.joined) == (before.total, before.integers, 0)
    assert 100 * share.part(share.joined) >= NETWORKS[family][2]
    assert not any("forward" in vars(module) for module in network.modules())


def test_norms_of_heads_are_in_the_product():
    network, exact = (quantized(sd3(qk_norm="rms_norm"), dtype) for dtype in (torch.bfloat16, torch.float32))
    wanted = output_of("sd3", exact)
    with patch("diffusers.models.normalization.RMSNorm.forward", side_effect=AssertionError("a norm by itself")):
        out, joined, products, _ = computed("sd3", network)
    plain = computed("sd3", network, joined=False)[0]
    assert [part.flags for each in products if each.part_count for part in each.parts] == [1, 1, 0] * len(joined)
    assert relative(out, wanted) < 1.3 * relative(plain, wanted)


def test_beside_a_lora_the_others_are_joined():
    network = quantized(pixart())
    layer = network.transformer_blocks[1].attn1.to_k
    layer.branches = (Branch(down=seeded(16, 64).bfloat16() / 8, up=seeded(64, 16, seed=1).bfloat16() / 4),)
    out, joined, *_ = computed("pixart", network)
    assert joined == [3, 2]
    assert out.equal(computed("pixart", network, joined=False)[0])


def test_a_layer_of_another_scheme_is_left_alone():
    network = quantized(pixart())
    layer = network.transformer_blocks[0].attn1.to_q
    layer.format = replace(layer.format, dynamic=False)
    assert computed("pixart", network)[1] == [2, 3]


def test_keys_and_values_of_words_are_one_product_of_which_the_cache_keeps_both():
    """Where a file has them in integers: the policy keeps their inputs."""
    network = quantized(pixart())
    for block in network.transformer_blocks:
        for layer in (block.attn2.to_k, block.attn2.to_v):
            layer.format = replace(layer.format, dynamic=True)
    out, joined, *_ = computed("pixart", network)
    assert joined == [3, 2] * 2
    assert out.equal(computed("pixart", network, joined=False)[0])
    library, given = FakeProducts(), arguments_of("pixart", network)
    session = fake_product_backends(library).session("cpu", "bfloat16", [network], lambda *_: None)
    with session.multiplying(), cached_text(network):
        assert all(output_of("pixart", network, given=given).equal(out) for _ in range(2))
    assert [each.part_count for each in library.multiplied[SELF_TEST:] if each.part_count] == [3, 2, 3, 2, 3, 3]


class Attending(nn.Module):
    """Queries read one input, keys and values what it is told."""

    def __init__(self):
        super().__init__()
        self.processor, self.heads = type("JointProcessor", (), {})(), 1
        self.to_q, self.to_k, self.to_v = (linear(seed) for seed in range(3))
        self.norm_q, self.norm_k = (nn.RMSNorm(64, eps=1e-5).half() for _ in range(2))


def linear(seed):
    made = QuantizedLinear(Int8(dynamic=True, group=16), (64, 64), None)
    made.set_tensors(made.format.quantize(seeded(64, 64, seed=seed)))
    return made


@pytest.fixture
def attention():
    """An attention, a fusion of its layers, and the library that computes their products."""
    module, library = Attending(), FakeProducts()
    layers = [module.to_q, module.to_k, module.to_v]
    session = fake_product_backends(library).session("cpu", "float16", [module], lambda *_: None)
    fusion = Fusion(session, layers)
    for each in layers:
        each.products = session
    with fused(fusion, [], layers), fusion.joining([module]):
        yield module, fusion, library


def parts(library):
    return [each.part_count for each in library.multiplied[SELF_TEST:]]


def test_outside_of_blocks_layers_are_apart(attention):
    module, _, library = attention
    module.to_q(seeded(1, 5, 64).half())
    assert parts(library) == [0]


def test_layers_that_turn_out_to_have_other_inputs_are_apart_from_then_on(attention):
    module, fusion, library = attention
    module.processor, x, other = type("Other", (), {})(), seeded(1, 5, 64).half(), seeded(1, 7, 64).half()
    with fusion.block():
        module.to_q(x)
        assert module.to_k(other).equal(QuantizedLinear.forward(module.to_k, other))
        module.to_v(other)
    with fusion.block():
        module.to_q(x)
    assert parts(library)[0] == 3
    assert set(parts(library)[1:]) == {0}


def test_what_one_block_has_left_is_not_the_next_one_s(attention):
    module, fusion, library = attention
    module.processor, x = type("Other", (), {})(), seeded(1, 5, 64).half()
    for _ in range(2):
        with fusion.block():
            module.to_q(x)
    with fusion.block():
        module.to_v(x)
    assert parts(library) == [3, 3, 3]


def test_a_norm_that_is_not_asked_is_an_error(attention):
    module, fusion, _ = attention
    with pytest.raises(RuntimeError, match="2 norms of heads were not asked"), fusion.block():
        module.to_q(seeded(1, 5, 64).half())


def test_a_norm_of_something_else_is_an_error(attention):
    module, fusion, _ = attention
    x = seeded(1, 5, 64).half()
    with pytest.raises(RuntimeError, match="a norm of heads got another input"), fusion.block():
        module.to_q(x)
        module.norm_q(x)
