"""Attention that autograd records: what the kernels do, what is refused beforehand, what happens when they fail."""

import pytest
import torch
from attention_questions import questions
from fake_backward import FakeBackward
from fake_kernels import FakeKernels
from hypothesis import given
from torch.utils.checkpoint import checkpoint

from mezzotint.attention import backward
from mezzotint.attention.compiled import CompiledAttention
from mezzotint.attention.compiled_backward import CompiledBackward
from mezzotint.attention.differentiable import attention_with_gradients, wants_gradients
from mezzotint.attention.masks import NO_MASKS, Masks
from mezzotint.attention.reference import attention_gradients, attention_reference
from mezzotint.dispatch.library import Unsupported
from mezzotint.dispatch.self_test import SelfTest

BF16 = torch.bfloat16
WRONG = SelfTest(passed=(), unsupported=(), problem="the self-test failed")


def tensors():
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(1, 2, 5, 16, generator=generator).to(BF16).requires_grad_() for _ in range(3)]


def test_forward_and_backward_are_by_the_kernels(install_backward):
    """Whatever layout and masks a call has."""
    library, forward = install_backward(FakeBackward()), FakeKernels()

    @given(questions(dtypes=(torch.float16, BF16), head_dims=(8, 16), aligned=True))
    def holds(question):
        q, k, v, masks, scale = question
        q, k, v = (each.detach().requires_grad_() for each in (q, k, v))
        masks = Masks(key_mask=masks.key_mask, key_lengths=masks.key_lengths, causal=masks.causal)
        before = len(library.launches), len(forward.launches)
        out = attention_with_gradients(CompiledAttention(forward), q, k, v, masks, scale)
        gradient = torch.randn_like(q)
        found = torch.autograd.grad(out, (q, k, v), gradient)
        scale = q.shape[-1] ** -0.5 if scale is None else scale
        with torch.no_grad():
            assert torch.equal(out, attention_reference(q, k, v, masks, scale)[0])
            exact = attention_gradients(gradient, None, q, k, v, masks, scale)[:3]
        for ours, right in zip(found, exact, strict=True):
            torch.testing.assert_close(ours, right)
        assert (len(library.launches), len(forward.launches)) == (before[0] + 1, before[1] + 1)

    holds()


def test_in_a_checkpoint_the_forward_runs_twice(install_backward):
    library, forward = install_backward(FakeBackward()), FakeKernels()
    kernels, (q, k, v) = CompiledAttention(forward), tensors()

    def attend(q, k, v):
        return attention_with_gradients(kernels, q, k, v, NO_MASKS, None)

    out = checkpoint(attend, q, k, v, use_reentrant=False)
    out.sum().backward()
    assert (len(forward.launches), len(library.launches)) == (2, 1)


@pytest.mark.parametrize(
    ("fault", "outcome", "masks", "reason"),
    [
        ("unsupported", None, NO_MASKS, "no kernel for head_dim 16"),
        (None, WRONG, NO_MASKS, "gradients are wanted: the self-test failed"),
        (None, None, Masks(bias=torch.zeros(1, 1, 1, 5)), "there is a bias"),
    ],
)
def test_what_has_no_gradients_by_kernels_is_refused_before_the_forward(
    install_backward, fault, outcome, masks, reason
):
    install_backward(FakeBackward(fault), *([] if outcome is None else [outcome]))
    forward, (q, k, v) = FakeKernels(), tensors()
    with pytest.raises(Unsupported, match=reason):
        attention_with_gradients(CompiledAttention(forward), q, k, v, masks, None)
    assert forward.launches == []


def test_without_a_gpu_it_says_so():
    kernels, (q, k, v) = CompiledAttention(FakeKernels()), tensors()
    with pytest.raises(Unsupported, match="gradients are wanted: the device is cpu"):
        attention_with_gradients(kernels, q, k, v, NO_MASKS, None)


def test_after_a_failed_backward_the_kernels_are_given_up(install_backward):
    """That call is computed in plain torch; the next is refused."""
    library = install_backward(FakeBackward("launch"))
    kernels, (q, k, v) = CompiledAttention(FakeKernels()), tensors()
    out = attention_with_gradients(kernels, q, k, v, NO_MASKS, None)
    found = torch.autograd.grad(out.sum(), (q, k, v))
    exact = attention_gradients(torch.ones_like(q), None, q, k, v, NO_MASKS, 0.25)[:3]
    assert all(torch.equal(ours, right) for ours, right in zip(found, exact, strict=True))
    with pytest.raises(Unsupported, match="the launch failed"):
        attention_with_gradients(kernels, q, k, v, NO_MASKS, None)
    assert len(library.launches) == 1


def test_a_failed_self_test_is_no_reason_to_run_it_again(monkeypatch):
    library = FakeBackward("wrong")
    monkeypatch.setattr(backward, "open_installed", lambda: library)
    monkeypatch.setattr(backward, "runs_kernels", lambda *_: True)
    backend = backward.backward_backend.__wrapped__()
    monkeypatch.setattr(backward, "backward_backend", lambda: backend)
    kernels, (q, k, v) = CompiledAttention(FakeKernels()), tensors()
    for _ in range(2):
        with pytest.raises(Unsupported, match="the self-test failed"):
            attention_with_gradients(kernels, q, k, v, NO_MASKS, None)
    assert len(library.launches) == 1


def test_a_gradient_can_be_checked_before_it_is_wanted():
    kernels, (q, k, v) = CompiledBackward(FakeBackward()), tensors()
    kernels.check(q, k, v, NO_MASKS, 0.25)
    kernels.check(q, k[:, :, :0], v[:, :, :0], NO_MASKS, 0.25)
    with pytest.raises(Unsupported, match=r"torch\.float32"):
        kernels.check(q.float(), k.float(), v.float(), NO_MASKS, 0.25)


def test_when_gradients_are_wanted():
    wanting, other = torch.ones(1, requires_grad=True), torch.ones(1)
    assert wants_gradients(other, None, wanting)
    assert not wants_gradients(other, None)
    with torch.no_grad():
        assert not wants_gradients(wanting)
