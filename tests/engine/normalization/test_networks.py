"""Blocks of diffusers with GroupNorm and SiLU in one call, against the blocks as they are."""

import pytest
import torch
from diffusers import AutoencoderKL, UNet2DModel
from diffusers.models.resnet import ResnetBlock2D
from diffusers.models.transformers.transformer_2d import Transformer2DModel
from fake_group_norm import FakeGroupNorm

from mezzotint.normalization.compiled import CompiledGroupNorm
from mezzotint.normalization.networks import normalizing
from mezzotint.normalization.session import GroupNormSession

BLOCKS = {
    "as in U-Nets": {"in_channels": 32, "temb_channels": 24},
    "another width": {"in_channels": 32, "out_channels": 64, "temb_channels": 24},
    "as in autoencoders": {"in_channels": 32, "temb_channels": None, "output_scale_factor": 2.0},
    "as in decoders": {"in_channels": 32, "temb_channels": None, "time_embedding_norm": "group"},
    "embeddings without SiLU": {"in_channels": 32, "temb_channels": 24, "skip_time_act": True},
}
LEFT = {
    "scale and shift": {"in_channels": 32, "temb_channels": 24, "time_embedding_norm": "scale_shift"},
    "another activation": {"in_channels": 32, "temb_channels": 24, "non_linearity": "gelu"},
    "a sample in between": {"in_channels": 32, "temb_channels": 24, "up": True},
}


def session_of(library):
    told = []
    return GroupNormSession(CompiledGroupNorm(library), lambda code, message: told.append((code, message))), told


def block_of(**fields):
    torch.manual_seed(3)
    block = ResnetBlock2D(groups=8, **fields).to(torch.bfloat16).eval()
    for norm in (block.norm1, block.norm2):
        torch.nn.init.normal_(norm.weight)
        torch.nn.init.normal_(norm.bias)
    return block


def inputs_of(block):
    x = torch.randn(2, 32, 6, 5, dtype=torch.bfloat16)
    return x, None if block.time_emb_proj is None else torch.randn(2, 24, dtype=torch.bfloat16)


@pytest.mark.parametrize("fields", BLOCKS.values(), ids=BLOCKS)
@torch.inference_mode()
def test_a_block_is_that_of_diffusers(fields):
    library = FakeGroupNorm()
    session, told = session_of(library)
    block = block_of(**fields)
    given = inputs_of(block)
    exact = block.float()(*(None if each is None else each.float() for each in given))
    block.to(torch.bfloat16)
    with normalizing(session, [block]):
        out = block(*given)
    assert (session.calls, len(library.launches), session.fallbacks, told) == (2, 2, (), [])
    assert out.is_contiguous(memory_format=torch.channels_last)
    torch.testing.assert_close(out.float(), exact, atol=3e-2, rtol=3e-2)
    assert "forward" not in vars(block)


@pytest.mark.parametrize("fields", LEFT.values(), ids=LEFT)
@torch.inference_mode()
def test_other_blocks_are_left_alone(fields):
    library = FakeGroupNorm()
    session, _ = session_of(library)
    block = block_of(**fields)
    given = inputs_of(block)
    with normalizing(session, [block]):
        assert torch.equal(block(*given), block(*given))
        assert "forward" not in vars(block)
    assert library.launches == []


@torch.inference_mode()
def test_an_autoencoder_is_all_by_kernels():
    library = FakeGroupNorm()
    session, _ = session_of(library)
    torch.manual_seed(3)
    blocks = {"down_block_types": ("DownEncoderBlock2D",) * 2, "up_block_types": ("UpDecoderBlock2D",) * 2}
    network = AutoencoderKL(block_out_channels=(32, 64), layers_per_block=1, norm_num_groups=8, **blocks).eval()
    images = torch.randn(1, 3, 16, 16)
    exact = network(images).sample
    network.to(torch.bfloat16)
    with normalizing(session, [network, None]):
        out = network(images.to(torch.bfloat16)).sample
    norms = [each for each in network.modules() if type(each) is torch.nn.GroupNorm]
    assert (len(library.launches), session.fallbacks) == (len(norms), ())
    assert [each.silu for each in library.launches].count(0) == 2, "the norms before attention"
    torch.testing.assert_close(out.float(), exact, atol=5e-2, rtol=5e-2)
    assert not any("forward" in vars(each) for each in network.modules())


@pytest.mark.parametrize("linear", [True, False])
@torch.inference_mode()
def test_a_transformer_of_a_u_net_is_that_of_diffusers(linear):
    library = FakeGroupNorm()
    session, told = session_of(library)
    torch.manual_seed(3)
    network = Transformer2DModel(2, 16, 32, norm_num_groups=8, cross_attention_dim=16, use_linear_projection=linear)
    x, words = torch.randn(2, 32, 6, 5), torch.randn(2, 7, 16)
    exact = network.eval()(x, words).sample
    network.to(torch.bfloat16)
    with normalizing(session, [network]):
        out = network(x.to(torch.bfloat16), words.to(torch.bfloat16)).sample
    assert ([each.silu for each in library.launches], session.fallbacks, told) == ([0], (), [])
    torch.testing.assert_close(out.float(), exact, atol=5e-2, rtol=5e-2)
    assert "forward" not in vars(network.norm)


@torch.inference_mode()
def test_a_norm_of_pixels_in_a_row_keeps_their_order():
    session, _ = session_of(FakeGroupNorm())
    torch.manual_seed(3)
    norm, tokens = torch.nn.GroupNorm(2, 16).to(torch.bfloat16), torch.randn(2, 9, 16, dtype=torch.bfloat16)
    out = session.norm(norm, tokens.mT)
    torch.testing.assert_close(out, norm(tokens.mT), atol=2e-2, rtol=2e-2)
    assert out.mT.is_contiguous() and session.calls == 1
    library = FakeGroupNorm("launch")
    session, _ = session_of(library)
    assert torch.equal(session.norm(norm, tokens.mT), norm(tokens.mT)) and len(library.launches) == 1


@torch.inference_mode()
def test_torch_continues_after_a_launch_that_fails():
    library = FakeGroupNorm("launch", after=1)
    session, told = session_of(library)
    block = block_of(**BLOCKS["as in U-Nets"])
    given = inputs_of(block)
    wanted = block(*given)
    with normalizing(session, [block]):
        torch.testing.assert_close(block(*given), wanted, atol=3e-2, rtol=3e-2)
        assert torch.equal(block(*given), wanted), "torch's alone, in torch's layout"
    assert (session.calls, session.ran, len(library.launches), len(told)) == (1, "torch", 2, 1)


@torch.inference_mode()
def test_in_32_bits_torch_computes_the_same():
    session, told = session_of(FakeGroupNorm())
    block = block_of(**BLOCKS["as in U-Nets"]).float()
    given = [each.float() for each in inputs_of(block)]
    wanted = block(*given)
    with normalizing(session, [block]):
        assert torch.equal(block(*given), wanted)
    assert (session.calls, sum(each.calls for each in session.fallbacks), told) == (0, 2, [])


@torch.inference_mode()
def test_compiled_code_is_torch_s():
    library = FakeGroupNorm()
    session, _ = session_of(library)
    block = block_of(**BLOCKS["as in U-Nets"])
    given = inputs_of(block)
    wanted = block(*given)
    with normalizing(session, [block]):
        compiled = torch.compile(block.forward, backend="eager", fullgraph=True)
        assert torch.equal(compiled(*given), wanted)
    assert library.launches == []


@torch.inference_mode()
def test_the_end_of_a_u_net_is_left_as_it_was():
    session, _ = session_of(FakeGroupNorm())
    blocks = {"down_block_types": ("DownBlock2D",), "up_block_types": ("UpBlock2D",)}
    network = UNet2DModel(8, block_out_channels=(32,), norm_num_groups=8, add_attention=False, **blocks).eval()
    with normalizing(session, [network]):
        assert "forward" in vars(network.conv_norm_out) and "forward" in vars(network.conv_act)
    assert not any("forward" in vars(each) for each in network.modules())
