"""Linear attention by kernels: what they are told, and what they do not take."""

import pytest
import torch
from emulated_linear_attention import EmulatedLinearAttentionLibrary
from emulator_build import LEFT_OUT, build
from fake_linear_attention import FakeLinearAttention

from mezzotint.attention.linear.compiled import CompiledLinearAttention
from mezzotint.attention.linear.features import Efficient, Elu, KernelMap, PositiveRandom, RandomFourier, Relu
from mezzotint.attention.linear.projections import orthogonal_projections
from mezzotint.attention.linear.reference import linear_reference
from mezzotint.attention.linear.self_test import run_linear_self_test
from mezzotint.attention.masks import Masks
from mezzotint.dispatch.library import Unsupported
from mezzotint_kernels.linear_attention_abi import FeatureMap

HEAD_DIM = 16
PROJECTION = orthogonal_projections(1, 24, HEAD_DIM, seed=3)
FEATURES = {
    "efficient": Efficient(),
    "linear": Elu(),
    "relu": Relu(),
    "performer": PositiveRandom(PROJECTION, HEAD_DIM**-0.5),
    "rfa": RandomFourier(PROJECTION, torch.full((1, 1, HEAD_DIM), 0.4)),
}
MASKS = {
    "none": Masks(),
    "lengths": Masks(key_lengths=torch.tensor([9, 0], dtype=torch.int32)),
    "mask": Masks(key_mask=torch.arange(21)[None] % 3 != 1),
    "both": Masks(key_mask=torch.arange(42).view(2, 21) % 4 != 1, key_lengths=torch.tensor([21, 10]).int()),
}


def tensors(nq=17, nk=21, *, heads=4, kv_heads=4, dtype=torch.float16, head_dim=HEAD_DIM):
    generator = torch.Generator().manual_seed(7)
    shapes = ((2, nq, heads, head_dim), (2, nk, kv_heads, head_dim), (2, nk, kv_heads, head_dim))
    return [torch.randn(shape, generator=generator).to(dtype).transpose(1, 2) for shape in shapes]


@pytest.mark.parametrize("masks", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("features", FEATURES.values(), ids=FEATURES)
def test_it_is_the_explicit_matrix(features, masks):
    q, k, v = tensors(heads=4, kv_heads=2)
    library = FakeLinearAttention()
    out = CompiledLinearAttention(library)(q, k, v, features, masks)
    assert (out.dtype, out.stride()) == (q.dtype, q.stride())
    torch.testing.assert_close(out.double(), linear_reference(q, k, v, features, masks), atol=2e-3, rtol=2e-3)
    assert len(library.launches) == 1


def test_hidden_keys_go_nowhere():
    kernels, masks = CompiledLinearAttention(FakeLinearAttention()), MASKS["both"]
    for features in FEATURES.values():
        q, k, v = tensors()
        wanted = kernels(q, k, v, features, masks)
        k[1, :, 10:] = v[1, :, 10:] = float("nan")
        assert torch.equal(kernels(q, k, v, features, masks), wanted)


def test_calls_of_a_kind_are_planned_once():
    library = FakeLinearAttention()
    kernels = CompiledLinearAttention(library)
    for features, nk in ((Relu(), 21), (Relu(), 21), (Elu(), 21), (Relu(epsilon=1.0), 21), (Relu(), 22)):
        q, k, v = tensors(nk=nk)
        kernels(q, k, v, features)
    assert (len(library.plans), len(library.launches)) == (4, 5)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"dtype": torch.float32}, "q is torch.float32"),
        ({"head_dim": 12}, "need multiples of 8"),
    ],
)
def test_what_kernels_do_not_take(changes, said):
    library, (q, k, v) = FakeLinearAttention(), tensors(**changes)
    with pytest.raises(Unsupported, match=said):
        CompiledLinearAttention(library)(q, k, v, Relu())
    assert library.launches == []


def test_features_that_are_no_multiple_of_8():
    features, (q, k, v) = PositiveRandom(PROJECTION[:, :20], 1.0), tensors()
    with pytest.raises(Unsupported, match="multiples of 8"):
        CompiledLinearAttention(FakeLinearAttention())(q, k, v, features)


def test_what_has_no_kernel_is_asked_for_once():
    library = FakeLinearAttention("unsupported")
    kernels, (q, k, v) = CompiledLinearAttention(library), tensors()
    for _ in range(2):
        with pytest.raises(Unsupported, match="no kernel for head_dim 16"):
            kernels(q, k, v, Relu())
    assert len(library.plans) == 1


def test_gradients_are_left_to_torch():
    kernels, (q, k, v) = CompiledLinearAttention(FakeLinearAttention()), tensors()
    with pytest.raises(Unsupported, match="gradients are wanted"):
        kernels(q.requires_grad_(), k, v, Relu())
    sigma = torch.full((1, 1, HEAD_DIM), 0.4, requires_grad=True)
    with pytest.raises(Unsupported, match="gradients of the features"):
        kernels(q.detach(), k, v, RandomFourier(PROJECTION, sigma))
    with torch.no_grad():
        assert kernels(q, k, v, RandomFourier(PROJECTION, sigma)).shape == q.shape


def test_without_tokens_nothing_is_launched():
    library = FakeLinearAttention()
    kernels, (q, k, v) = CompiledLinearAttention(library), tensors()
    assert (kernels(q, k[:, :, :0], v[:, :, :0], Relu()) == 0).all()
    assert kernels(q[:, :, :0], k, v, Relu()).shape == (2, 4, 0, HEAD_DIM)
    assert library.launches == []


def test_masks_that_depend_on_queries_are_refused():
    kernels, (q, k, v) = CompiledLinearAttention(FakeLinearAttention()), tensors()
    with pytest.raises(ValueError, match="linear attention takes key_mask and key_lengths alone"):
        kernels(q, k, v, Relu(), Masks(causal=True))


def test_maps_have_the_numbers_of_the_library():
    assert {each.name: each.value for each in KernelMap} == {each.name: each.value for each in FeatureMap}


@pytest.mark.requires_command("g++", "sudo apt-get install g++")
def test_the_kernels_pass_the_self_test_on_the_emulator():
    library = EmulatedLinearAttentionLibrary(build(left_out=LEFT_OUT))
    test = run_linear_self_test(CompiledLinearAttention(library), torch.device("cpu"), torch.bfloat16)
    assert (test.problem, len(test.passed), library.launches) == (None, 6, 6)
