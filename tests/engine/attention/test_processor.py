"""Our processor beside diffusers' own, layer by layer, and that networks are left as they were found."""

import pytest
import torch
from diffusers.models.attention_processor import Attention, AttnProcessor, AttnProcessor2_0
from fake_kernels import FakeKernels

from mezzotint.attention.compiled import CompiledAttention
from mezzotint.attention.processor import SessionProcessor, attending
from mezzotint.attention.session import AttentionSession

BF16 = torch.bfloat16
LAYERS = {
    "self-attention": {"query_dim": 24},
    "to words": {"query_dim": 24, "cross_attention_dim": 16},
    "words are normalized": {"query_dim": 24, "cross_attention_dim": 16, "cross_attention_norm": "layer_norm"},
    "heads are normalized": {"query_dim": 24, "qk_norm": "layer_norm"},
    "with biases": {"query_dim": 24, "bias": True, "out_bias": False},
    "an autoencoder's": {
        "query_dim": 24,
        "heads": 1,
        "dim_head": 24,
        "norm_num_groups": 4,
        "residual_connection": True,
        "rescale_output_factor": 2.0,
        "bias": True,
    },
    "a spatial norm": {"query_dim": 32, "norm_num_groups": None, "spatial_norm_dim": 4, "residual_connection": True},
}


@pytest.fixture(autouse=True)
def _without_gradients():
    with torch.inference_mode():
        yield


def layer_of(name, dtype=torch.float32):
    torch.manual_seed(0)
    layer = Attention(**{"heads": 3, "dim_head": 8} | LAYERS[name]).to(dtype).eval()
    assert type(layer.processor) is AttnProcessor2_0
    return layer


def session_of(chosen, kernels=None):
    compiled = None if kernels is None else CompiledAttention(kernels)
    return AttentionSession(asked="auto", chosen=chosen, kernels=compiled, tell=lambda *_: None)


def inputs_of(name, dtype=torch.float32):
    pixels = "autoencoder" in name or "spatial" in name
    channels = LAYERS[name]["query_dim"]
    tokens = torch.randn(2, channels, 4, 6) if pixels else torch.randn(2, 10, channels)
    more = {}
    if "cross_attention_dim" in LAYERS[name]:
        more["encoder_hidden_states"] = torch.randn(2, 7, 16).to(dtype)
    if "spatial" in name:
        more["temb"] = torch.randn(2, 4, 4, 6).to(dtype)
    return tokens.to(dtype), more


def both(layer, session, *what, ours=None, **more):
    theirs = layer(*what, **more)
    with attending(session, [layer]):
        assert isinstance(layer.processor, SessionProcessor)
        return theirs, layer(*what, **more, **(ours or {}))


@pytest.mark.parametrize("name", LAYERS)
def test_every_kind_of_layer(name):
    tokens, more = inputs_of(name)
    theirs, ours = both(layer_of(name), session_of("reference"), tokens, **more)
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", LAYERS)
def test_after_a_fall_back_it_is_bit_for_bit_theirs(name):
    layer, (tokens, more) = layer_of(name, BF16), inputs_of(name, BF16)
    session = session_of("flash", FakeKernels())
    theirs = layer(tokens, **more)
    with attending(session, [layer]):
        session.give_up("it is time")
        assert torch.equal(layer(tokens, **more), theirs)


@pytest.mark.parametrize("name", LAYERS)
def test_the_kernels_are_asked_without_copies(name):
    layer, (tokens, more) = layer_of(name, BF16), inputs_of(name, BF16)
    kernels = FakeKernels()
    session = session_of("flash", kernels)
    theirs, ours = both(layer, session, tokens, **more)
    (asked,) = kernels.launches
    assert session.fallbacks == ()
    heads = layer.heads
    assert list(asked.q_stride)[1:] == [0 if heads == 1 else 8, heads * asked.head_dim]  # as a linear layer makes them
    torch.testing.assert_close(ours.float(), theirs.float(), rtol=0.05, atol=0.05)


KEPT = torch.tensor([[1, 1, 1, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1, 0]])


def test_a_mask_of_words_is_not_written_out():
    """As PixArt's transformer makes it of a tokenizer's: numbers that are added, one for each word."""
    layer, (tokens, more) = layer_of("to words", BF16), inputs_of("to words", BF16)
    kernels = FakeKernels()
    added = ((1 - KEPT.to(BF16)) * -10000.0)[:, None]
    theirs, ours = both(layer, session_of("flash", kernels), tokens, **more, attention_mask=added)
    torch.testing.assert_close(ours, theirs, rtol=0.05, atol=0.05)
    (asked,) = kernels.launches
    assert (asked.bias, list(asked.bias_stride)) == (added.data_ptr(), [7, 0, 0, 1])


def test_a_mask_of_truths_is_the_key_mask():
    layer, (tokens, more) = layer_of("to words", BF16), inputs_of("to words", BF16)
    kernels, mask = FakeKernels(), KEPT.bool()[:, None]
    theirs = layer(tokens, **more, attention_mask=((1 - KEPT.to(BF16)) * -10000.0)[:, None])
    with attending(session_of("flash", kernels), [layer]):
        ours = layer(tokens, **more, attention_mask=mask)
    torch.testing.assert_close(ours, theirs, rtol=0.05, atol=0.05)
    (asked,) = kernels.launches
    assert (asked.bias, asked.key_mask, asked.key_mask_stride) == (None, mask.data_ptr(), 7)


def test_lengths_take_the_place_of_the_mask():
    layer, (tokens, more) = layer_of("to words", BF16), inputs_of("to words", BF16)
    kernels, lengths = FakeKernels(), KEPT.sum(dim=1).int()
    added = ((1 - KEPT.to(BF16)) * -10000.0)[:, None]
    theirs, ours = both(
        layer, session_of("flash", kernels), tokens, **more, attention_mask=added, ours={"key_lengths": lengths}
    )
    torch.testing.assert_close(ours, theirs, rtol=0.05, atol=0.05)
    (asked,) = kernels.launches
    assert (asked.bias, asked.key_lengths) == (None, lengths.data_ptr())


def test_lengths_are_of_words_and_not_of_pixels():
    layer, (tokens, _) = layer_of("self-attention"), inputs_of("self-attention")
    theirs = layer(tokens)
    with attending(session_of("reference"), [layer]):
        torch.testing.assert_close(layer(tokens, key_lengths=torch.tensor([1, 2]).int()), theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape", [(1, 1, 7), (2, 1, 7), (2, 10, 7), (6, 1, 7), (6, 10, 7)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bool])
def test_every_shape_of_mask(shape, dtype):
    layer, (tokens, more) = layer_of("to words"), inputs_of("to words")
    mask = torch.rand(shape) < 0.6
    mask[..., 0] = True
    theirs_mask = torch.zeros(shape).masked_fill(~mask, -10000.0)
    theirs_mask = theirs_mask.expand(2, *shape[1:]) if shape[0] == 1 else theirs_mask
    theirs = layer(tokens, **more, attention_mask=theirs_mask)
    with attending(session_of("reference"), [layer]):
        ours = layer(tokens, **more, attention_mask=mask if dtype == torch.bool else theirs_mask)
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)


# ---- which layers, and for how long


class Network(torch.nn.Module):
    def __init__(self, **layers):
        super().__init__()
        self.layers = torch.nn.ModuleDict(layers)


def test_afterwards_every_layer_is_as_it_was():
    network = Network(one=layer_of("self-attention"), two=layer_of("to words"))
    before = [layer.processor for layer in network.layers.values()]
    with pytest.raises(KeyError), attending(session_of("reference"), [network, "no network"]):
        assert all(isinstance(layer.processor, SessionProcessor) for layer in network.layers.values())
        raise KeyError
    assert [layer.processor for layer in network.layers.values()] == before


def test_with_sdpa_nothing_is_touched():
    layer = layer_of("self-attention")
    before = layer.processor
    with attending(session_of("sdpa"), [layer]):
        assert layer.processor is before


def test_where_weights_rest_says_nothing_and_each_call_decides_by_its_queries():
    short, wide, other = layer_of("self-attention", BF16), layer_of("self-attention"), layer_of("self-attention", BF16)
    other.set_processor(AttnProcessor())
    kept = other.processor
    elsewhere = FakeKernels()
    elsewhere.device_type = "cuda"
    session = session_of("flash", elsewhere)
    x = torch.randn(1, 9, short.to_q.in_features)
    plain = short(x.to(BF16))
    with attending(session, [Network(short=short, wide=wide, other=other)]):
        assert isinstance(short.processor, SessionProcessor)
        assert isinstance(wide.processor, SessionProcessor)
        assert other.processor is kept
        assert torch.equal(short(x.to(BF16)), plain)
    assert (elsewhere.launches, session.calls, session.fallbacks) == ([], 0, ())
    here = session_of("flash", FakeKernels())
    with attending(here, [wide]):
        wide(x)
    assert [fallback.reason for fallback in here.fallbacks] == [
        "q is torch.float32; the kernels take torch.float16 and torch.bfloat16"
    ]


def test_layers_with_quantized_weights_attend_by_the_kernels():
    layer, kernels = layer_of("self-attention", BF16), FakeKernels()
    del layer.to_q.weight  # as a quantized layer has none
    layer.to_q.forward = layer.to_k.forward
    session = session_of("flash", kernels)
    with attending(session, [layer]):
        layer(torch.randn(1, 9, layer.to_k.in_features, dtype=BF16))
    assert session.calls == 1
