"""Tensors into the library's argument structures, and what the kernels themselves make of them on the emulator."""

import pytest
import torch
from fake_products import EmulatedProducts, FakeProducts
from quantized_weights import relative, seeded

from mezzotint.dispatch.library import LaunchFailed, Preparation, Unsupported
from mezzotint.quantization.codebook4 import Codebook4
from mezzotint.quantization.formats import Int4, Int8, LowRank4, Nf4
from mezzotint.quantization.fp8 import Fp8, quantize_fp8_rows
from mezzotint.quantization.linear import Branch, QuantizedWeight, linear
from mezzotint.quantization.products.compiled import CompiledLinear, readable_rows, unsupported
from mezzotint.quantization.random_weights import random_quantized_weight
from mezzotint.quantization.svdquant.format import SvdQuant

BF16 = torch.bfloat16
FORMATS = [
    Int4(),
    Int4(group=64),
    Fp8(inputs="either"),
    Fp8(by_rows=True, inputs="quantized"),
    Int8(dynamic=True),
    Int8(dynamic=True, group=64),
    LowRank4(rank=16, group=64),
    LowRank4(rank=8),
    Codebook4(group=64),
    SvdQuant(rank=16, group=64),
    SvdQuant(rank=8),
]
DTYPES = pytest.mark.parametrize("dtype", [torch.float16, BF16], ids=["f16", "bf16"])
ROUNDING = {torch.float16: 1.5e-3, BF16: 6e-3}  # of outputs, and of a branch's numbers on the way


@pytest.fixture
def library():
    return FakeProducts()


@pytest.fixture(scope="module")
def emulated():
    """Built here: what many tests share does not count as the first one's time."""
    return EmulatedProducts()


def quantized(format_, n=24, k=128, seed=1):
    weight = seeded(n, k, seed=seed)
    return QuantizedWeight(format=format_, tensors=format_.quantize(weight), shape=weight.shape)


def branch(rank, n=24, k=128, dtype=torch.float16):
    return Branch(down=(seeded(rank, k, seed=3) / 10).to(dtype), up=(seeded(n, rank, seed=4) / 5).to(dtype))


def exact(x, weight, bias=None, added=None):
    """By the format's own product, in 32 bits, with x rounded as kernels do where torch would keep it."""
    if weight.format == Fp8(inputs="either"):
        rows, scales = quantize_fp8_rows(x.float())
        kept = linear(rows.float() * scales, weight, None if bias is None else bias.float(), [])
        branch_ = 0 if added is None else x.float() @ added.down.float().T @ added.up.float().T
        return kept + branch_
    return linear(x.float(), weight, None if bias is None else bias.float(), [] if added is None else [added])


@pytest.mark.requires_command("g++", "sudo apt-get install g++")
@DTYPES
@pytest.mark.parametrize("format_", FORMATS, ids=str)
@pytest.mark.parametrize(("rows", "rank"), [(1, 0), (7, 5), (64, 48)])
def test_the_kernels_give_what_the_format_says(emulated, format_, dtype, rows, rank):
    x, weight, bias = seeded(rows, 128).to(dtype), quantized(format_), seeded(24, seed=2).to(dtype)
    added = branch(rank) if rank else None
    out = CompiledLinear(emulated)(x, weight, bias, added)
    assert out.dtype == dtype
    assert relative(out, exact(x, weight, bias, added)) < ROUNDING[dtype]


@pytest.mark.parametrize("format_", FORMATS, ids=str)
@pytest.mark.parametrize("rows", range(1, 65, 9))
def test_every_number_of_rows(library, format_, rows):
    x, weight = seeded(rows, 128).to(BF16), quantized(format_)
    assert relative(CompiledLinear(library)(x, weight), exact(x, weight)) < ROUNDING[BF16]


@pytest.mark.slow_after(10)
@pytest.mark.parametrize("own", [0, 16, 24, 256, 300])
@pytest.mark.parametrize("rank", [1, 16, 40, 240, 256, 257])
def test_branches_of_every_rank(library, own, rank):
    format_ = LowRank4(rank=own) if own else Int8(dynamic=True)
    weight = quantized(format_, n=320, k=320)
    x, added = seeded(9, 320).half(), branch(rank, n=320, k=320)
    assert relative(CompiledLinear(library)(x, weight, None, added), exact(x, weight, None, added)) < 2e-3
    (asked,) = library.multiplied
    fitting = own if own <= 256 else 0
    fitting += rank if fitting + rank <= 256 else 0
    assert asked.rank == -(-fitting // 16) * 16


def test_a_branch_of_its_own_is_read_where_it_lies(library):
    kernels, weight = CompiledLinear(library), quantized(LowRank4(rank=16))
    kernels(seeded(5, 128).half(), weight)
    assert [asked.branch_up for asked in library.multiplied] == [weight.tensors["weight_up"].data_ptr()]


def test_what_reaches_the_library(library):
    weight, bias = quantized(LowRank4(rank=16, group=64)), seeded(24).to(BF16)
    x = seeded(2, 3, 136).to(BF16)[..., :128]
    out = CompiledLinear(library)(x, weight, bias)
    assert out.shape == (2, 3, 24) and out.is_contiguous()
    (rows,), (asked,) = library.quantized, library.multiplied
    assert (rows.x, rows.x_stride, rows.rows, rows.columns) == (x.data_ptr(), 136, 6, 128)
    assert (rows.dtype, rows.group, rows.preparation) == (1, 64, 0)
    assert (asked.weight_bits, asked.rows, asked.in_columns, asked.out_columns) == (4, 6, 128, 24)
    assert (asked.x, asked.x_scales) == (rows.values, rows.scales)
    assert (asked.weight, asked.weight_stride) == (weight.tensors["weight"].data_ptr(), 64)
    assert (asked.group_scales, asked.bias) == (weight.tensors["weight_group_scale"].data_ptr(), bias.data_ptr())
    assert (asked.gate, asked.residual) == (None, None)


@pytest.mark.parametrize(
    "x",
    [
        seeded(1, 128, 9).half().transpose(1, 2),  # channels first, as images come
        seeded(9 * 128 + 4).half()[4:].view(9, 128),
        seeded(9, 130).half()[:, :128],
    ],
)
def test_rows_that_cannot_be_read_are_copied(library, x):
    weight = quantized(Int8(dynamic=True))
    assert relative(CompiledLinear(library)(x, weight), exact(x, weight)) < 2e-3
    assert readable_rows(x).data_ptr() % 16 == 0 and readable_rows(x).data_ptr() != x.data_ptr()


@pytest.mark.parametrize("preparation", [Preparation.GELU_TANH, Preparation.GEGLU])
def test_an_activation_on_the_way(library, preparation):
    weight = quantized(Int8(dynamic=True, group=64))
    x = seeded(6, 256 if preparation is Preparation.GEGLU else 128).half()
    if preparation is Preparation.GEGLU:
        a, b = x.float().chunk(2, dim=1)
        active = a * torch.nn.functional.gelu(b)
    else:
        active = torch.nn.functional.gelu(x.float(), approximate="tanh")
    out = CompiledLinear(library)(x, weight, preparation=preparation)
    assert relative(out, exact(active, weight)) < 2e-3
    with pytest.raises(Unsupported, match="after the activation"):
        CompiledLinear(library)(x, weight, None, branch(4), preparation)


def ok(k=128, **more):
    return {"x": seeded(3, k).half(), "weight": quantized(Int8(dynamic=True), k=k)} | more


def misaligned(weight):
    numbers = torch.zeros(weight.tensors["weight"].numel() + 8, dtype=torch.int8)[8:].view(weight.shape)
    return QuantizedWeight(format=weight.format, tensors={**weight.tensors, "weight": numbers}, shape=weight.shape)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (ok(x=seeded(3, 128)), r"x is torch\.float32"),
        (ok(x=torch.empty(3, 128, dtype=BF16, device="meta")), "x is on meta; the kernels run on cpu"),
        (ok(weight=quantized(Int8(dynamic=False))), "has no integer products"),
        (ok(weight=quantized(Nf4())), "has no integer products"),
        (ok(k=72), "72 columns, not a multiple of 16"),
        (ok(weight=quantized(Int8(dynamic=True), n=30)), "30 rows, not a multiple of 8"),
        (ok(bias=seeded(24)), r"bias is torch\.float32"),
        (ok(x=seeded(3, 128).half().requires_grad_()), "gradients"),
        (ok(branch=Branch(down=seeded(4, 128).requires_grad_(), up=seeded(24, 4))), "gradients"),
        (ok(weight=misaligned(quantized(Int8(dynamic=True)))), "weight is misaligned by 8 bytes"),
    ],
)
def test_what_the_kernels_cannot_do_is_left_to_others(library, call, message):
    with pytest.raises(Unsupported, match=message):
        CompiledLinear(library)(**call)
    assert not library.multiplied


def test_what_the_library_refuses_is_asked_once():
    library = FakeProducts(depths={64})
    for _ in range(2):
        with pytest.raises(Unsupported, match="in is 128"):
            CompiledLinear(library)(**ok())
    kernels = CompiledLinear(library)
    for _ in range(2):
        with pytest.raises(Unsupported, match="in is 128"):
            kernels(**ok())
    assert len(library.quantized) == 3


def test_mistakes_and_failures_are_told(library):
    with pytest.raises(ValueError, match="x has 64 columns, and the layer takes 128"):
        CompiledLinear(library)(**ok(x=seeded(3, 64).half()))
    with pytest.raises(LaunchFailed, match="the launch failed"):
        CompiledLinear(FakeProducts("launch"))(**ok())


def test_without_rows_nothing_is_launched(library):
    assert CompiledLinear(library)(**ok(x=seeded(2, 0, 128).half())).shape == (2, 0, 24)
    assert not library.multiplied and not library.quantized


def test_formats_say_whether_there_are_kernels():
    assert unsupported(LowRank4(), (24, 128)) is None
    assert "not a multiple of 64" in unsupported(LowRank4(), (24, 96))


@pytest.mark.parametrize(
    ("rows", "shape", "splits"), [(64, (320, 640), 16), (1, (4096, 64), 10), (129, (320, 640), 0), (64, (21824, 64), 0)]
)
def test_few_rows_have_room_for_sums_of_parts(rows, shape, splits):
    library = FakeProducts()
    weight = random_quantized_weight(Int8(dynamic=True), shape, torch.Generator().manual_seed(0))
    CompiledLinear(library)(torch.randn(rows, shape[1]).half(), weight)
    (asked,) = library.multiplied
    assert asked.workspace_bytes == splits * -(-rows // 64) * (shape[0] // 64) * 64 * 64 * 4
    assert bool(asked.workspace) == bool(splits)
