"""Linear attention is attention by the explicit matrix of its weights, in linear time."""

import math

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from mezzotint.attention.linear.features import Efficient, Elu, PositiveRandom, RandomFourier, Relu
from mezzotint.attention.linear.operation import linear_attention
from mezzotint.attention.linear.projections import orthogonal_projections
from mezzotint.attention.linear.reference import linear_reference
from mezzotint.attention.masks import Masks

HEAD_DIM = 6
PROJECTION = orthogonal_projections(1, 10, HEAD_DIM, seed=3)
FEATURES = {
    "efficient": Efficient(),
    "linear": Elu(),
    "relu": Relu(),
    "performer": PositiveRandom(PROJECTION, HEAD_DIM**-0.5),
    "rfa": RandomFourier(PROJECTION, torch.linspace(0.4, 0.8, HEAD_DIM).view(1, 1, HEAD_DIM)),
    "rfa by head": RandomFourier(
        orthogonal_projections(4, 5, HEAD_DIM, seed=1), torch.linspace(0.1, 0.9, 24).view(4, 1, 6)
    ),
}
LENGTHS = Masks(key_lengths=torch.tensor([9, 0], dtype=torch.int32))
MASKS = {
    "none": Masks(),
    "lengths": LENGTHS,
    "mask": Masks(key_mask=torch.arange(21)[None] % 3 != 1),
    "both": Masks(key_mask=torch.arange(42).view(2, 21) % 4 != 1, key_lengths=torch.tensor([21, 10]).int()),
}
every_kind = pytest.mark.parametrize("features", FEATURES.values(), ids=FEATURES)


def tensors(nq=17, nk=21, *, heads=4, kv_heads=4, dtype=torch.float64, batch=2):
    generator = torch.Generator().manual_seed(7)
    shapes = ((batch, heads, nq, HEAD_DIM), (batch, kv_heads, nk, HEAD_DIM), (batch, kv_heads, nk, HEAD_DIM))
    return [torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype) for shape in shapes]


@pytest.mark.parametrize("masks", MASKS.values(), ids=MASKS)
@every_kind
def test_it_is_the_explicit_matrix(features, masks):
    q, k, v = tensors()
    wanted = linear_reference(q, k, v, features, masks)
    torch.testing.assert_close(linear_attention(q, k, v, features, masks, chunk=8), wanted, atol=1e-12, rtol=1e-12)
    q, k, v = (each.float() for each in (q, k, v))
    out = linear_attention(q, k, v, features, masks)
    assert out.dtype is torch.float32
    torch.testing.assert_close(out.double(), wanted, atol=2e-5, rtol=1e-4)


@every_kind
def test_sixteen_bits_are_summed_in_32(features):
    q, k, v = tensors(nk=600, dtype=torch.bfloat16)
    out = linear_attention(q, k, v, features)
    assert out.dtype is torch.bfloat16
    torch.testing.assert_close(out.double(), linear_reference(q, k, v, features), atol=1e-3, rtol=8e-3)


@every_kind
def test_autocast_does_not_round_sums(features):
    q, k, v = tensors(dtype=torch.float32)
    wanted = linear_attention(q, k, v, features)
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(linear_attention(q, k, v, features), wanted)


@every_kind
def test_shapes_are_known_without_values(features):
    q, k, v = (each.to("meta") for each in tensors())
    assert linear_attention(q, k, v, features).shape == q.shape


@pytest.mark.parametrize("name", ["efficient", "linear", "relu", "performer", "rfa"])
def test_heads_may_share_keys(name):
    q, k, v = tensors(kv_heads=2)
    wanted = linear_reference(q, k, v, FEATURES[name])
    torch.testing.assert_close(linear_attention(q, k, v, FEATURES[name]), wanted, atol=1e-12, rtol=1e-12)


@every_kind
def test_chunks_change_only_rounding(features):
    q, k, v = tensors(dtype=torch.float32)
    whole, *others = (linear_attention(q, k, v, features, chunk=chunk) for chunk in (64, 1, 5, 21))
    for other in others:
        torch.testing.assert_close(other, whole, atol=1e-5, rtol=1e-5)


@every_kind
def test_hidden_keys_change_no_bit(features):
    """Neither their number, nor what they are."""
    q, k, v = tensors(dtype=torch.float32)
    lengths = Masks(key_lengths=torch.tensor([21, 12]).int())
    wanted = linear_attention(q, k, v, features, lengths, chunk=8)
    more_k, more_v = (torch.nn.functional.pad(each, (0, 0, 0, 30), value=math.nan) for each in (k, v))
    more_k[1, :, 12:] = math.inf
    assert torch.equal(linear_attention(q, more_k, more_v, features, lengths, chunk=8), wanted)


@every_kind
def test_a_visible_nan_is_not_concealed(features):
    q, k, v = tensors()
    k[0, 1, 3, 2] = math.nan
    out = linear_attention(q, k, v, features)
    assert out[0, 1].isnan().any() and out[1].isfinite().all() and out[0, [0, 2, 3]].isfinite().all()


@every_kind
def test_without_visible_keys_there_is_0(features):
    q, k, v = tensors()
    q.requires_grad_()
    k.requires_grad_()
    out = linear_attention(q, k, v, features, LENGTHS)
    assert (out[1] == 0).all() and out[0].abs().sum() > 0
    assert all(each.isfinite().all() for each in torch.autograd.grad(out.sum(), (q, k)))
    assert (linear_attention(q, k[:, :, :0], v[:, :, :0], features) == 0).all()
    assert linear_attention(q[:, :, :0], k, v, features).shape == (2, 4, 0, HEAD_DIM)


def test_queries_without_any_weight_get_0():
    q, k, v = tensors()
    assert (linear_attention(-q.abs(), k, v, Relu()) == 0).all()


@every_kind
def test_zeros_have_features(features):
    q, k, v = tensors()
    assert linear_attention(q * 0, k * 0, v, features).isfinite().all()


@pytest.mark.slow_after(3)
@every_kind
def test_gradients(features):
    q, k, v = (each.requires_grad_() for each in tensors(nq=3, nk=5, batch=1))
    masks = Masks(key_mask=torch.tensor([[True, True, False, True, True]]))
    assert torch.autograd.gradcheck(lambda q, k, v: linear_attention(q, k, v, features, masks, chunk=2), (q, k, v))


def test_gradients_of_the_widths():
    q, k, v = tensors(nq=3, nk=5, batch=1)
    sigma = torch.full((1, 1, HEAD_DIM), 0.7, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda each: linear_attention(q, k, v, RandomFourier(PROJECTION, each)), sigma)


@every_kind
def test_twice_the_tokens_are_twice_the_work(features):
    counts = []
    for tokens in (512, 1024):
        q, k, v = tensors(tokens, tokens)
        with FlopCounterMode(display=False) as counter:
            linear_attention(q, k, v, features)
        counts.append(counter.get_total_flops())
    assert counts[1] == 2 * counts[0] > 0


@pytest.mark.parametrize("masks", [Masks(causal=True), Masks(bias=torch.zeros(1, 1, 1, 1))])
def test_masks_of_scores_are_refused(masks):
    q, k, v = tensors()
    with pytest.raises(ValueError, match="linear attention takes key_mask and key_lengths alone"):
        linear_attention(q, k, v, Elu(), masks)
