"""Linear attention's kernels on the emulator: run them on tensors and compare with float64."""

import ctypes
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import torch
from emulated_linear import CODES, Report
from emulator_build import Conditions
from guarded_memory import guarded

from mezzotint.dispatch.library import KernelPlan, LaunchFailed, Unsupported
from mezzotint_kernels.abi import AttentionPlanStruct
from mezzotint_kernels.linear_attention_abi import FeatureMap, LinearAttentionArgs

# Of the sum of the magnitudes of all products: what sums in 32 bits, in two parts of 16, are off by.
ROUNDINGS = {torch.float16: 2.0**-19, torch.bfloat16: 2.0**-15}


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One call, and the emulator's behaviour."""

    map: FeatureMap = FeatureMap.RELU
    dtype: torch.dtype = torch.bfloat16
    batch: int = 1
    heads: int = 2
    kv_heads: int = 2
    nq: int = 70
    nk: int = 90
    features: int = 0  # 0: head_dim
    head_dim: int = 32
    tokens_first: bool = False  # (b, n, h, d) in memory instead of (b, h, n, d)
    key_lengths: tuple[int, ...] | None = None
    key_mask: bool = False  # each second batch item sees no key
    divided: bool = True
    least: float = -math.inf
    epsilon: float = 1e-6
    values_by: float = 1.0
    splits: int = 1
    turing: bool = False
    late_copies: bool = True
    stubborn: bool = False  # one warp always runs as long as it can
    seed: int = 0

    @property
    def columns(self) -> int:
        """Columns of queries and keys."""
        return self.features or self.head_dim


@dataclass
class Operands:
    """A problem's tensors, each followed by an inaccessible page."""

    problem: Problem
    kept: list[object] = field(default_factory=list)

    def __post_init__(self) -> None:
        problem = self.problem
        self._lots = torch.Generator().manual_seed(problem.seed)
        self.q = self._random(problem.heads, problem.nq, problem.columns)
        self.k = self._random(problem.kv_heads, problem.nk, problem.columns)
        self.v = self._random(problem.kv_heads, problem.nk, problem.head_dim).mul_(problem.values_by)
        self.out = self._guarded((problem.batch, problem.heads, problem.nq, problem.head_dim)).fill_(math.nan)
        self.seen = torch.ones(problem.batch, problem.nk, dtype=torch.bool)
        self.mask = self.lengths = None
        if problem.key_mask:
            drawn = torch.rand(problem.batch, problem.nk, generator=self._lots) < 0.7
            drawn[1::2] = False
            self.mask = self._guarded(tuple(drawn.shape), torch.bool).copy_(drawn)
            self.seen &= drawn
        if problem.key_lengths is not None:
            self.lengths = torch.tensor(problem.key_lengths, dtype=torch.int32)
            self.seen &= torch.arange(problem.nk) < self.lengths[:, None]
        self._shown = [each.double() * self.seen[:, None, :, None] for each in (self.k, self.v)]
        for each in (self.k, self.v):  # what is hidden goes nowhere
            each.masked_fill_(~self.seen[:, None, :, None], math.nan)

    def _random(self, heads: int, tokens: int, columns: int) -> torch.Tensor:
        shape = (self.problem.batch, heads, tokens, columns)
        return self._guarded(shape).copy_(torch.randn(shape, generator=self._lots))

    def _guarded(self, shape: tuple[int, ...], dtype: torch.dtype | None = None) -> torch.Tensor:
        dtype, swap = dtype or self.problem.dtype, self.problem.tokens_first and len(shape) == 4
        stored = (shape[0], shape[2], shape[1], shape[3]) if swap else shape
        count = math.prod(stored)
        if count == 0:
            return torch.empty(shape, dtype=dtype)
        alignment = 16 if len(shape) == 4 else 1
        memory = guarded(count * dtype.itemsize, self.kept, alignment=alignment)
        tensor = torch.frombuffer(memory, dtype=dtype, count=count).view(stored)
        return tensor.transpose(1, 2) if swap else tensor

    def workspace(self, size: int) -> int:
        """Allocate a workspace of NaN; return its address."""
        memory = torch.frombuffer(guarded(size, self.kept, alignment=16), dtype=torch.uint8)
        return int(memory.fill_(255).data_ptr())

    def arguments(self) -> LinearAttentionArgs:
        """Return the argument struct of the library, without a workspace."""
        problem = self.problem
        same = ("batch", "heads", "kv_heads", "nq", "nk", "head_dim", "map", "least", "epsilon")
        made = LinearAttentionArgs(
            **{name: getattr(problem, name) for name in same},
            dtype=CODES[problem.dtype],
            features=problem.columns,
            divided=int(problem.divided),
        )
        for name in ("q", "k", "v", "out"):
            tensor = getattr(self, name)
            setattr(made, name, tensor.data_ptr())
            getattr(made, f"{name}_stride")[:] = tensor.stride()[:3]
        if self.mask is not None:
            made.key_mask, made.key_mask_stride = self.mask.data_ptr(), self.mask.stride(0)
        if self.lengths is not None:
            made.key_lengths = self.lengths.data_ptr()
        return made

    def error(self) -> float:
        """The largest error as a multiple of what is allowed; infinity if something is NaN.

        The output is rounded once, and so are features that are not those of the inputs: by half a step each.
        """
        problem = self.problem
        k, v = (each.repeat_interleave(problem.heads // problem.kv_heads, dim=1) for each in self._shown)
        weights = phi(problem.map, self.q.double()) @ phi(problem.map, k).mT * self.seen[:, None, None, :]
        total = weights.sum(-1, keepdim=True)
        divisor = total.clamp(min=problem.least) + problem.epsilon if problem.divided else torch.ones_like(total)
        divisor = divisor.masked_fill(divisor == 0, 1.0)
        wanted = weights @ v / divisor
        of_total = wanted.abs() * weights.abs().sum(-1, keepdim=True) if problem.divided else 0
        size = (weights.abs() @ v.abs() + of_total) / divisor.abs()
        step = torch.finfo(problem.dtype).eps / 2
        roundings = ROUNDINGS[problem.dtype] + (step / 2 if problem.map is FeatureMap.ELU_PLUS_ONE else 0)
        allowed = step * wanted.abs() + roundings * size + torch.finfo(problem.dtype).tiny
        errors = (self.out.double() - wanted).abs() / allowed
        return math.inf if bool(errors.isnan().any()) else float(errors.max()) if errors.numel() else 0.0


def phi(which: FeatureMap, x: torch.Tensor) -> torch.Tensor:
    """Features in float64."""
    match which:
        case FeatureMap.RELU:
            return x.clamp(min=0)
        case FeatureMap.ELU_PLUS_ONE:
            return torch.where(x > 0, x + 1, x.exp())
    return x


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The result of a run."""

    error: str
    off: float  # above 1 is wrong
    bank_conflicts: int
    operands: Operands

    @property
    def right(self) -> bool:
        """Whether the run was correct."""
        return not self.error and self.off <= 1 and self.bank_conflicts == 0


class LinearAttentionEmulator:
    """Linear attention of a library made by `emulator_build.build`."""

    def __init__(self, library: Path) -> None:
        self._library = ctypes.CDLL(str(library))
        self._library.emulator_linear_attention_workspace_bytes.restype = ctypes.c_int64

    def run(
        self, problem: Problem, order: int | None = None, spoil: Callable[[Operands], object] = lambda _operands: None
    ) -> Verdict:
        """Run a problem and compare; `order` seeds the scheduling of warps."""
        operands, report = Operands(problem), Report()
        spoil(operands)
        arguments = operands.arguments()
        self.compute(
            arguments, operands.workspace(self.workspace_bytes(arguments, problem.splits)), problem, report, order
        )
        error = report.error.decode()
        return Verdict(error=error, off=operands.error(), bank_conflicts=report.bank_conflicts, operands=operands)

    def workspace_bytes(self, arguments: LinearAttentionArgs, splits: int) -> int:
        """Return the bytes that so many splits need."""
        return int(self._library.emulator_linear_attention_workspace_bytes(ctypes.byref(arguments), splits))

    def compute(
        self, arguments: LinearAttentionArgs, workspace: int, problem: Problem, report: Report, order: int | None = None
    ) -> None:
        """Run the passes."""
        arguments.workspace = workspace
        conditions = Conditions(
            late_copies=problem.late_copies,
            seed=problem.seed if order is None else order,
            turing=problem.turing,
            stubborn=problem.stubborn,
        )
        self._library.emulator_linear_attention(
            ctypes.byref(arguments), problem.splits, ctypes.byref(conditions), ctypes.byref(report)
        )

    def plan(
        self, arguments: LinearAttentionArgs, architecture: int, multiprocessors: int, shared: int = 100_000
    ) -> AttentionPlanStruct:
        """Return the library's plan for a device."""
        plan = AttentionPlanStruct()
        self._library.emulator_linear_attention_plan(
            ctypes.byref(arguments), architecture, multiprocessors, shared, ctypes.byref(plan)
        )
        return plan


class EmulatedLinearAttentionLibrary:
    """The library's functions on the emulator, as the engine calls them: planned for a small card."""

    device_type = "cpu"
    new_linear_attention_arguments = LinearAttentionArgs

    def __init__(self, path: Path) -> None:
        self.launches = 0
        self._emulator = LinearAttentionEmulator(path)

    def plan_linear_attention(self, arguments: LinearAttentionArgs, device: int) -> KernelPlan:
        """The kernels for these arguments."""
        plan = self._emulator.plan(arguments, 86, 4)
        if not plan.supported:
            raise Unsupported(plan.text.decode())
        return KernelPlan(name=plan.text.decode(), workspace_bytes=plan.workspace_bytes)

    def launch_linear_attention(self, arguments: LinearAttentionArgs, device: int, stream: int) -> None:
        """Run the kernels."""
        self.launches += 1
        splits, report = self._emulator.plan(arguments, 86, 4).kernel, Report()
        assert arguments.workspace_bytes == self._emulator.workspace_bytes(arguments, splits)
        self._emulator.compute(arguments, arguments.workspace, Problem(splits=splits), report)
        if report.error:
            raise LaunchFailed(report.error.decode())
