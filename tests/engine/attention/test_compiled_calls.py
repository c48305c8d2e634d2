"""Calls in one step from tensors to the library: as the others do it, or left to them."""

import threading

import pytest
import torch
from attention_questions import questions
from extension_build import build_extension
from fake_kernels import CalledKernels
from hypothesis import given

from mezzotint.attention.compiled import CompiledAttention
from mezzotint.attention.layout import output_strides
from mezzotint.attention.masks import Masks
from mezzotint.attention.reference import attention_reference
from mezzotint.dispatch.library import LaunchFailed, Unsupported

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

BF16 = torch.bfloat16


@pytest.fixture(autouse=True)
def without_gradients():
    with torch.inference_mode():
        yield


@pytest.fixture
def kernels():
    return CalledKernels(build_extension())


@pytest.fixture
def attend(kernels):
    return CompiledAttention(kernels)


def tokens_first(*size, dtype=BF16):
    batch, heads, tokens, head_dim = size
    return torch.randn(batch, tokens, heads, head_dim).to(dtype).transpose(1, 2)


@given(questions(dtypes=(torch.float16, BF16), head_dims=(8, 16), aligned=True))
def test_every_layout_and_mask_reaches_the_library_as_it_is(question):
    with torch.inference_mode():
        kernels = CalledKernels(build_extension())
        attend = CompiledAttention(kernels)
        exact = attention_reference(*question)[0]
        for _ in range(3):
            out, lse = attend(*question)
            assert torch.equal(out, exact)
            assert out.stride() == output_strides(question[0])
            assert lse is None
        assert len(kernels.launches) == 3


def test_what_was_asked_before_takes_one_step(attend, kernels):
    for _ in range(3):
        q, k = tokens_first(2, 4, 5, 16), tokens_first(2, 2, 7, 16)
        assert torch.equal(attend(q, k, k)[0], attention_reference(q, k, k)[0])
    assert (kernels.prepared, len(kernels.launches)) == (1, 3)


@pytest.mark.parametrize(
    "other",
    [
        {"q": tokens_first(2, 4, 6, 16)},
        {"q": torch.randn(2, 4, 5, 16).to(BF16)},
        {"q": tokens_first(2, 4, 5, 32)[..., :16]},
        {"scale": 0.5},
        {"int8": True},
        {"masks": Masks(causal=True)},
        {"masks": Masks(key_mask=torch.ones(2, 7, dtype=torch.bool))},
        {"masks": Masks(key_lengths=torch.tensor([1, 7]).int())},
        {"masks": Masks(bias=torch.randn(1, 1, 5, 7))},
        {"masks": Masks(bias=torch.randn(1, 1, 5, 7).to(BF16))},
    ],
    ids=["tokens", "layout", "rows", "scale", "int8", "causal", "key mask", "key lengths", "bias", "bias in 16 bits"],
)
def test_another_kind_is_another_kind(attend, kernels, other):
    k = tokens_first(2, 2, 7, 16)
    plain = {"q": tokens_first(2, 4, 5, 16), "masks": Masks(), "scale": None, "int8": False}
    for question in (plain, plain | other) * 2:
        options = dict(question)
        q, masks, scale = options.pop("q"), options.pop("masks"), options.pop("scale")
        assert torch.equal(attend(q, k, k, masks, scale, **options)[0], attention_reference(q, k, k, masks, scale)[0])
    assert (kernels.prepared, len(kernels.launches)) == (2, 4)


def test_an_address_between_rows_is_another_kind(attend):
    memory = torch.randn(8 + 3 * 16).to(BF16)
    q = memory[:48].view(1, 1, 3, 16)
    for _ in range(2):
        attend(q, q, q)
    past = memory[4:52].view(1, 1, 3, 16)
    with pytest.raises(Unsupported, match="misaligned by 8 bytes"):
        attend(past, past, past)


def test_gradients_are_refused_whatever_was_asked_before(attend):
    with torch.inference_mode(mode=False):
        q = tokens_first(1, 2, 4, 16)
        with torch.no_grad():
            attend(q, q, q)
        with pytest.raises(Unsupported, match="gradients"):
            attend(q.requires_grad_(), q, q)


def test_mistakes_are_told_with_argument_and_value(attend):
    q = tokens_first(1, 2, 4, 16)
    attend(q, q, q)
    with pytest.raises(TypeError, match=r"k is torch\.float16"):
        attend(q, q.half(), q)
    with pytest.raises(ValueError, match="scale is nan"):
        attend(q, q, q, scale=float("nan"))


def test_a_tensor_of_another_class_goes_the_longer_way(attend, kernels):
    """It may be no memory at all."""
    q = tokens_first(1, 2, 4, 16)
    attend(q, q, q)
    attend(torch.nn.Parameter(q, requires_grad=False), q, q)
    assert kernels.prepared == 2


def test_what_the_library_refuses_goes_the_longer_way_which_tells_why(attend, kernels):
    q = tokens_first(1, 2, 4, 16)
    attend(q, q, q)
    kernels.status = 7
    assert torch.equal(attend(q, q, q)[0], attention_reference(q, q, q)[0])
    assert kernels.prepared == 2
    kernels.fault = "launch"
    with pytest.raises(LaunchFailed, match="the launch failed"):
        attend(q, q, q)


def test_logarithms_and_workspaces_take_the_longer_way(attend, kernels):
    q = tokens_first(1, 2, 4, 16)
    attend(q, q, q)
    attend(q, q, q, with_lse=True)
    assert kernels.prepared == 2
    kernels.workspace = 96
    for _ in range(2):
        attend(q, q, q, int8=True)
    assert kernels.prepared == 4


def test_without_queries_or_keys_nothing_is_launched(attend, kernels):
    q = tokens_first(1, 2, 4, 16)
    for _ in range(2):
        assert attend(q[:, :, :0], q, q)[0].shape == (1, 2, 0, 16)
        assert not attend(q, q[:, :, :0], q[:, :, :0])[0].any()
    assert not kernels.launches


def test_threads_may_attend_at_once(attend):
    wrong = []

    def work(tokens):
        with torch.inference_mode():
            for _ in range(20):
                q = tokens_first(1, 2, tokens, 16)
                if not torch.equal(attend(q, q, q)[0], attention_reference(q, q, q)[0]):
                    wrong.append(tokens)

    threads = [threading.Thread(target=work, args=(tokens,)) for tokens in (3, 4, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
