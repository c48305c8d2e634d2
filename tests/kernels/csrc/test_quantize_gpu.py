"""The kernels that quantize rows on a real card: parity at the sizes of real models, strides, graphs, the same bits."""

import pytest
import torch
from emulated_quantize import CODES, NORMS, Operands, Problem, judge

from mezzotint_kernels import QuantizeArgs, Unsupported, quantize_rows
from mezzotint_kernels.abi import Preparation

pytestmark = pytest.mark.gpu

DEVICE = "cuda"
BOTH = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["f16", "bf16"])
# Rows, columns, group.
SHAPES = {
    "sdxl-64": (2048, 640, 64),
    "sdxl-32": (1024, 1280, 256),
    "sdxl-geglu": (512, 5120, 256),
    "pixart": (1024, 1152, 64),
    "flux": (768, 3072, 256),
    "flux-single": (200, 15360, 256),
    "widest": (33, 16384, 256),
    "one-row": (1, 3072, 256),
    "narrow": (5001, 16, 16),
    "ragged": (777, 272, 4),
}


class OnCard:
    """A problem's tensors on the card; the integers lie in rows that are 16 bytes longer."""

    def __init__(self, problem):
        self.operands = operands = Operands(problem)
        names = ("x", "norm_weight", "norm_bias", "shift", "gain")
        self.given = {name: getattr(operands, name) for name in names if getattr(operands, name) is not None}
        self.given = {name: tensor.to(DEVICE).contiguous() for name, tensor in self.given.items()}
        rows, columns = problem.rows, problem.columns
        self.memory = torch.full((rows, columns + 16), 99, dtype=torch.int8, device=DEVICE)
        self.scales = torch.full((rows,), float("nan"), device=DEVICE)

    def arguments(self, **changes):
        problem, x = self.operands.problem, self.given["x"]
        values = {
            "dtype": CODES[problem.dtype],
            "preparation": problem.preparation,
            "rows": problem.rows,
            "columns": problem.columns,
            "x_stride": x.shape[1],
            "rows_per_batch": problem.rows_per_batch,
            "modulation_stride": problem.columns,
            "epsilon": problem.epsilon,
            "group": problem.group,
            "values": self.memory.data_ptr(),
            "values_stride": self.memory.stride(0),
            "scales": self.scales.data_ptr(),
        }
        values |= {name: tensor.data_ptr() for name, tensor in self.given.items()}
        return QuantizeArgs(**values | changes)

    def queue(self, **changes):
        device = torch.cuda.current_device()
        quantize_rows(self.arguments(**changes), device, torch.cuda.current_stream().cuda_stream)

    def verdict(self):
        """What came out, beside the reference."""
        torch.cuda.synchronize()
        columns = self.operands.problem.columns
        assert bool((self.memory[:, columns:] == 99).all()), "written between the rows"
        self.operands.values.copy_(self.memory[:, :columns].cpu())
        self.operands.scales.copy_(self.scales.cpu().unsqueeze(1))
        return judge(self.operands)


def check(problem):
    on_card = OnCard(problem)
    on_card.queue()
    verdict = on_card.verdict()
    assert verdict.right, f"{verdict.scales:.3g} {verdict.values:.3g} times as far off as allowed: {problem}"
    return verdict


@BOTH
@pytest.mark.parametrize("preparation", Preparation, ids=lambda each: each.name.lower())
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_parity(shape, preparation, dtype):
    rows, columns, group = shape
    more = {"weights": "wb", "rows_per_batch": 100} if preparation in NORMS else {}
    verdict = check(
        Problem(rows=rows, columns=columns, group=group, preparation=preparation, dtype=dtype, seed=rows, **more)
    )
    assert verdict.ties <= 2 + 1e-4 * verdict.numbers


@BOTH
@pytest.mark.parametrize("pattern", ["ties", "integers"])
def test_integers_of_exact_numbers_are_the_very_ones(dtype, pattern):
    assert check(Problem(rows=500, columns=1280, group=256, pattern=pattern, dtype=dtype)).ties == 0


@BOTH
@pytest.mark.parametrize("pattern", ["zeros", "offset", "outliers", "tiny", "large"])
@pytest.mark.parametrize("preparation", Preparation, ids=lambda each: each.name.lower())
def test_unusual_numbers(preparation, pattern, dtype):
    check(Problem(rows=100, columns=768, group=64, preparation=preparation, pattern=pattern, dtype=dtype))


@pytest.mark.parametrize("broken", [float("nan"), float("inf")], ids=str)
def test_a_number_that_is_none_shows_in_its_row_s_scale_and_in_no_other(broken):
    on_card = OnCard(Problem(rows=40, columns=1280, group=256))
    on_card.given["x"][11, 300] = broken
    on_card.queue()
    assert torch.nonzero(~on_card.scales.isfinite()).flatten().tolist() == [11]


def test_the_same_bits_every_time_and_in_a_graph():
    problem = Problem(rows=1000, columns=3072, group=256, preparation=Preparation.LAYER_NORM, rows_per_batch=300)
    first, second = OnCard(problem), OnCard(problem)
    first.queue()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        second.queue()
    for _ in range(20):
        second.memory.fill_(99)
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(first.memory, second.memory)
        assert torch.equal(first.scales, second.scales)


def test_more_than_two_gigabytes_of_rows():
    rows, columns = 200_000, 6144
    x = torch.ones(rows, columns, dtype=torch.float16, device=DEVICE)
    x[-1] = 254
    values, scales = torch.zeros(rows, columns, dtype=torch.int8, device=DEVICE), torch.zeros(rows, device=DEVICE)
    args = QuantizeArgs(rows=rows, columns=columns, x=x.data_ptr(), x_stride=columns, values_stride=columns)
    args.values, args.scales = values.data_ptr(), scales.data_ptr()
    quantize_rows(args, torch.cuda.current_device(), torch.cuda.current_stream().cuda_stream)
    assert bool((values == 127).all())
    assert scales[-1].item() == 2
    assert bool((scales[:-1] == torch.tensor(1.0, device=DEVICE) / 127).all())


def test_what_no_kernel_takes_is_unsupported():
    on_card = OnCard(Problem())
    with pytest.raises(Unsupported, match="columns is 24, no multiple of 16"):
        on_card.queue(columns=24)
