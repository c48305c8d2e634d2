"""Linear attention is by kernels where they can, and by torch elsewhere."""

import pytest
import torch
from fake_linear_attention import FakeLinearAttention, fake_linear_backend

from mezzotint.attention.linear import kernels
from mezzotint.attention.linear.features import Relu
from mezzotint.attention.linear.operation import linear_attention

CASES = 6  # of the self-test, which launches each once


@pytest.fixture
def install(monkeypatch):
    """Install a library on the CPU."""

    def installed(library):
        backend = fake_linear_backend(library)
        monkeypatch.setattr(kernels, "linear_backend", lambda: backend)
        return library

    return installed


def tensors(dtype=torch.bfloat16, head_dim=16):
    generator = torch.Generator().manual_seed(7)
    return [torch.randn(1, 2, 30, head_dim, generator=generator).to(dtype) for _ in range(3)]


def test_kernels_compute_it_once_they_passed_their_test(install):
    library = install(FakeLinearAttention())
    q, k, v = tensors()
    plain = linear_attention(q.float(), k.float(), v.float(), Relu())
    assert library.launches == []
    out = linear_attention(q, k, v, Relu())
    assert out.dtype is torch.bfloat16
    torch.testing.assert_close(out.float(), plain, atol=4e-3, rtol=8e-3)
    assert len(library.launches) == CASES + 1
    linear_attention(q, k, v, Relu())
    assert len(library.launches) == CASES + 2


def test_a_job_counts_its_calls_and_tells_once_why_torch_did_the_rest(install):
    library, told = install(FakeLinearAttention("launch", after=CASES + 2)), []
    job = kernels.LinearAttentionCalls(lambda *words: told.append(words))
    (q, k, v), narrow = tensors(), tensors(head_dim=12)[0]
    linear_attention(q, k, v, Relu())
    with job.counting():
        linear_attention(q, k, v, Relu())
        linear_attention(narrow, narrow, narrow, Relu())
        assert (job.calls, [each.calls for each in job.fallbacks]) == (1, [1])
        for _ in range(3):
            linear_attention(q, k, v, Relu())
    linear_attention(q, k, v, Relu())
    assert job.calls == 1 and len(library.launches) == CASES + 3
    assert [(each.reason, each.calls) for each in job.fallbacks[1:]] == [("the launch failed", 1)]
    assert [code for code, _ in told] == ["attention_fell_back"] * 2


def test_what_fails_its_test_is_told_to_the_job(install):
    install(FakeLinearAttention("nan"))
    job = kernels.LinearAttentionCalls(lambda *_: None)
    q, k, v = tensors()
    with job.counting():
        for _ in range(2):
            linear_attention(q, k, v, Relu())
    (fallback,) = job.fallbacks
    assert (job.calls, fallback.calls) == (0, 0) and "contains NaN" in fallback.reason


@pytest.mark.parametrize("fault", ["wrong", "nan"])
def test_torch_computes_it_if_they_do_not(install, fault):
    library = install(FakeLinearAttention(fault))
    q, k, v = tensors()
    wanted = linear_attention(q.float(), k.float(), v.float(), Relu())
    torch.testing.assert_close(linear_attention(q, k, v, Relu()).float(), wanted, atol=4e-3, rtol=8e-3)
    assert len(library.launches) == 1


def test_a_launch_that_fails_is_the_last(install):
    library = install(FakeLinearAttention("launch", after=CASES))
    q, k, v = tensors()
    for _ in range(2):
        assert linear_attention(q, k, v, Relu()).isfinite().all()
    assert len(library.launches) == CASES + 1


def test_torch_computes_what_has_no_kernel(install):
    library = install(FakeLinearAttention())
    q, k, v = tensors()
    linear_attention(q, k, v, Relu())
    before = len(library.launches)
    narrow = tensors(head_dim=12)
    linear_attention(narrow[0], narrow[1], narrow[2], Relu())
    linear_attention(q.requires_grad_(), k, v, Relu()).sum().backward()
    assert len(library.launches) == before and q.grad.isfinite().all()


def test_compiled_code_is_torch_s(install, monkeypatch):
    library = install(FakeLinearAttention())
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    q, k, v = tensors()
    linear_attention(q, k, v, Relu())
    assert library.launches == []


def test_this_machine():
    backend = kernels.linear_backend()
    assert backend.missing("cpu", "bfloat16") == "the device is cpu"
    assert backend.usable("cpu", "bfloat16") == (None, None)
