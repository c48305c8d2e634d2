"""The integer product on a real card: parity at the sizes of real models, the same bits every time, graphs, streams."""

import itertools

import pytest
import torch

from mezzotint_kernels import Dtype, LinearArgs, Unsupported, linear_forward

pytestmark = pytest.mark.gpu

DEVICE = "cuda"
DTYPES = {torch.float16: Dtype.FLOAT16, torch.bfloat16: Dtype.BFLOAT16}
# Rows, columns of x, columns of the output.
SHAPES = {
    "sdxl-32": (2048, 1280, 1280),
    "sdxl-64-up": (8192, 640, 5120),
    "pixart-down": (8192, 4608, 1152),
    "flux": (4608, 3072, 3072),
    "text": (77, 2048, 1280),
    "ragged": (1023, 1088, 1032),
    "one-row": (1, 3072, 3072),
    "many-tiles": (20000, 64, 2056),
}
ALL = pytest.mark.parametrize(
    ("shape", "bits", "dtype"),
    list(itertools.product(SHAPES.values(), (8, 4), DTYPES)),
    ids=lambda value: str(value).removeprefix("torch."),
)
HARD = SHAPES["ragged"]


class Product:
    """Random operands of one product on the card, with all that may be added; `run` queues it."""

    def __init__(self, shape, bits, dtype, rank=32, rows_per_batch=100):
        rows, depth, columns = self.shape = shape
        self.bits, self.dtype, self.rows_per_batch = bits, dtype, rows_per_batch
        lots = torch.Generator(DEVICE).manual_seed(rows + bits)

        def integers(low, high, *size):
            return torch.randint(low, high, size, device=DEVICE, generator=lots)

        def numbers(*size):
            return torch.randn(*size, device=DEVICE, generator=lots).to(dtype)

        self.x = integers(-127, 128, rows, depth).to(torch.int8)
        self.codes = integers(-127, 128, columns, depth) if bits == 8 else integers(-7, 8, columns, depth)
        self.groups = integers(1, 18, columns, depth // 64).to(torch.uint8)
        self.x_scales = torch.rand(rows, device=DEVICE, generator=lots) / 100
        self.weight_scales = torch.rand(columns, device=DEVICE, generator=lots) / 100
        self.bias, self.residual = numbers(columns), numbers(rows, columns)
        self.gate = numbers(-(-rows // rows_per_batch), columns)
        self.branch_x, self.branch_up = numbers(rows, rank), numbers(columns, rank)
        pairs = self.codes.view(columns, -1, 2) & 15
        self.weight = self.codes.to(torch.int8) if bits == 8 else (pairs[..., 0] | pairs[..., 1] << 4).to(torch.uint8)

    def run(self, out=None):
        """The output; NaN before, unless it is given."""
        out = torch.full_like(self.residual, float("nan")) if out is None else out
        rows, depth, columns = self.shape
        args = LinearArgs(dtype=DTYPES[self.dtype], weight_bits=self.bits, rows=rows, out_columns=columns)
        args.in_columns, args.rank, args.rows_per_batch = depth, self.branch_x.shape[1], self.rows_per_batch
        for name in ("x", "weight", "group_scales", "branch_x", "branch_up", "gate", "residual", "out"):
            tensor = {"out": out, "group_scales": self.groups}.get(name, getattr(self, name, None))
            setattr(args, name, tensor.data_ptr())
            setattr(args, f"{name}_stride", tensor.stride(0))
        for name in ("x_scales", "weight_scales", "bias"):
            setattr(args, name, getattr(self, name).data_ptr())
        linear_forward(args, torch.cuda.current_device(), torch.cuda.current_stream().cuda_stream)
        return out

    def wanted(self):
        """The output in float64, and the sum of the magnitudes of what it is made of."""
        rows = torch.arange(self.shape[0], device=DEVICE)
        weight = self.codes.double() * (1 if self.bits == 8 else self.groups.double().repeat_interleave(64, dim=1))
        product = self.x.double() @ weight.T * self.x_scales.double()[:, None] * self.weight_scales.double()
        branch_x, up, bias = self.branch_x.double(), self.branch_up.double(), self.bias.double()
        gate, residual = self.gate.double()[rows // self.rows_per_batch], self.residual.double()
        size = product.abs() + bias.abs() + branch_x.abs() @ up.abs().T
        return residual + gate * (product + bias + branch_x @ up.T), residual.abs() + gate.abs() * size


def compare(out, product):
    wanted, size = product.wanted()
    allowed = wanted.abs() * torch.finfo(out.dtype).eps / 2 + size * 2.0**-20 + 1e-7
    assert bool(out.isfinite().all())
    assert float(((out.double() - wanted).abs() / allowed).max()) <= 1


def make(shape, bits, dtype):
    if dtype is torch.bfloat16 and torch.cuda.get_device_capability() < (8, 0):
        pytest.skip("needs a CUDA device that multiplies bfloat16")
    return Product(shape, bits, dtype)


@ALL
def test_parity(shape, bits, dtype):
    product = make(shape, bits, dtype)
    compare(product.run(), product)


@pytest.mark.parametrize("bits", [8, 4])
def test_the_output_may_be_the_residual(bits):
    product = make(HARD, bits, torch.float16)
    separate = product.run()
    out = product.residual.clone()
    product.residual = out
    assert torch.equal(product.run(out), separate)


@pytest.mark.parametrize("bits", [8, 4])
def test_the_same_bits_every_time(bits):
    product = make(HARD, bits, torch.float16)
    first = product.run()
    for _ in range(200):
        assert torch.equal(product.run(), first)


@pytest.mark.parametrize("bits", [8, 4])
def test_a_graph_replays_it(bits):
    product = make(HARD, bits, torch.float16)
    wanted, out = product.run(), torch.empty_like(product.residual)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        product.run(out)
    out.zero_()
    graph.replay()
    assert torch.equal(out, wanted)


def test_offsets_beyond_32_bits():
    if torch.cuda.mem_get_info()[0] < 24 * 2**30:
        pytest.skip("needs a CUDA device with 24 GB of free memory")
    rows = 2**31 // 2048 + 64  # the output ends beyond 2^31 elements
    product = make((rows, 64, 2048), 8, torch.float16)
    out = product.run()
    product.shape = (64, 64, 2048)
    gate = product.gate[torch.arange(rows - 64, rows, device=DEVICE) // product.rows_per_batch]
    product.gate, product.rows_per_batch = gate, 1
    for name in ("x", "x_scales", "branch_x", "residual"):
        setattr(product, name, getattr(product, name)[-64:])
    compare(out[-64:], product)


def test_what_no_kernel_takes_is_told_before_anything_is_queued():
    product = make(HARD, 8, torch.float16)
    product.shape = (*HARD[:2], HARD[2] - 4)
    out = torch.zeros_like(product.residual)
    with pytest.raises(Unsupported, match="out_columns is 1028, no multiple of 8"):
        product.run(out)
    torch.cuda.synchronize()
    assert not bool(out.any())
