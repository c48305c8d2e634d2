"""Linear kernels on the emulator: run them on matrices and compare with the expected output."""

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch
from emulator_build import Conditions
from guarded_memory import guarded
from linear_instances import Card, InstanceInfo, Plan, PlanStruct

from mezzotint_kernels.abi import Activation, LinearArgs, LinearPart

CODES = {torch.float16: 0, torch.bfloat16: 1}
TAPS = 9  # of a convolution
GROUP = 64  # columns that share a group scale
E4M3 = torch.float8_e4m3fn
HIGHEST_FLOAT = 448  # of e4m3
HIGHEST = {8: 127, 4: 7}  # largest integer of a weight
UNTOUCHED = -777.0  # fills the gaps between output rows; exact in every dtype


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One product, and the emulator's behaviour."""

    rows: int = 70
    columns: int = 72  # of the output
    depth: int = 128  # columns of x
    bits: int = 8  # of the weight
    x_bits: int = 8
    by_group: bool = False  # scales of both sides by group, instead of by row
    codebook: bool = False  # the weight is codes, and 16 columns share an 8-bit float
    floats: bool = False  # of 8 bits on both sides
    shared_scale: bool = False  # of all rows of the weight
    dtype: torch.dtype = torch.float16
    bias: bool = False
    rank: int = 0
    activation: Activation = Activation.NO_ACTIVATION
    splits: int = 1  # of the columns of x
    image: tuple[int, int, int] | None = None  # of a convolution: pixels of x along its edges, and the stride
    gate: int = 0  # rows that share a gate; 0: none
    residual: str | None = None  # given; out: in place of the output
    gap: int = 0  # chunks of 16 bytes between rows
    pattern: str | None = None  # x, weight: identity matrix; largest: largest values, one sign; positive: floats
    turing: bool = False
    hopper: bool = False  # which has no products of 4-bit integers
    late_copies: bool = True
    stubborn: bool = False  # one warp always runs as long as it can
    seed: int = 0

    @property
    def grouped(self) -> bool:
        """Whether groups of the weight's columns have scales."""
        return self.bits < self.x_bits

    @property
    def taps(self) -> int:
        """Pixels of x that a row of the output sees."""
        return 1 if self.image is None else TAPS

    @property
    def x_rows(self) -> int:
        """Rows of x: of a convolution, pixels of whole images."""
        if self.image is None:
            return self.rows
        height, width, stride = self.image
        return self.rows // (((height - 1) // stride + 1) * ((width - 1) // stride + 1)) * height * width

    @property
    def is_gated(self) -> bool:
        """Whether there is a second layer, whose output is the first one's gate."""
        return self.activation >= Activation.GATED_GELU


@dataclass
class Operands:
    """A problem's matrices, each followed by an inaccessible page."""

    problem: Problem
    kept: list[object] = field(default_factory=list)

    def __post_init__(self) -> None:
        problem = self.problem
        self._lots = torch.Generator().manual_seed(problem.seed)
        rows, columns, depth = problem.rows, problem.columns, problem.depth
        highest = HIGHEST_FLOAT if problem.floats else HIGHEST[problem.bits]
        self.x = self._numbers(problem.x_rows, depth, HIGHEST[problem.x_bits])
        self.codes = self._numbers(columns, problem.taps * depth, highest)
        if problem.x_bits == 4:
            self.x[:, ::5], self.codes[:, ::7] = -8, -8
        if problem.codebook:
            self.codes[:, ::7] = -8
        self.groups = torch.randint(1, 18, (columns, depth // GROUP), generator=self._lots)
        self.codebook = self._codebook() if problem.codebook else None
        if problem.pattern in ("x", "weight"):
            identity = torch.eye(max(rows, columns), depth).to(self.x.dtype)
            self.x = identity[:rows] if problem.pattern == "x" else self.x
            self.codes = identity[:columns] if problem.pattern == "weight" else self.codes
        if problem.pattern == "largest":
            least = -HIGHEST_FLOAT if problem.floats else -8 if problem.x_bits == 4 else -127
            self.x = torch.full_like(self.x, least)
            self.codes, self.groups = torch.full_like(self.codes, highest), torch.full_like(self.groups, 17)
        plain = problem.pattern in ("x", "weight")
        self.x_scales = self._vector(problem.x_rows, torch.float32, plain=plain)
        self.weight_scales = self._vector(1 if problem.shared_scale else columns, torch.float32, plain=plain)
        self.stored_x = self._stored(self.x, problem.x_bits)
        self.weight = self._stored(self.codes, problem.bits)
        self._store_groups()
        self._scale_groups(plain=plain)
        self._add_rest()

    def _stored(self, integers: torch.Tensor, bits: int) -> torch.Tensor:
        rows, columns = integers.shape
        if self.problem.floats:
            return self._matrix(rows, columns, torch.int8).copy_(integers.to(torch.float8_e4m3fn).view(torch.int8))
        if bits == 8:
            return self._matrix(rows, columns, torch.int8).copy_(integers)
        pairs = integers.view(rows, columns // 2, 2).to(torch.int16) & 15
        return self._matrix(rows, columns // 2, torch.uint8).copy_(pairs[..., 0] | pairs[..., 1] << 4)

    def _store_groups(self) -> None:
        problem = self.problem
        self.group_scales = None
        if not problem.grouped:
            return
        if problem.codebook:
            self.groups = (torch.rand(problem.columns, problem.depth // 16, generator=self._lots) * 150).to(E4M3)
            self.group_scales = self._matrix(problem.columns, problem.depth // 16, torch.uint8, step=2)
            self.group_scales.copy_(self.groups.view(torch.uint8))
            return
        self.group_scales = self._matrix(problem.columns, problem.depth // GROUP, torch.uint8, step=1)
        self.group_scales.copy_(self.groups)

    def _codebook(self) -> torch.Tensor:
        """Levels, some of which are clipped with some scales."""
        return self._vector(16, torch.float32).copy_(torch.randn(16, generator=self._lots).sort()[0])

    def _scale_groups(self, *, plain: bool) -> None:
        """Scales by group: of x with room for whole chunks of 4 rows, which are read."""
        problem, groups = self.problem, self.problem.depth // GROUP
        self.x_group_scales = self.weight_group_scales = None
        if not problem.by_group:
            return
        self.x_group_scales = self._matrix(groups, -(-problem.rows // 4) * 4, torch.float32)
        self.weight_group_scales = self._matrix(groups, problem.columns, torch.float16)
        for each, unit in ((self.x_group_scales, 0.001), (self.weight_group_scales, 1)):
            drawn = (torch.rand(each.shape, generator=self._lots) + 0.5) * unit
            each.copy_(torch.ones(each.shape) if plain else drawn)

    def _add_rest(self) -> None:
        problem = self.problem
        rows, columns, dtype = problem.rows, problem.columns, problem.dtype
        self.bias = self._vector(columns, dtype) if problem.bias else None
        self.branch_x = self._random(rows, problem.rank) if problem.rank else None
        self.branch_up = self._random(columns, problem.rank) if problem.rank else None
        self.gate = self._random(-(-rows // problem.gate), columns) if problem.gate else None
        self.out = self._matrix(rows, columns, dtype)
        tiles = -(-rows // 64) * -(-columns // 64) if problem.splits > 1 else 0
        self.workspace = self._matrix(problem.splits, tiles * 64 * 64, torch.int32)
        self.residual = self._random(rows, columns) if problem.residual == "given" else None
        if problem.residual == "out":
            self.residual = self.out.copy_(torch.randn(rows, columns, generator=self._lots))
        self.before = self.out.double().clone() if problem.residual == "out" else None
        self.second: Operands | None = None
        if problem.is_gated:
            plain = replace(problem, activation=Activation.NO_ACTIVATION, seed=problem.seed + 1)
            self.second = Operands(plain)
            self.second.x, self.second.x_scales = self.x, self.x_scales

    def _integers(self, rows: int, columns: int, highest: int) -> torch.Tensor:
        return torch.randint(-highest, highest + 1, (rows, columns), generator=self._lots).to(torch.int8)

    def _numbers(self, rows: int, columns: int, highest: int) -> torch.Tensor:
        if not self.problem.floats:
            return self._integers(rows, columns, highest)
        drawn = torch.randn(rows, columns, generator=self._lots) * 60
        drawn[:, ::3] /= 2**13  # below the smallest number that is not subnormal
        drawn = drawn.abs() if self.problem.pattern == "positive" else drawn
        return drawn.clamp(-HIGHEST_FLOAT, HIGHEST_FLOAT).to(torch.float8_e4m3fn).float()

    def _random(self, rows: int, columns: int) -> torch.Tensor:
        return self._matrix(rows, columns, self.problem.dtype).copy_(torch.randn(rows, columns, generator=self._lots))

    def _vector(self, count: int, dtype: torch.dtype, *, plain: bool = False) -> torch.Tensor:
        made = torch.frombuffer(guarded(count * dtype.itemsize, self.kept), dtype=dtype, count=count)
        if plain:
            return made.fill_(1)
        values = torch.rand(count, generator=self._lots) + 0.5
        return made.copy_(values / 1000 if dtype is torch.float32 else values - 1)

    def _matrix(self, rows: int, columns: int, dtype: torch.dtype, step: int = 16) -> torch.Tensor:
        """Allocate a matrix that ends at an inaccessible page, with gaps between rows that kernels must not use."""
        stride = columns + self.problem.gap * step // dtype.itemsize
        count = (rows - 1) * stride + columns
        if count <= 0 or columns == 0:
            return torch.empty(rows, columns, dtype=dtype)
        flat = torch.frombuffer(guarded(count * dtype.itemsize, self.kept), dtype=dtype, count=count)
        flat.fill_(UNTOUCHED if dtype.is_floating_point else 99)
        return flat.as_strided((rows, columns), (stride, 1))

    def arguments(self) -> LinearArgs:
        """Return the argument struct of the library."""
        problem = self.problem
        names = (
            "weight",
            "group_scales",
            "x_group_scales",
            "weight_group_scales",
            "branch_x",
            "branch_up",
            "gate",
            "residual",
            "out",
        )
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None} | {"x": self.stored_x}
        by_row = {"x_scales": self.x_scales, "weight_scales": self.weight_scales}
        vectors = {} if problem.by_group else by_row
        vectors |= {} if self.bias is None else {"bias": self.bias}
        vectors |= {} if self.codebook is None else {"codebook": self.codebook}
        made = LinearArgs(
            dtype=CODES[problem.dtype],
            weight_bits=problem.bits,
            x_bits=problem.x_bits,
            floats=problem.floats,
            shares_weight_scale=problem.shared_scale,
            rows=problem.rows,
            in_columns=problem.depth,
            out_columns=problem.columns,
            rank=problem.rank,
            rows_per_batch=problem.gate,
            **{name: tensor.data_ptr() for name, tensor in (given | vectors).items()},
            **{f"{name}_stride": tensor.stride(0) for name, tensor in given.items()},
            activation=problem.activation,
            workspace=self.workspace.data_ptr() if problem.splits > 1 else None,
            workspace_bytes=self.workspace.numel() * 4,
        )
        if problem.image is not None:
            made.image_height, made.image_width, made.image_stride = problem.image
        if self.second is not None:
            made.weight = made.weight_scales = made.bias = None
            made.part_count = 2
            made.parts[0], made.parts[1] = self._part(), self.second._part()
        return made

    def _part(self) -> LinearPart:
        return LinearPart(
            weight=self.weight.data_ptr(),
            weight_scales=self.weight_scales.data_ptr(),
            bias=None if self.bias is None else self.bias.data_ptr(),
            out_columns=self.problem.columns,
        )

    # ---- expected output

    def integers(self) -> torch.Tensor:
        """Return the weight's integers with group scales applied, (columns, depth)."""
        if self.codebook is not None:
            levels = self.codebook[(self.codes & 15).long()] * self.groups.float().repeat_interleave(16, dim=1)
            return levels.round().clamp(-127, 127).double()
        codes = self.codes.double()
        if not self.problem.grouped:
            return codes
        return codes * self.groups.repeat_interleave(GROUP, dim=1)

    def _products(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return x times the weight in float64, and what its rounding errors are relative to."""
        if self.problem.image is not None:
            seen = self._seen()
            scales = self.weight_scales.double()
            return seen @ self.codes.double().T * scales, seen.abs() @ self.codes.double().abs().T * scales
        if self.x_group_scales is None or self.weight_group_scales is None:
            scales = self.x_scales.double().unsqueeze(1) * self.weight_scales.double()
            out = self.x.double() @ self.integers().T * scales
            return out, out.abs() + self._cut_off() * scales
        x = self.x.double() * self.x_group_scales.double().T[: self.problem.rows].repeat_interleave(GROUP, dim=1)
        weight = self.codes.double() * self.weight_group_scales.double().T.repeat_interleave(GROUP, dim=1)
        return x @ weight.T, x.abs() @ weight.abs().T

    def _seen(self) -> torch.Tensor:
        """The nine pixels that each row of the output sees, (rows, 9 * depth), times their scales."""
        assert self.problem.image is not None
        height, width, stride = self.problem.image
        pixels = (self.x.double() * self.x_scales.double()[:, None]).view(-1, height, width, self.problem.depth)
        padded = torch.nn.functional.pad(pixels, (0, 0, 1, 1, 1, 1))
        taps = [
            padded[:, y : y + height : stride, x : x + width : stride].flatten(0, 2) for y in range(3) for x in range(3)
        ]
        return torch.cat(taps, dim=1)

    def wanted(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the output in float64, and the sum of the magnitudes of its terms."""
        out, size = self._products()
        if self.bias is not None:
            out, size = out + self.bias.double(), size + self.bias.double().abs()
        if self.branch_x is not None and self.branch_up is not None:
            branch_x, up = self.branch_x.double(), self.branch_up.double()
            out, size = out + branch_x @ up.T, size + branch_x.abs() @ up.abs().T
        out, size = self._activated(out, size)
        if self.gate is not None:
            gate = self.gate.double()[torch.arange(self.problem.rows) // self.problem.gate]
            out, size = out * gate, size * gate.abs()
        residual = self.before if self.problem.residual == "out" else self.residual
        if residual is not None:
            out, size = out + residual.double(), size + residual.double().abs()
        return out, size

    def _activated(self, out: torch.Tensor, size: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the output after its activation, whose slope is below 1.2."""
        if self.problem.activation == Activation.ACTIVATE_GELU_TANH:
            return torch.nn.functional.gelu(out, approximate="tanh"), 1.2 * size
        if self.second is None:
            return out, size
        gate, gate_size = self.second.wanted()
        silu = self.problem.activation == Activation.GATED_SILU
        gate = torch.nn.functional.silu(gate) if silu else torch.nn.functional.gelu(gate)
        return out * gate, size * gate.abs() + out.abs() * 1.2 * gate_size

    def _cut_off(self) -> torch.Tensor | float:
        """Return what sums of floats may lose in products, in the units of the sum of magnitudes.

        A product keeps 13 bits behind the highest of its largest term; each tile of 64 columns has two of 33 terms.
        """
        if not self.problem.floats:
            return 0.0
        deeper = -self.problem.depth % 64
        largest = [
            torch.nn.functional.pad(each.abs(), (0, deeper)).unflatten(1, (-1, 64)).amax(dim=2).double()
            for each in (self.x, self.codes)
        ]
        return 3 * 33 * 2.0**-13 * (largest[0] @ largest[1].T) / (8 * 2.0**-24)


# ---- running


class Report(ctypes.Structure):
    """Counters and error of a run."""

    _fields_ = (
        ("bank_conflicts", ctypes.c_int64),
        ("matrix_loads", ctypes.c_int64),
        ("products", ctypes.c_int64),
        ("error", ctypes.c_char * 240),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Error of a run as a multiple of the allowed error, and its counters."""

    output: float
    bank_conflicts: int
    products: int
    error: str
    out: torch.Tensor
    operands: Operands

    @property
    def right(self) -> bool:
        """Whether the run was correct."""
        return not self.error and self.output <= 1 and self.bank_conflicts == 0


class LinearEmulator:
    """The linear part of a library made by build()."""

    def __init__(self, library: Path) -> None:
        self._library = ctypes.CDLL(str(library))
        self.instances: list[InstanceInfo] = []
        info = InstanceInfo()
        while self._library.emulator_linear_instance(len(self.instances), ctypes.byref(info)):
            self.instances.append(info)
            info = InstanceInfo()

    def numbers(self, problem: Problem) -> list[int]:
        """Return the instances that support the problem."""
        wanted = (problem.bits, problem.x_bits, CODES[problem.dtype])
        wanted = (*wanted, problem.by_group, problem.codebook, problem.floats, problem.is_gated, problem.splits > 1)
        wanted = (*wanted, problem.image is not None)
        found = enumerate(self.instances)
        return [number for number, each in found if each.multiplies == wanted]

    def run(
        self,
        problem: Problem,
        number: int,
        order: int | None = None,
        spoil: Callable[[Operands], object] = lambda _operands: None,
    ) -> Verdict:
        """Run one instance on one problem and compare; `order` seeds the scheduling of warps."""
        operands, report = Operands(problem), Report()
        spoil(operands)
        seed = problem.seed if order is None else order
        conditions = Conditions(
            late_copies=problem.late_copies,
            seed=seed,
            turing=problem.turing,
            stubborn=problem.stubborn,
            hopper=problem.hopper,
            tiles_per_block=problem.splits,
        )
        arguments = operands.arguments()
        self._library.emulator_linear(ctypes.byref(arguments), number, ctypes.byref(conditions), ctypes.byref(report))
        return Verdict(
            output=judge(operands),
            bank_conflicts=report.bank_conflicts,
            products=report.products,
            error=report.error.decode(),
            out=operands.out,
            operands=operands,
        )

    def plan(
        self,
        card: Card,
        *,
        rows: int,
        depth: int,
        columns: int,
        bits: int = 8,
        x_bits: int = 8,
        dtype: int = 0,
        by_group: bool = False,
        floats: int = 0,
        activation: int = 0,
        workspace_bytes: int = 0,
        parts: Sequence[int] = (),
    ) -> Plan:
        """Return the library's plan for a device; `parts` are the columns of several layers."""
        arguments = LinearArgs(
            dtype=dtype,
            weight_bits=bits,
            x_bits=x_bits,
            floats=floats,
            activation=activation,
            workspace=workspace_bytes and 16,
            workspace_bytes=workspace_bytes,
            rows=rows,
            in_columns=depth,
            out_columns=columns,
        )
        arguments.x_group_scales = arguments.weight_group_scales = 16 if by_group else None  # planning never reads it
        for number, part in enumerate(parts):
            arguments.part_count, arguments.parts[number].out_columns = number + 1, part
        plan = PlanStruct()
        self._library.emulator_linear_plan(
            ctypes.byref(arguments), card.architecture, card.multiprocessors, card.shared_bytes, ctypes.byref(plan)
        )
        instance = self.instances[plan.kernel] if plan.supported else None
        return Plan(instance=instance, shared_bytes=plan.shared_bytes, text=plan.text.decode(), splits=plan.splits)


def judge(operands: Operands) -> float:
    """Return the largest error relative to one rounding of exact sums plus a few roundings in float32.

    Infinite if a value is NaN, or if something was written between the output's rows.
    """
    problem, out = operands.problem, operands.out
    if out.numel() == 0:
        return 0.0
    gaps = out.as_strided((problem.rows - 1, out.stride(0)), (out.stride(0), 1))[:, problem.columns :]
    if not bool((gaps == UNTOUCHED).all()):
        return float("inf")
    wanted, size = operands.wanted()
    info = torch.finfo(problem.dtype)
    wanted = wanted.clamp(info.min, info.max) if problem.dtype is torch.float16 else wanted
    allowed = wanted.abs() * info.eps / 2 + size * (8 + problem.rank / 8) * 2.0**-24 + info.smallest_normal * info.eps
    errors = (out.double() - wanted).abs() / allowed
    return float("inf") if bool(errors.isnan().any()) else float(errors.max())
