"""Quantization kernels on the emulator: run them on tensors and compare with the expected output."""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import torch
from emulated_linear import CODES, Report
from emulator_build import Conditions
from guarded_memory import guarded
from quantize_reference import LARGEST, Changes, Rows, prepare, scales_of

from mezzotint_kernels.abi import Preparation, QuantizeArgs

UNTOUCHED = 99  # fills the gaps between rows of integers
NORMS = (Preparation.LAYER_NORM, Preparation.RMS_NORM)
SMALLEST_INT4, LARGEST_INT4 = -8, 7
GROUP = 64  # columns that share a scale
LARGEST_FLOAT = 448  # of e4m3
SHARES = (1.0, 0.85, 0.7)  # of the scale that clips nothing, in 4 bits
ULP = 2.0**-24
FAINT = 2.0**-115  # smaller numbers may become zero in float32
# Allowed error relative to a row's magnitude: a few successive roundings to float32.
ALLOWED = 8 * ULP


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One quantization, and the emulator's behaviour."""

    rows: int = 5
    columns: int = 256
    group: int = 0
    dtype: torch.dtype = torch.float16
    preparation: Preparation = Preparation.AS_IT_IS
    weights: str = ""  # of the norm: "w", "b" or both
    rows_per_batch: int = 0  # rows that share a modulation; 0: none
    gap: int = 0  # chunks of 16 bytes between rows
    pattern: str = "normal"  # normal, offset, outliers, zeros, integers, ties, tiny, large
    epsilon: float = 1e-6
    bits: int = 8
    by_group: bool = False  # a scale for each 64 columns of a row
    smooth: bool = False  # with scales by group
    floats: bool = False  # of 8 bits
    turing: bool = False
    seed: int = 0

    @property
    def exact(self) -> bool:
        """Whether nothing is rounded before the scale is computed, so that every integer is determined."""
        plain = self.preparation is Preparation.AS_IT_IS and not self.rows_per_batch
        return plain and (not self.group or self.pattern in ("integers", "ties"))


@dataclass
class Operands:
    """A problem's tensors, each followed by an inaccessible page."""

    problem: Problem
    kept: list[object] = field(default_factory=list)

    def __post_init__(self) -> None:
        problem = self.problem
        self._lots = torch.Generator().manual_seed(problem.seed)
        rows, columns, dtype = problem.rows, problem.columns, problem.dtype
        halves = 2 if problem.preparation is Preparation.GEGLU else 1
        self.x = self._matrix(rows, columns * halves, dtype).copy_(self._pattern(rows, columns * halves))
        self.norm_weight = self._random(1, columns)[0] if "w" in problem.weights else None
        self.norm_bias = self._random(1, columns)[0] if "b" in problem.weights else None
        batches = -(-rows // problem.rows_per_batch) if problem.rows_per_batch else 0
        self.shift = self._random(batches, columns) if batches else None
        self.gain = self._random(batches, columns) if batches else None
        self.values = self._matrix(rows, columns * problem.bits // 8, torch.int8)
        self.scales = self._matrix(*((columns // GROUP, rows) if problem.by_group else (rows, 1)), torch.float32, gap=0)
        self.smooth = self._matrix(1, columns, torch.float32)[0] if problem.smooth else None
        if self.smooth is not None:
            self.smooth.copy_(torch.randn(columns, generator=self._lots).exp())

    def _pattern(self, rows: int, columns: int) -> torch.Tensor:
        x = torch.randn(rows, columns, generator=self._lots)
        match self.problem.pattern:
            case "offset":
                return x + 30 * torch.randn(rows, 1, generator=self._lots)
            case "outliers":
                far = torch.rand(rows, columns, generator=self._lots) < 0.01
                return torch.where(far, x * 200, x)
            case "zeros":
                return x * (torch.arange(rows).unsqueeze(1) % 3 == 1)
            case "integers":  # their sums are exact, and many quotients are ties
                return (x * 20).round()
            case "ties":  # every second quotient lies exactly between two integers
                halves = (x * 40).round().clamp(-2 * LARGEST, 2 * LARGEST)
                halves[:, :1] = 2 * LARGEST
                return halves
            case "tiny":
                return x * torch.finfo(self.problem.dtype).smallest_normal
            case "large":
                return (x * 1e4).clamp(-60000, 60000)
        return x

    def _random(self, rows: int, columns: int) -> torch.Tensor:
        return self._matrix(rows, columns, self.problem.dtype).copy_(torch.randn(rows, columns, generator=self._lots))

    def _matrix(self, rows: int, columns: int, dtype: torch.dtype, gap: int | None = None) -> torch.Tensor:
        """Allocate a matrix that ends at an inaccessible page, with gaps between rows that kernels must not use."""
        stride = columns + (self.problem.gap if gap is None else gap) * 16 // dtype.itemsize
        count = (rows - 1) * stride + columns
        if count <= 0 or columns == 0:
            return torch.empty(rows, columns, dtype=dtype)
        flat = torch.frombuffer(guarded(count * dtype.itemsize, self.kept), dtype=dtype, count=count)
        flat.fill_(float("nan") if dtype.is_floating_point else UNTOUCHED)
        return flat.as_strided((rows, columns), (stride, 1))

    def arguments(self) -> QuantizeArgs:
        """Return the argument struct of the library."""
        problem = self.problem
        names = ("x", "norm_weight", "norm_bias", "shift", "gain", "values", "scales", "smooth")
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return QuantizeArgs(
            dtype=CODES[problem.dtype],
            preparation=problem.preparation,
            rows=problem.rows,
            columns=problem.columns,
            x_stride=self.x.stride(0),
            values_stride=self.values.stride(0),
            modulation_stride=self.gain.stride(0) if self.gain is not None else 0,
            rows_per_batch=problem.rows_per_batch,
            epsilon=problem.epsilon,
            group=problem.group,
            bits=problem.bits,
            scale_columns=GROUP if problem.by_group else 0,
            scales_stride=self.scales.stride(0) if problem.by_group else 0,
            floats=problem.floats,
            **{name: tensor.data_ptr() for name, tensor in given.items()},
        )

    def changes(self) -> Changes:
        """Return the preparation of the rows, for the reference."""
        problem = self.problem
        batches = torch.arange(problem.rows) // max(problem.rows_per_batch, 1)
        return Changes(
            preparation=problem.preparation,
            norm_weight=self.norm_weight,
            norm_bias=self.norm_bias,
            shift=None if self.shift is None else self.shift[batches],
            gain=None if self.gain is None else self.gain[batches],
            group=problem.group,
            epsilon=problem.epsilon,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Errors of a run as multiples of the allowed error."""

    scales: float
    values: float
    ties: int  # integers that differ from the reference, but close enough to a tie
    numbers: int
    error: str
    operands: Operands

    @property
    def right(self) -> bool:
        """Whether the run was correct."""
        return not self.error and self.scales <= 1 and self.values <= 1


class QuantizeEmulator:
    """The quantization part of a library made by build()."""

    def __init__(self, library: Path) -> None:
        self._library = ctypes.CDLL(str(library))

    def run(
        self, problem: Problem, order: int | None = None, spoil: Callable[[Operands], object] = lambda _operands: None
    ) -> Verdict:
        """Run one problem and compare; `order` seeds the scheduling of warps."""
        operands, report = Operands(problem), Report()
        spoil(operands)
        seed = problem.seed if order is None else order
        conditions = Conditions(late_copies=1, seed=seed, turing=problem.turing)
        arguments = operands.arguments()
        self._library.emulator_quantize(ctypes.byref(arguments), ctypes.byref(conditions), ctypes.byref(report))
        return judge(operands, report.error.decode())


def judge(operands: Operands, error: str = "") -> Verdict:
    """Compare scales and integers with the reference's.

    An integer may differ by one half plus the errors of the values and the scale; if nothing is rounded beforehand, it
    must be equal. Infinite if something was written between the rows.
    """
    problem = operands.problem
    rows = prepare(operands.x if operands.smooth is None else operands.x.double() * operands.smooth, operands.changes())
    if problem.bits == 4:
        return _judge_int4(operands, _by_group(rows) if problem.by_group else rows, error)
    if problem.floats:
        return _judge_floats(operands, rows, error)
    numbers = rows.values.float() if problem.exact else rows.values
    scales = scales_of(numbers)
    # A product with the rounded inverse of the scale differs from a quotient only at ties.
    quotients = numbers.double() * (1 / scales.float()).double() if problem.exact else numbers / scales
    wanted = quotients.round()  # half to even
    sizes = rows.size.amax(dim=1, keepdim=True) if problem.columns else torch.zeros(problem.rows, 1)
    allowed = torch.zeros(1, 1) if problem.exact else ALLOWED * sizes.double() / scales + 4 * LARGEST * ULP
    faint = torch.zeros(1, 1, dtype=torch.bool) if problem.exact else faint_rows(operands, numbers, sizes)
    off_scales = ((operands.scales.double() - scales).abs() / scales).masked_fill(faint, 0)
    off_values = ((operands.values.double() - quotients.double()).abs() - 0.5).masked_fill(faint, 0)
    differing = (operands.values != wanted).masked_fill(faint, value=False)
    values = worst(at_all(differing) if problem.exact else off_values / allowed)
    if not gaps_are_untouched(operands):
        values = float("inf")
    return Verdict(
        scales=worst(at_all(off_scales != 0) if problem.exact else off_scales / (allowed / LARGEST)),
        values=values,
        ties=int(differing.sum()),
        numbers=differing.numel(),
        error=error,
        operands=operands,
    )


def _judge_int4(operands: Operands, rows: Rows, error: str) -> Verdict:
    """Compare packed integers and scales: the scale is one of three, with the least square error of them.

    Two whose errors hardly differ may be exchanged; integers are those of the scale that was taken.
    """
    numbers, by_group = rows.values, operands.problem.by_group
    scales = operands.scales.double().t().reshape(-1, 1) if by_group else operands.scales.double()
    candidates = torch.stack([scales_of(numbers, LARGEST_INT4 / share) for share in SHARES])
    sizes = rows.size.amax(dim=1, keepdim=True) if numbers.shape[1] else torch.zeros(len(numbers), 1)
    relative = (ALLOWED * sizes.double() / candidates[0] / LARGEST_INT4).clamp(min=4 * ULP)
    off_scales = (candidates - scales).abs().amin(dim=0) / scales / relative
    errors = torch.stack([square_error(numbers, each) for each in candidates])
    taken = square_error(numbers, scales)
    least = errors.amin(dim=0)
    off_errors = (taken - least) / (least * 1e-3 + (sizes * ALLOWED).square() * 64).clamp(min=FAINT)
    integers = unpacked(operands.values).view(numbers.shape)
    quotients = (numbers / scales).clamp(SMALLEST_INT4, LARGEST_INT4)
    off_values = ((integers - quotients).abs() - 0.5) / (2 * LARGEST_INT4 * relative)
    values = max(worst(off_values), worst(off_errors))
    differing = integers != quotients.round()
    return Verdict(
        scales=worst(off_scales),
        values=values if gaps_are_untouched(operands) else float("inf"),
        ties=int(differing.sum()),
        numbers=differing.numel(),
        error=error,
        operands=operands,
    )


def _by_group(rows: Rows) -> Rows:
    """Each group of columns as a row of its own."""
    return Rows(values=rows.values.reshape(-1, GROUP), size=rows.size.reshape(-1, GROUP))


def _judge_floats(operands: Operands, rows: Rows, error: str) -> Verdict:
    """Compare floats of 8 bits and scales.

    A float may differ by half the distance to its neighbours plus the errors of the values and the scale; if nothing is
    rounded beforehand, it must be the one that torch rounds to.
    """
    problem = operands.problem
    numbers = rows.values.float() if problem.exact else rows.values
    scales = scales_of(numbers, LARGEST_FLOAT)
    floats = operands.values.view(torch.float8_e4m3fn).double()
    quotients = numbers * (1 / scales) if problem.exact else numbers / scales
    wanted = quotients.float().clamp(-LARGEST_FLOAT, LARGEST_FLOAT).to(torch.float8_e4m3fn).double()
    differing = (floats != wanted) & ~(floats.isnan() & wanted.isnan())
    sizes = rows.size.amax(dim=1, keepdim=True) if problem.columns else torch.zeros(problem.rows, 1)
    relative = (ALLOWED * sizes.double() / scales / LARGEST_FLOAT).clamp(min=4 * ULP)
    half = (quotients.double().abs() / 16).clamp(min=2.0**-10)
    faint = torch.zeros(1, 1, dtype=torch.bool) if problem.exact else faint_rows(operands, numbers, sizes)
    off_values = ((floats - quotients.double()).abs() - half) / (2 * LARGEST_FLOAT * relative)
    off_scales = (operands.scales.double() - scales).abs() / scales
    values = worst(at_all(differing) if problem.exact else off_values.masked_fill(faint, 0))
    return Verdict(
        scales=worst(at_all(off_scales != 0) if problem.exact else (off_scales / relative).masked_fill(faint, 0)),
        values=values if gaps_are_untouched(operands) else float("inf"),
        ties=int(differing.sum()),
        numbers=differing.numel(),
        error=error,
        operands=operands,
    )


def square_error(numbers: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """Return the sum of square errors `(m, 1)` of rows rounded to 4 bits with these scales."""
    rounded = (numbers / scales).round().clamp(SMALLEST_INT4, LARGEST_INT4) * scales
    return (numbers - rounded).square().sum(dim=1, keepdim=True)


def unpacked(values: torch.Tensor) -> torch.Tensor:
    """Return the 4-bit integers `(m, n)` of bytes `(m, n / 2)`, the even column in the low half."""
    low, high = values << 4 >> 4, values >> 4
    return torch.stack((low, high), dim=2).flatten(1).double()


def worst(errors: torch.Tensor) -> float:
    """Return the largest error, or infinity if one is NaN."""
    return float("inf") if bool(errors.isnan().any()) else float(errors.max()) if errors.numel() else 0.0


def faint_rows(operands: Operands, numbers: torch.Tensor, sizes: torch.Tensor) -> torch.Tensor:
    """Return which rows `(m, 1)` are nonzero but below the error of their values, and were quantized as such."""
    if not operands.problem.columns:
        return torch.zeros(1, 1, dtype=torch.bool)
    least = (ALLOWED * sizes).clamp(min=FAINT)
    largest = numbers.abs().amax(dim=1, keepdim=True)
    values = operands.values.view(torch.float8_e4m3fn) if operands.problem.floats else operands.values
    seen = (values.double() * operands.scales.double()).abs().amax(dim=1, keepdim=True)
    return (largest > 0) & (largest < least) & (seen < 2 * least)


def at_all(wrong: torch.Tensor) -> torch.Tensor:
    """Return infinity where something is wrong, zero elsewhere."""
    return torch.zeros(wrong.shape).masked_fill(wrong, float("inf"))


def gaps_are_untouched(operands: Operands) -> bool:
    """Whether nothing was written between the rows of integers."""
    values = operands.values
    if not operands.problem.gap or values.numel() == 0:
        return True
    gaps = values.as_strided((values.shape[0] - 1, values.stride(0)), (values.stride(0), 1))[:, values.shape[1] :]
    return bool((gaps == UNTOUCHED).all())
