"""Calls by the extension (extension/attention_calls.cpp): the real API, a stand-in for CUDA, tensors of torch."""

import gc
import shutil
import sys
import weakref

import pytest
import torch
from extension_build import build_extension

from mezzotint_kernels import AttentionArgs, Dtype, attention_calls
from mezzotint_kernels.attention import CALLS_FILE

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

NOTHING = (None, None, None)


@pytest.fixture
def beside(stand_in_path):
    """The extension, where it is looked for."""
    return shutil.copyfile(build_extension(), stand_in_path.with_name(CALLS_FILE))


@pytest.fixture
def calls(in_use, beside):
    return attention_calls(torch.Tensor, torch.empty_like)


@pytest.fixture
def q():
    return torch.zeros(2, 4, 6, 16, dtype=torch.float16)


def arguments_for(q):
    batch, heads, tokens, head_dim = q.shape
    strides = q.stride()[:3]
    return AttentionArgs(
        dtype=Dtype.FLOAT16,
        scale=0.25,
        batch=batch,
        heads=heads,
        kv_heads=heads,
        nq=tokens,
        nk=tokens,
        head_dim=head_dim,
        **dict.fromkeys(("q_stride", "k_stride", "v_stride", "out_stride"), strides),
    )


def test_what_is_remembered_is_queued(calls, in_use, q):
    assert calls.attend(q, q, q, *NOTHING, None, 0) is None
    calls.remember(q, q, q, *NOTHING, None, 0, bytes(arguments_for(q)))
    out = calls.attend(q, q, q, *NOTHING, None, 0)
    assert (out.shape, out.stride(), out.dtype) == (q.shape, q.stride(), q.dtype)
    assert calls.attend(q, q, q, *NOTHING, None, 1) is None
    assert calls.attend(q, q, q, *NOTHING, 0.0, 0) is None
    assert (in_use.launches, in_use.nq, in_use.stream) == (1, 6, None)


def test_what_the_library_refuses_gives_nothing(calls, in_use, q):
    calls.remember(q, q, q, *NOTHING, None, 0, bytes(arguments_for(q)))
    in_use.current_device = 1
    assert calls.attend(q, q, q, *NOTHING, None, 0) is None
    assert in_use.launches == 0


def test_an_output_that_lies_otherwise_is_not_written(in_use, beside, q):
    asked = arguments_for(q)
    for wrong in (lambda q: q.transpose(1, 2), lambda q: q.float(), lambda q: q[:1], lambda _: None):
        calls = attention_calls(torch.Tensor, wrong)
        calls.remember(q, q, q, *NOTHING, None, 0, bytes(asked))
        assert calls.attend(q, q, q, *NOTHING, None, 0) is None
    assert in_use.launches == 0


def test_that_there_is_no_memory_is_told(in_use, beside, q):
    def empty_like(_):
        raise torch.OutOfMemoryError("none left")

    calls = attention_calls(torch.Tensor, empty_like)
    calls.remember(q, q, q, *NOTHING, None, 0, bytes(arguments_for(q)))
    with pytest.raises(torch.OutOfMemoryError, match="none left"):
        calls.attend(q, q, q, *NOTHING, None, 0)


@pytest.mark.parametrize(
    "wrong", [None, 3, "q", torch.Size([2]), torch.zeros(1, device="meta"), torch.zeros(1, 2, 3, 4, 5)]
)
def test_what_is_no_tensor_of_memory_is_left_to_the_caller(calls, q, wrong):
    calls.remember(q, q, q, *NOTHING, None, 0, bytes(arguments_for(q)))
    for place in range(3):
        given = [q, q, q]
        given[place] = wrong
        assert calls.attend(*given, *NOTHING, None, 0) is None
    assert calls.attend(q, q, q, *NOTHING, "scale", 0) is None
    assert calls.attend(q, q, q, *NOTHING, None, 1 << 80) is None


def test_wrong_arguments_are_errors(calls, q):
    with pytest.raises(TypeError, match="attend takes 8 arguments, and got 1"):
        calls.attend(q)
    with pytest.raises(TypeError, match="remember takes 9 arguments, and got 2"):
        calls.remember(q, q)
    with pytest.raises(ValueError, match="the arguments have 3 bytes, and MztAttentionArgs has"):
        calls.remember(q, q, q, *NOTHING, None, 0, b"abc")
    with pytest.raises(TypeError, match="str"):
        calls.remember(q, q, q, *NOTHING, None, 0, "abc")


def test_nothing_is_kept_of_a_call(calls, q):
    calls.remember(q, q, q, *NOTHING, None, 0, bytes(arguments_for(q)))
    before = sys.getrefcount(q), sys.getrefcount(None)
    for _ in range(1000):
        out = weakref.ref(calls.attend(q, q, q, *NOTHING, None, 0))
        assert out() is None
        calls.attend(q, q, None, *NOTHING, None, 0)
    gc.collect()
    assert sys.getrefcount(q) == before[0]
    assert abs(sys.getrefcount(None) - before[1]) < 500


def test_without_the_extension_or_with_other_tensors_there_are_no_such_calls(in_use, beside, tmp_path):
    assert attention_calls(dict, dict) is None
    assert attention_calls(torch.Tensor, torch.empty_like, file=tmp_path / "missing.so") is None
    damaged = tmp_path / "damaged.abi3.so"
    damaged.write_bytes(b"no library")
    assert attention_calls(torch.Tensor, torch.empty_like, file=damaged) is None
