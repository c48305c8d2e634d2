"""The declared operation: what torch may conclude about it without running it, and that it runs."""

from dataclasses import replace

import pytest
import torch
from attention_questions import questions
from fake_kernels import FakeKernels
from hypothesis import given, settings

from mezzotint.attention import operation
from mezzotint.attention.compiled import CompiledAttention
from mezzotint.attention.layout import output_strides
from mezzotint.attention.masks import Masks
from mezzotint.attention.operation import attention
from mezzotint.attention.reference import attention_reference


def raw(question, implementation):
    q, k, v, masks, scale = question
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    return (q, k, v, masks.bias, masks.key_mask, masks.key_lengths, masks.causal, scale, implementation)


@pytest.mark.slow_after(1)
@settings(max_examples=settings.default.max_examples // 8)
@given(question=questions())
@pytest.mark.parametrize("implementation", ["reference", "sdpa", "flash"])
def test_torch_s_own_checks_of_an_operation(question, implementation):
    """Schema, aliasing, fake tensors with shapes and strides, tracing with sizes left open."""
    ops = torch.ops.mezzotint
    torch.library.opcheck(ops.attention.default, raw(question, implementation))
    torch.library.opcheck(ops.attention_with_lse.default, raw(question, implementation))


@given(questions(dtypes=(torch.float16, torch.float32)))
def test_fake_tensors_know_shape_dtype_and_layout(question):
    from torch._subclasses.fake_tensor import FakeTensorMode

    real = torch.ops.mezzotint.attention_with_lse(*raw(question, "reference"))
    with FakeTensorMode() as mode:
        what = [mode.from_tensor(each) if isinstance(each, torch.Tensor) else each for each in raw(question, "sdpa")]
        fake = torch.ops.mezzotint.attention_with_lse(*what)
    for one, other in zip(real, fake, strict=True):
        assert (one.shape, one.stride(), one.dtype) == (other.shape, other.stride(), other.dtype)


@given(questions())
def test_every_implementation_gives_the_same(question):
    exact = attention_reference(*question)
    for implementation in (
        "reference",
        "sdpa",
        "flash",
        "int8",
        "int8-all",
        "int8-fp8",
    ):  # the last four are SDPA, without a library
        out = attention(*question, implementation=implementation)
        torch.testing.assert_close(out, exact[0], rtol=1e-4, atol=1e-5)
        assert out.stride() == output_strides(question[0])
    torch.testing.assert_close(torch.ops.mezzotint.attention_with_lse(*raw(question, "flash")), exact)


# ---- gradients


def wanted(question):
    """The tensors of a question, those that can have gradients wanting them."""
    q, k, v, masks, scale = question
    q, k, v = (each.double().detach().requires_grad_() for each in (q, k, v))
    bias = None if masks.bias is None else masks.bias.double().requires_grad_()
    return (q, k, v, replace(masks, bias=bias), scale), [each for each in (q, k, v, bias) if each is not None]


def gradients(outputs, inputs):
    """With weights that differ from number to number; a query that sees nothing has no logarithm."""
    total = sum((each * torch.arange(each.numel()).view(each.shape)).nan_to_num(0, 0, 0).sum() for each in outputs)
    return torch.autograd.grad(total, inputs)


@given(questions())
def test_gradients_are_those_of_the_reference(question):
    asked, inputs = wanted(question)
    exact = attention_reference(*asked)
    ours = torch.ops.mezzotint.attention_with_lse(*raw(asked, "sdpa"))
    for found, right in zip(gradients(ours, inputs), gradients(exact, inputs), strict=True):
        torch.testing.assert_close(found, right.nan_to_num(0.0))
    for found, right in zip(
        gradients([attention(*asked)], inputs), gradients([attention_reference(*asked)[0]], inputs), strict=True
    ):
        torch.testing.assert_close(found, right.nan_to_num(0.0))


def test_without_keys_gradients_are_zeros():
    q, k = torch.randn(1, 4, 5, 8, requires_grad=True), torch.randn(1, 2, 0, 8, requires_grad=True)
    of_q, of_k = torch.autograd.grad(attention(q, k, k).sum(), (q, k))
    assert of_q.equal(torch.zeros_like(q)) and of_k.shape == k.shape


def test_compiled_code_has_gradients():
    q = torch.randn(1, 2, 5, 8, requires_grad=True)
    compiled = torch.compile(lambda q: attention(q, q, q).sin().sum(), backend="aot_eager", fullgraph=True)
    found = torch.autograd.grad(compiled(q), q)
    torch.testing.assert_close(found, torch.autograd.grad(attention_reference(q, q, q)[0].sin().sum(), q))


def test_in_compiled_code_it_is_one_node():
    q = torch.randn(1, 2, 5, 8)
    masks = Masks(key_mask=torch.ones(1, 5, dtype=torch.bool))
    nodes = []

    def backend(graph, _):
        nodes.extend(node.target for node in graph.graph.nodes if node.op == "call_function")
        return graph.forward

    compiled = torch.compile(lambda q: attention(q, q, q, masks) + 1, backend=backend, fullgraph=True)
    torch.testing.assert_close(compiled(q), attention_reference(q, q, q, masks)[0] + 1)
    assert torch.ops.mezzotint.attention in nodes or torch.ops.mezzotint.attention.default in nodes


def test_the_library_is_used_where_it_is_installed(monkeypatch):
    kernels = FakeKernels(head_sizes={8})
    monkeypatch.setattr(operation, "_installed", lambda: CompiledAttention(kernels))
    q = torch.randn(1, 2, 5, 8, dtype=torch.bfloat16)
    torch.testing.assert_close(attention(q, q, q, implementation="flash"), attention_reference(q, q, q)[0])
    assert len(kernels.launches) == 1 and kernels.launches[0].flags == 0
    _, lse = torch.ops.mezzotint.attention_with_lse(*raw((q, q, q, Masks(), None), "int8"))
    torch.testing.assert_close(lse, attention_reference(q, q, q)[1])
    assert kernels.launches[1].flags == 2
    other = torch.randn(1, 2, 5, 16, dtype=torch.bfloat16)
    attention(other, other, other, implementation="flash")
    assert len(kernels.launches) == 2


def test_mistakes_are_told():
    q = torch.randn(1, 2, 5, 8)
    with pytest.raises(ValueError, match="implementation is 'fast'"):
        attention(q, q, q, implementation="fast")
    with pytest.raises(ValueError, match="2 heads and k 0"):
        attention(q, q[:, :0], q[:, :0])
    with pytest.raises(ValueError, match="scale is nan"):
        attention(q, q, q, scale=float("nan"))
