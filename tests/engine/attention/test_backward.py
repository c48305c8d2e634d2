"""Gradients of the declared operation by the backward kernels, stood in for and on the emulator, or in plain torch."""

from functools import partial

import pytest
import torch
from backward_installed import PASSED
from emulated_backward import EmulatedBackwardLibrary
from emulator_build import LEFT_OUT, build
from fake_backward import FakeBackward
from fake_kernels import FakeKernels

from mezzotint.attention import backward
from mezzotint.attention.compiled_backward import Attended, CompiledBackward
from mezzotint.attention.masks import NO_MASKS, Masks
from mezzotint.attention.operation import attention
from mezzotint.attention.reference import attention_gradients, attention_reference
from mezzotint.attention.self_test import CASES, GROUPED, run_backward_self_test
from mezzotint.dispatch.self_test import SelfTest

CPU = torch.device("cpu")


@pytest.fixture
def use(install_backward):
    """Install a library for the backward pass beside a stand-in for the forward."""
    return partial(install_backward, forward=FakeKernels())


def inputs(nq=5, nk=7, head_dim=8, dtype=torch.bfloat16):
    generator = torch.Generator().manual_seed(2)
    return [
        torch.randn(1, heads, tokens, head_dim, generator=generator).to(dtype).requires_grad_()
        for heads, tokens in ((4, nq), (2, nk), (2, nk))
    ]


def derived(masks=NO_MASKS, implementation="flash", **sizes):
    """Gradients through the operation, and those of plain torch."""
    q, k, v = tensors = inputs(**sizes)
    out = attention(q, k, v, masks, implementation=implementation)
    gradient = torch.randn(out.shape, generator=torch.Generator().manual_seed(3)).to(out.dtype)
    q, k, v = (each.detach() for each in tensors)
    exact = attention_gradients(gradient, None, q, k, v, masks, q.shape[-1] ** -0.5)[:3]
    return torch.autograd.grad(out, tensors, gradient), exact


def test_the_operation_s_gradients_come_from_the_kernels(use):
    library = use(FakeBackward())
    found, exact = derived(Masks(causal=True))
    assert len(library.launches) == 1 and library.launches[0].flags == 1
    for ours, right in zip(found, exact, strict=True):
        torch.testing.assert_close(ours, right)


@pytest.mark.requires_command("g++", "sudo apt-get install g++")
def test_the_kernels_themselves_give_them(use):
    """On the emulator, planned as for a card of 99 kB; the same bits each time."""
    library = use(EmulatedBackwardLibrary(build(left_out=LEFT_OUT)))
    found, exact = derived(Masks(causal=True), nq=40, nk=70, head_dim=64)
    again, _ = derived(Masks(causal=True), nq=40, nk=70, head_dim=64)
    assert library.launches == 2
    for ours, right, other in zip(found, exact, again, strict=True):
        torch.testing.assert_close(ours, right, atol=0.02, rtol=0.02)
        assert torch.equal(ours, other)


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        ("unsupported", PASSED),
        ("launch", PASSED),
        (None, SelfTest(passed=(), unsupported=(), problem="wrong")),
        (None, SelfTest(passed=(), unsupported=("all",), problem="none here", has_no_kernels=True)),
    ],
)
def test_what_the_kernels_do_not_do_plain_torch_does(use, fault, outcome):
    library = use(FakeBackward(fault), outcome)
    found, exact = derived()
    assert len(library.launches) == (fault == "launch")
    for ours, right in zip(found, exact, strict=True):
        assert torch.equal(ours, right)


@pytest.mark.parametrize("implementation", ["sdpa", "reference", "int8"])
def test_other_implementations_have_plain_gradients(use, implementation):
    library = use(FakeBackward())
    found, exact = derived(implementation=implementation)
    assert library.launches == []
    for ours, right in zip(found, exact, strict=True):
        assert torch.equal(ours, right)


def test_what_was_declared_without_the_sums_computes_them_for_the_kernels(use):
    library, forward = FakeBackward(), FakeKernels()
    use(library, forward=forward)
    q, k, v = tensors = inputs()
    for each in (torch.ops.mezzotint.attention, lambda *x: torch.ops.mezzotint.attention_with_lse(*x)[0]):
        out = each(q, k, v, None, None, None, True, 0.25, "flash")
        found = torch.autograd.grad(out.float().sum(), tensors)
        exact = attention_gradients(torch.ones_like(out), None, q, k, v, Masks(causal=True), 0.25)[:3]
        for ours, right in zip(found, exact, strict=True):
            torch.testing.assert_close(ours, right)
    assert (len(forward.launches), len(library.launches)) == (3, 2)


@pytest.mark.requires_command("g++", "sudo apt-get install g++")
def test_compiled_code_runs_the_kernels_both_ways(use):
    """The whole backward is traced with tensors that have no memory."""
    library = use(EmulatedBackwardLibrary(build(left_out=LEFT_OUT)))
    q, k, v = inputs(nq=40, nk=70, head_dim=64)
    masks = Masks(key_lengths=torch.tensor([50], dtype=torch.int32))
    compiled = torch.compile(
        lambda q, k, v: attention(q, k, v, masks, implementation="flash").sin(), backend="aot_eager", fullgraph=True
    )
    found = torch.autograd.grad(compiled(q, k, v).sum(), (q, k, v))
    assert library.launches == 1
    exact = torch.autograd.grad(attention(q, k, v, masks, implementation="flash").sin().sum(), (q, k, v))
    for ours, right in zip(found, exact, strict=True):
        torch.testing.assert_close(ours, right)


def test_torch_s_own_checks_of_the_declared_gradient(use):
    """Schema, aliasing, fake tensors with shapes and strides; with and without what a forward kept."""
    use(FakeBackward())
    q, k, v = (each.detach() for each in inputs())
    out, lse = attention_reference(q, k, v)
    for kept in ((None, out, lse), (torch.ones_like(lse), out, lse), (None, None, None)):
        asked = (out, kept[0], q, k, v, None, torch.tensor([4], dtype=torch.int32), *kept[1:], False, 0.25)
        torch.library.opcheck(torch.ops.mezzotint.attention_backward.default, asked)


def test_a_bias_has_its_gradient_in_plain_torch(use):
    library = use(FakeBackward())
    bias = torch.randn(1, 4, 5, 7, requires_grad=True)
    q, k, v = inputs()
    out = attention(q, k, v, Masks(bias=bias), implementation="flash")
    assert torch.autograd.grad(out.float().sum(), bias)[0].count_nonzero() > 0
    assert library.launches == []


def test_the_gradient_of_the_sums_has_its_part(use):
    use(FakeBackward())
    tensors = inputs()
    scale = tensors[0].shape[-1] ** -0.5
    _, lse = torch.ops.mezzotint.attention_with_lse(*tensors, None, None, None, False, scale, "flash")
    found = torch.autograd.grad(lse.sum(), tensors[:2])
    exact = torch.autograd.grad(attention_reference(*tensors)[1].sum(), tensors[:2])
    for ours, right in zip(found, exact, strict=True):
        torch.testing.assert_close(ours, right)


def test_installed_kernels_are_for_nvidia_gpus_and_16_bits():
    backend = backward.backward_backend()
    assert backend.missing("cpu", "bfloat16") == "the device is cpu"
    q, k, v = (each.detach() for each in inputs())
    out, lse = attention_reference(q, k, v)
    of = Attended(q=q, k=k, v=v, masks=NO_MASKS, scale=1.0, out=out, lse=lse)
    assert backward.gradients_by_kernels(of, out, None) is None


def test_a_library_is_tested_before_it_is_used(monkeypatch):
    monkeypatch.setattr(backward, "open_installed", lambda: FakeBackward("wrong"))
    monkeypatch.setattr(backward, "runs_kernels", lambda *_: True)
    backend = backward.backward_backend.__wrapped__()
    kernels, problem = backend.usable("cpu", "bfloat16")
    assert kernels is not None and "the self-test failed" in problem
    assert backend.missing("cpu", "float32") == "the dtype is float32"


# ---- the self-test


@pytest.mark.parametrize("dtype", [torch.bfloat16, pytest.param(torch.float16, marks=pytest.mark.slow)])
def test_what_is_right_passes(dtype):
    library = FakeBackward()
    test = run_backward_self_test(CompiledBackward(library), CPU, dtype)
    assert test.problem is None
    assert test.passed == tuple(case.name for case in (*CASES, GROUPED))
    assert any(asked.key_lengths for asked in library.launches)
    assert any(asked.flags == 1 and asked.heads > asked.kv_heads for asked in library.launches)


@pytest.mark.slow_after(1)
@pytest.mark.parametrize(
    ("fault", "message"), [("wrong", "error against"), ("nan", "contains NaN"), ("launch", "the launch failed")]
)
def test_what_is_wrong_is_found(fault, message):
    test = run_backward_self_test(CompiledBackward(FakeBackward(fault, after=1)), CPU, torch.bfloat16)
    assert message in test.problem and CASES[1].name in test.problem
