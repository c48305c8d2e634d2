"""Gradients through frozen quantized weights: those of the dequantized weight, with nothing saved of it (QLoRA)."""

import functools

import pytest
import torch
from gguf_blocks import packed_rows
from quantized_weights import relative, seeded
from torch.autograd.graph import saved_tensors_hooks
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from mezzotint.quantization.block_floats import Mxfp8, Nvfp4
from mezzotint.quantization.formats import Int8, LowRank4, Nf4
from mezzotint.quantization.fp4 import Fp4
from mezzotint.quantization.fp8 import Fp8
from mezzotint.quantization.gguf_blocks import KINDS, GgufBlocks
from mezzotint.quantization.linear import Branch, QuantizedWeight, linear

N, K = 24, 256
STATIC = [
    Int8(dynamic=False),
    Int8(dynamic=False, group=64),
    Nf4(),
    Nf4(double=False),
    LowRank4(rank=4, group=64, dynamic=False),
    Fp8(),
    Mxfp8(),
    Nvfp4(),
    Fp4(),
    *(GgufBlocks(kind=kind) for kind in KINDS),
]
DYNAMIC = [
    Int8(dynamic=True),
    Int8(dynamic=True, group=64),
    LowRank4(rank=4),
    LowRank4(rank=4, group=64),
]
EACH = pytest.mark.parametrize("format_", [*STATIC, *DYNAMIC], ids=str)
EACH_STATIC = pytest.mark.parametrize("format_", STATIC, ids=str)
EACH_DYNAMIC = pytest.mark.parametrize("format_", DYNAMIC, ids=str)


def quantized(format_, shape=(N, K)):
    tensors = {name: each.clone() for name, each in tensors_of(format_, shape).items()}
    return QuantizedWeight(format=format_, tensors=tensors, shape=torch.Size(shape))


@functools.cache
def tensors_of(format_, shape):
    if isinstance(format_, GgufBlocks):
        return {"weight": torch.from_numpy(packed_rows(format_.kind, shape))}
    with torch.inference_mode(False):
        return format_.quantize(seeded(*shape, seed=1) / shape[1] ** 0.5)


def dequantized_linear(x, weight, bias=None, branches=()):
    y = functional.linear(x, weight.dequantized(x.dtype), bias)
    return y + sum(
        each.scale * functional.linear(functional.linear(x, each.down.to(x.dtype)), each.up.to(x.dtype))
        for each in branches
    )


def gradients(y, *inputs):
    """Gradients of the inputs, for a random gradient of y."""
    return torch.autograd.grad(y, inputs, seeded(*y.shape, seed=9).to(y.dtype))


def saved_by(compute):
    """Tensors saved for the backward pass."""
    saved = []
    with saved_tensors_hooks(lambda each: saved.append(each) or each, lambda each: each):
        y = compute()
    return y, saved


@EACH
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("rows", [(7,), (2, 3, 5), ()], ids=str)
def test_the_gradient_is_that_of_the_dequantized_weight(format_, dtype, rows):
    weight, x = quantized(format_), seeded(*rows, K).to(dtype).requires_grad_()
    bias = seeded(N).to(dtype)
    (found,) = gradients(linear(x, weight, bias), x)
    (wanted,) = gradients(dequantized_linear(x, weight, bias), x)
    assert found.dtype == dtype and found.shape == x.shape
    if rows:
        assert found.equal(wanted)
    else:  # torch multiplies a single row in another order
        torch.testing.assert_close(found, wanted)


@EACH_STATIC
def test_it_is_right_to_float64(format_):
    weight, x = quantized(format_), seeded(2, K).double().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: linear(x, weight), x, fast_mode=True)
    assert torch.autograd.gradgradcheck(lambda x: linear(x, weight), x, fast_mode=True)


@EACH
def test_the_result_is_the_same_with_and_without_gradients(format_):
    weight, x, bias = quantized(format_), seeded(2, 5, K), seeded(N)
    branch = Branch(down=seeded(3, K), up=seeded(N, 3))
    with torch.inference_mode():
        plain = linear(x, weight, bias, [branch])
        assert not plain.requires_grad
    assert not linear(x, weight, bias, [branch]).requires_grad
    learning = linear(x.clone().requires_grad_(), weight, bias, [branch])
    assert learning.requires_grad and learning.equal(plain)


@EACH
@pytest.mark.parametrize("learning_x", [True, False])
def test_branches_learn(format_, learning_x):
    weight, x = quantized(format_), seeded(2, 5, K).requires_grad_(learning_x)
    branches = [
        Branch(down=seeded(r, K).requires_grad_(), up=seeded(N, r).requires_grad_(), scale=scale)
        for r, scale in ((2, 1.0), (3, 0.5))
    ]
    inputs = [factor for each in branches for factor in each.factors] + [x] * learning_x
    found = gradients(linear(x, weight, branches=branches), *inputs)
    wanted = gradients(dequantized_linear(x, weight, branches=branches), *inputs)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


def test_a_bias_learns():
    bias = seeded(N).requires_grad_()
    (found,) = gradients(linear(seeded(5, K), quantized(Nf4()), bias), bias)
    torch.testing.assert_close(found, seeded(5, N, seed=9).sum(0))


@EACH
def test_nothing_is_saved(format_):
    weight, x = quantized(format_), seeded(5, K).requires_grad_()
    y, saved = saved_by(lambda: linear(x, weight, seeded(N)))
    assert saved == []
    y.sum().backward()


@EACH
def test_with_a_branch_only_its_factors_and_inputs_are_saved(format_):
    weight, x = quantized(format_), seeded(5, K).requires_grad_()
    branch = Branch(down=seeded(2, K).requires_grad_(), up=seeded(N, 2).requires_grad_())
    _, saved = saved_by(lambda: linear(x, weight, branches=[branch]))
    own = {each.untyped_storage().data_ptr() for each in weight.tensors.values()}
    assert all(each.numel() < N * K and each.untyped_storage().data_ptr() not in own for each in saved)
    assert sum(each.nbytes for each in saved) <= x.nbytes + branch.down.nbytes + branch.up.nbytes + 5 * 2 * 4


@EACH
def test_a_weight_used_twice(format_):
    weight, x = quantized(format_, (K, K)), seeded(5, K).requires_grad_()
    (found,) = gradients(linear(linear(x, weight), weight) + linear(x, weight), x)
    dense = weight.dequantized(torch.float32)
    gradient = seeded(5, K, seed=9)
    torch.testing.assert_close(found, gradient @ dense @ dense + gradient @ dense, rtol=1e-4, atol=1e-4)


@EACH
@pytest.mark.parametrize("view", [lambda x: x.mT, lambda x: x[:, ::2].mT, lambda x: x[:, :1].expand(-1, 6).mT])
def test_of_any_layout(format_, view):
    weight, whole = quantized(format_), seeded(K, 6).requires_grad_()
    assert not view(whole).is_contiguous()
    (found,) = gradients(linear(view(whole), weight), whole)
    (wanted,) = gradients(dequantized_linear(view(whole), weight), whole)
    assert relative(found, wanted) < 1e-6


@EACH
@pytest.mark.parametrize("reentrant", [True, False])
def test_under_checkpointing(format_, reentrant):
    weight, x = quantized(format_), seeded(5, K).requires_grad_()
    branch = Branch(down=seeded(2, K).requires_grad_(), up=seeded(N, 2).requires_grad_())

    def block(x):
        return linear(x, weight, branches=[branch]).tanh()

    found = []
    for y in (block(x), checkpoint(block, x, use_reentrant=reentrant)):
        for each in (x, *branch.factors):
            each.grad = None
        y.square().sum().backward()
        found.append([each.grad for each in (x, *branch.factors)])
    assert all(one.equal(other) for one, other in zip(*found, strict=True))


@EACH
def test_under_autocast(format_):
    weight, x = quantized(format_), seeded(5, K).requires_grad_()
    with torch.autocast("cpu", torch.bfloat16):
        y, saved = saved_by(lambda: linear(x, weight))
    assert y.dtype == torch.bfloat16 and saved == []
    (found,) = gradients(y, x)
    same = x.detach().bfloat16().requires_grad_()
    plain = linear(same, weight)
    assert y.equal(plain) and found.dtype == torch.float32
    assert found.equal(gradients(plain, same)[0].float())


@EACH_STATIC
def test_under_autocast_it_is_that_of_torch(format_):
    weight, x = quantized(format_), seeded(5, K).requires_grad_()
    with torch.autocast("cpu", torch.bfloat16):
        made, wanted = linear(x, weight), dequantized_linear(x, weight)
    found, same = gradients(made, x)[0], gradients(wanted, x)[0]
    if not getattr(format_, "group", 0):  # torch also rotates in 16 bits then
        assert made.equal(wanted) and found.equal(same)
    assert relative(found, same) < 0.02


@EACH_DYNAMIC
def test_the_forward_product_stays_that_of_integers(format_):
    weight, x = quantized(format_), seeded(5, K).requires_grad_()
    assert linear(x, weight).equal(format_.product(x.detach(), weight.tensors, weight.shape))
    assert not linear(x, weight).equal(dequantized_linear(x, weight))


@EACH
def test_a_weight_overwritten_before_the_backward_pass_is_noticed(format_):
    weight, x = quantized(format_), seeded(5, K).requires_grad_()
    y = linear(x, weight)
    weight.tensors["weight"].zero_()
    with pytest.raises(RuntimeError, match="overwritten between the forward and the backward pass"):
        y.sum().backward()


def test_weights_made_in_inference_mode_have_gradients_too():
    with torch.inference_mode():
        weight = quantized(Nf4())
    x = seeded(5, K).requires_grad_()
    (found,) = gradients(linear(x, weight), x)
    assert found.equal(seeded(5, N, seed=9) @ weight.dequantized(torch.float32))


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("format_", [Nf4(double=False), Int8(dynamic=False, group=64), *DYNAMIC], ids=str)
def test_in_compiled_code(format_):
    weight, x, bias = quantized(format_), seeded(5, K).requires_grad_(), seeded(N)
    torch.compiler.reset()
    compiled = torch.compile(lambda x: linear(x, weight, bias), backend="aot_eager", fullgraph=True)
    (found,) = gradients(compiled(x), x)
    torch.testing.assert_close(found, gradients(dequantized_linear(x, weight), x)[0])


def test_in_code_that_cannot_be_compiled_whole():
    weight, x = quantized(Nf4()), seeded(5, K).requires_grad_()
    torch.compiler.reset()
    compiled = torch.compile(lambda x: linear(x, weight).tanh(), backend="aot_eager")
    torch.testing.assert_close(*(gradients(y, x)[0] for y in (compiled(x), linear(x, weight).tanh())))
