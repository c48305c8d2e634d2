"""Queries, keys and values as one product, with QK norm and rotation inside, beside diffusers' processors."""

from unittest.mock import patch

import pytest
import tiny_qwen_image
import torch
from block_networks import output_of, quantized
from fake_products import FakeProducts, fake_product_backends
from quantized_weights import relative

from mezzotint.dispatch.library import Activation
from mezzotint.quantization.fusion.attention import JoinedProcessor
from mezzotint.quantization.linear import Branch
from mezzotint.quantization.products.self_test import CASES

SELF_TEST = len(CASES["kernels"])  # products
HEADS = {"attention_head_dim": 64, "num_attention_heads": 2, "axes_dims_rope": (16, 24, 24)}


def flux():
    from diffusers import FluxTransformer2DModel

    return FluxTransformer2DModel(
        in_channels=64, num_layers=2, num_single_layers=2, joint_attention_dim=32, pooled_projection_dim=16,
        guidance_embeds=True, **HEADS,
    )  # fmt: skip


def flux2():
    from diffusers import Flux2Transformer2DModel

    return Flux2Transformer2DModel(
        in_channels=32, num_layers=2, num_single_layers=1, joint_attention_dim=48, guidance_embeds=False,
        attention_head_dim=64, num_attention_heads=2, axes_dims_rope=(16, 16, 16, 16),
    )  # fmt: skip


def z_image():
    from diffusers import ZImageTransformer2DModel

    return ZImageTransformer2DModel(
        in_channels=16, dim=384, n_layers=2, n_refiner_layers=1, n_heads=3, n_kv_heads=3, cap_feat_dim=32,
        axes_dims=[32, 48, 48], axes_lens=[512, 64, 64],
    )  # fmt: skip


NETWORKS = {  # and how many products of a step are of several layers
    "flux": (flux, 2 * 2 + 2),
    "flux2-klein": (flux2, 2 * 2 + 1),
    "qwen-image": (lambda: tiny_qwen_image.transformer(**HEADS), 2 * 2),
    "z-image": (z_image, 1 + 1 + 2),
}


@pytest.fixture(autouse=True)
def without_gradients():
    with torch.inference_mode():
        yield


@pytest.fixture(params=NETWORKS)
def family(request):
    return request.param


def joined(library):
    return sum(bool(asked.part_count and not asked.activation) for asked in library.multiplied[SELF_TEST:])


def session_of(library, network):
    return fake_product_backends(library).session("cpu", "bfloat16", [network], lambda *_: None)


@pytest.mark.slow_after(2)
def test_it_is_as_exact_as_apart(family):
    network, exact = quantized(NETWORKS[family][0]()), quantized(NETWORKS[family][0](), torch.float32)
    library, wanted, plain = FakeProducts(), output_of(family, exact), output_of(family, network)
    session = session_of(library, network)
    with session.multiplying():
        found = output_of(family, network)
        assert any(isinstance(getattr(each, "processor", None), JoinedProcessor) for each in network.modules())
    assert joined(library) == NETWORKS[family][1]
    assert session.fallbacks == ()
    assert relative(found, wanted) < 1.3 * relative(plain, wanted)
    assert not any(isinstance(getattr(each, "processor", None), JoinedProcessor) for each in network.modules())
    assert output_of(family, network).equal(plain)


def test_where_a_layer_has_a_lora_the_others_are_joined_by_themselves():
    network, library = quantized(NETWORKS["flux"][0]()), FakeProducts()
    plain = output_of("flux", network)
    session = session_of(library, network)
    layer = network.transformer_blocks[0].attn.add_k_proj
    layer.branches = (Branch(down=torch.zeros(16, 128), up=torch.zeros(128, 16)),)
    with session.multiplying():
        found = output_of("flux", network)
    assert joined(library) == NETWORKS["flux"][1]
    with_norms = [any(part.flags for part in each.parts) for each in library.multiplied[SELF_TEST:] if each.part_count]
    assert with_norms.count(False) == 1
    assert relative(found, plain) < 0.05


def test_flux2_s_parallel_layer_is_two_products_of_its_rows():
    network, library = quantized(flux2()), FakeProducts()
    attention, width = network.single_transformer_blocks[0].attn, 128
    session = session_of(library, network)
    with session.multiplying(), patch.object(attention.mlp_act_fn, "forward", side_effect=AssertionError("by itself")):
        output_of("flux2-klein", network)
    *_, gated, streams, _ = library.multiplied
    assert (gated.activation, gated.out_columns) == (Activation.GATED_SILU, 3 * width)
    assert [part.out_columns for part in streams.parts] == [width] * 3
    assert gated.x == streams.x  # quantized once
    assert streams.parts[0].weight == attention.to_qkv_mlp_proj.weight.tensors["weight"].data_ptr()  # no copy


def test_a_lora_of_flux2_s_parallel_layer_sees_all_of_it():
    network, library = quantized(flux2()), FakeProducts()
    plain, session = output_of("flux2-klein", network), session_of(library, network)
    network.single_transformer_blocks[0].attn.to_qkv_mlp_proj.branches = (
        Branch(down=torch.zeros(16, 128), up=torch.zeros(9 * 128, 16)),
    )
    with session.multiplying():
        found = output_of("flux2-klein", network)
    assert joined(library) == NETWORKS["flux2-klein"][1] - 1
    assert relative(found, plain) < 0.05


def test_what_the_kernels_refuse_torch_makes():
    network, library = quantized(NETWORKS["flux"][0]()), FakeProducts(depths={1})
    plain = output_of("flux", network)
    session = session_of(library, network)
    with session.multiplying():
        assert output_of("flux", network).equal(plain)
    assert not joined(library)
