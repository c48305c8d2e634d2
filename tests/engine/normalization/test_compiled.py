"""GroupNorm by kernels: what they are told, and what they do not take."""

import pytest
import torch
from emulated_group_norm import EmulatedGroupNormLibrary
from emulator_build import LEFT_OUT, build
from fake_group_norm import FakeGroupNorm

from mezzotint.dispatch.library import Unsupported
from mezzotint.normalization.compiled import CompiledGroupNorm
from mezzotint.normalization.reference import group_norm_reference
from mezzotint.normalization.self_test import CASES, run_group_norm_self_test

EPSILON = 1e-6


def tensors(shape=(2, 32, 5, 7), dtype=torch.bfloat16):
    generator = torch.Generator().manual_seed(7)
    x = torch.randn(shape, generator=generator).to(dtype).contiguous(memory_format=torch.channels_last)
    return x, torch.randn(shape[1], generator=generator).to(dtype), torch.randn(shape[1], generator=generator).to(dtype)


@pytest.mark.parametrize("shape", [(2, 32, 5, 7), (1, 16, 1, 1), (3, 8, 1, 9), (1, 8, 9, 1), (2, 24, 2, 2)])
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("silu", [True, False])
def test_it_is_the_norm_of_torch(shape, affine, silu):
    library, (x, weight, bias) = FakeGroupNorm(), tensors(shape)
    weight, bias = (weight, bias) if affine else (None, None)
    out = CompiledGroupNorm(library)(x, 4, weight, bias, EPSILON, silu=silu)
    assert (out.dtype, out.shape) == (x.dtype, x.shape) and out.is_contiguous(memory_format=torch.channels_last)
    wanted = group_norm_reference(x, 4, weight, bias, EPSILON, silu=silu)
    torch.testing.assert_close(out.double(), wanted, atol=1e-3, rtol=8e-3)
    (asked,) = library.launches
    assert (asked.batch, asked.channels, asked.pixels, asked.groups) == (*shape[:2], shape[2] * shape[3], 4)


def test_part_of_a_batch_is_read_in_place():
    library, (x, weight, bias) = FakeGroupNorm(), tensors()
    CompiledGroupNorm(library)(x[1:], 4, weight, bias, EPSILON, silu=True)
    assert library.launches[0].x == x[1:].data_ptr() != x.data_ptr()


def misaligned(x):
    flat = x.new_zeros(x.numel() + 4)[4:]
    return flat.view(x.shape[0], *x.shape[2:], x.shape[1]).permute(0, 3, 1, 2)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda x, weight: (x.float(), weight), "x is torch.float32"),
        (lambda x, weight: (x.contiguous(), weight), "images in channels_last"),
        (lambda x, weight: (x[..., :4], weight), "images in channels_last"),
        (lambda x, weight: (x[0], weight), "images in channels_last"),
        (lambda x, weight: (misaligned(x), weight), "misaligned by 8 bytes"),
        (lambda x, weight: (x, weight.float()), "weight is torch.float32 on cpu, and x torch.bfloat16"),
        (lambda x, weight: (x, weight.repeat_interleave(2)[::2]), "weight has strides"),
        (lambda x, weight: (x.to("meta"), weight), "x is on meta; the kernels run on cpu"),
        (lambda x, weight: (x, weight.requires_grad_()), "gradients are wanted"),
    ],
)
def test_what_kernels_do_not_take(change, said):
    library, (x, weight, bias) = FakeGroupNorm(), tensors()
    with pytest.raises(Unsupported, match=said):
        normalized(library, change(x, weight), bias)
    assert library.launches == []


def normalized(library, given, bias):
    x, weight = given
    return CompiledGroupNorm(library)(x, 4, weight, bias, EPSILON, silu=True)


def test_channels_that_are_no_multiple_of_8():
    x, weight, bias = tensors((1, 12, 3, 3))
    with pytest.raises(Unsupported, match="12 channels"):
        CompiledGroupNorm(FakeGroupNorm())(x, 4, weight, bias, EPSILON, silu=True)


def test_without_pixels_nothing_is_launched():
    library, (x, weight, bias) = FakeGroupNorm(), tensors((2, 32, 0, 4))
    assert CompiledGroupNorm(library)(x, 4, weight, bias, EPSILON, silu=True).shape == x.shape
    assert library.launches == []


@pytest.mark.requires_command("g++", "sudo apt-get install g++")
def test_the_kernels_pass_the_self_test_on_the_emulator():
    library = EmulatedGroupNormLibrary(build(left_out=LEFT_OUT))
    test = run_group_norm_self_test(CompiledGroupNorm(library), torch.device("cpu"), torch.bfloat16)
    assert (test.problem, len(test.passed), library.launches) == (None, len(CASES), len(CASES))
