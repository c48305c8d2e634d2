"""Attention's backward pass on the emulator: run it on tensors and compare with the expected gradients."""

import ctypes
import math
from dataclasses import dataclass, field
from pathlib import Path

import torch
from backward_tiles import Tiles, gradients_by_tiles
from block_tables import GivenTable
from emulated_kernels import CAUSAL, CODES, Problem, Tensors, _Report, dropout_of
from emulator_build import Conditions

from mezzotint.attention.blocks.kernel_tables import transposed
from mezzotint.dispatch.library import KernelPlan, LaunchFailed, Unsupported

UNORDERED = 4
TURING_BYTES = 64 * 1024
GRADIENTS = ("dq", "dk", "dv")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A backward call; `problem` describes everything that forward and backward share."""

    problem: Problem
    splits: int = 1
    unordered: bool = False
    lse_gradient: bool = False

    def serves(self, instance: "InstanceInfo") -> bool:
        """Whether the instance supports it."""
        problem = self.problem
        wanted = (problem.head_dim, CODES[problem.dtype], int(problem.dropout is not None))
        fits = not problem.turing or instance.shared_bytes <= TURING_BYTES
        if problem.table is not None:
            fits = fits and 64 % instance.tile_m == 64 % instance.tile_n == 0
        return (instance.head_dim, instance.dtype, instance.dropout) == wanted and fits


@dataclass
class BackwardTensors:
    """The tensors of a case, each followed by an inaccessible page."""

    case: Case
    forward: Tensors = field(init=False)

    def __post_init__(self) -> None:
        problem = self.case.problem
        self.forward = forward = Tensors(problem)
        generator = torch.Generator().manual_seed(problem.seed + 1)
        out, lse = forward.wanted()
        forward.out.copy_(out)
        forward.lse.copy_(lse)
        swap = problem.tokens_first
        self.table = None
        if forward.table is not None:
            self.table = GivenTable(transposed(forward.table.table), forward.kept)
        self.gradient = forward._random(generator, problem.heads, problem.nq, swap=swap)
        self.lse_gradient = None
        if self.case.lse_gradient:
            self.lse_gradient = forward._guarded(forward.lse.shape, torch.float32)
            self.lse_gradient.copy_(torch.randn(forward.lse.shape, generator=generator))
            self.lse_gradient[lse == -math.inf] = math.nan
        self.dq, self.dk, self.dv = (
            forward._guarded(each.shape, problem.dtype, swap=swap).fill_(math.nan)
            for each in (forward.q, forward.k, forward.v)
        )

    def arguments(self) -> ctypes.Structure:
        """Return the argument struct of the library."""
        from mezzotint_kernels.abi import AttentionBackwardArgs

        problem, forward = self.case.problem, self.forward
        tensors = {name: getattr(forward, name) for name in ("q", "k", "v", "out")}
        tensors |= {"out_gradient": self.gradient, "dq": self.dq, "dk": self.dk, "dv": self.dv}
        return AttentionBackwardArgs(
            dtype=CODES[problem.dtype],
            flags=CAUSAL * problem.causal | UNORDERED * self.case.unordered,
            **{name: getattr(problem, name) for name in ("batch", "heads", "kv_heads", "nq", "nk", "head_dim")},
            **{name: tensor.data_ptr() for name, tensor in tensors.items()},
            **{f"{name}_stride": tensor.stride()[:3] for name, tensor in tensors.items()},
            lse=forward.lse.data_ptr(),
            lse_gradient=None if self.lse_gradient is None else self.lse_gradient.data_ptr(),
            key_lengths=None if forward.lengths is None else forward.lengths.data_ptr(),
            key_mask=None if forward.mask is None else forward.mask.data_ptr(),
            key_mask_stride=0 if forward.mask is None else forward.mask.stride(0),
            scale=forward.scale,
            dropout=dropout_of(problem),
            table=None if self.table is None else ctypes.addressof(self._table_struct()),
        )

    def _table_struct(self) -> ctypes.Structure:
        struct = self.table.struct()
        self.forward.kept.append(struct)
        return struct

    def wanted(self) -> tuple[torch.Tensor, ...]:
        """Return the gradients in float64."""
        forward = self.forward
        q, k, v = (each.double() for each in forward._seen())
        of_lse = None if self.lse_gradient is None else self.lse_gradient.double().nan_to_num(0.0)
        out, lse = forward.wanted()
        return gradients_by_tiles(
            self.gradient.double(),
            q,
            k,
            v,
            out,
            lse,
            hidden=forward.hidden(),
            scale=forward.scale,
            lse_gradient=of_lse,
            dropout=None if self.case.problem.dropout is None else forward.dropped(),
            tiles=Tiles(queries=2048, keys=2048),
        )

    def plain(self, *, from_output: bool = False) -> tuple[torch.Tensor, ...]:
        """Return the gradients computed naively in the problem's dtype.

        With `from_output` delta is the sum of out * gradient, as in every FlashAttention: where one key has all the
        weight, its difference from the weights' gradient is that of a rounded output, and not 0.
        """
        forward, dtype = self.forward, self.case.problem.dtype
        q, k, v = forward._seen()
        group = q.shape[1] // k.shape[1]
        keys, values = (each.repeat_interleave(group, dim=1) for each in (k, v))
        scores = ((q * forward.scale).to(dtype) @ keys.mT).masked_fill(forward.hidden(), -math.inf)
        weights = torch.softmax(scores.float(), dim=-1).nan_to_num(0.0)
        dropped = forward.dropped()
        of_weights = (self.gradient @ values.mT).float() * dropped
        delta = (weights.to(dtype).float() * of_weights).sum(dim=-1, keepdim=True)
        if from_output:
            delta = (forward.out.float() * self.gradient.float()).sum(dim=-1, keepdim=True)
        if self.lse_gradient is not None:
            delta = delta - self.lse_gradient.nan_to_num(0.0).unsqueeze(-1)
        of_scores = (weights * (of_weights - delta)).to(dtype)
        weights = weights * dropped
        dq = (of_scores @ keys) * forward.scale
        dk, dv = (of_scores.mT @ q) * forward.scale, weights.to(dtype).mT @ self.gradient
        return dq, *(each.unflatten(1, (-1, group)).sum(dim=2) for each in (dk, dv))


class InstanceInfo(ctypes.Structure):
    """Properties of a backward instance."""

    _fields_ = tuple(
        (name, ctypes.c_int32)
        for name in (
            "head_dim",
            "part_dim",
            "dtype",
            "dropout",
            "tile_m",
            "tile_n",
            "stages",
            "threads",
            "shared_bytes",
        )
    )


class PlanStruct(ctypes.Structure):
    """The library's plan."""

    _fields_ = (
        ("supported", ctypes.c_int32),
        ("splits", ctypes.c_int32),
        ("kernel", ctypes.c_uint32),
        ("workspace_bytes", ctypes.c_int64),
        ("text", ctypes.c_char * 240),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Errors of a run as multiples of the allowed errors."""

    errors: dict[str, float]  # above 1 is wrong
    bank_conflicts: int
    error: str

    @property
    def right(self) -> bool:
        """Whether the run was correct."""
        return not self.error and max(self.errors.values()) <= 1 and self.bank_conflicts == 0


class BackwardEmulator:
    """The backward part of a library made by `emulator_build.build`."""

    def __init__(self, library: Path) -> None:
        self._library = ctypes.CDLL(str(library))
        self._library.emulator_backward_workspace_bytes.restype = ctypes.c_int64
        self.instances: list[InstanceInfo] = []
        info = InstanceInfo()
        while self._library.emulator_backward_instance(len(self.instances), ctypes.byref(info)):
            self.instances.append(info)
            info = InstanceInfo()

    def numbers(self, case: Case) -> list[int]:
        """Return the instances that support the case."""
        return [number for number, each in enumerate(self.instances) if case.serves(each)]

    def compute(self, case: Case, number: int, order: int | None = None) -> tuple[BackwardTensors, _Report]:
        """Run one instance; `order` seeds the scheduling of warps."""
        tensors, report = BackwardTensors(case), _Report()
        arguments, problem = tensors.arguments(), case.problem
        splits = case.splits
        if case.unordered:  # each block has one tile of keys
            splits = max(1, -(-problem.nk // self.instances[number].tile_m))
        size = self._library.emulator_backward_workspace_bytes(ctypes.byref(arguments), splits)
        arguments.workspace, arguments.workspace_bytes = tensors.forward.workspace(size), size
        conditions = Conditions(
            late_copies=problem.late_copies,
            seed=problem.seed if order is None else order,
            turing=problem.turing,
            stubborn=problem.stubborn,
        )
        self._library.emulator_backward(
            ctypes.byref(arguments), number, splits, ctypes.byref(conditions), ctypes.byref(report)
        )
        return tensors, report

    def run(self, case: Case, number: int) -> Verdict:
        """Run one instance and compare."""
        tensors, report = self.compute(case, number)
        return Verdict(errors=judge(tensors), bank_conflicts=report.bank_conflicts, error=report.error.decode())

    def plan(self, arguments: ctypes.Structure, architecture: int, multiprocessors: int, shared: int) -> PlanStruct:
        """Return the library's plan for a device."""
        plan = PlanStruct()
        self._library.emulator_backward_plan(
            ctypes.byref(arguments), architecture, multiprocessors, shared, ctypes.byref(plan)
        )
        return plan


def judge(tensors: BackwardTensors) -> dict[str, float]:
    """FlashAttention's criterion for gradients: at most 3 times the error of the naive computation in this dtype.

    The naive computation is the worse of two, which differ in delta.
    """
    plain, other = tensors.plain(), tensors.plain(from_output=True)
    return {
        name: _worst(getattr(tensors, name), wanted, first, second)
        for name, wanted, first, second in zip(GRADIENTS, tensors.wanted(), plain, other, strict=True)
    }


def _worst(ours: torch.Tensor, wanted: torch.Tensor, *plain: torch.Tensor) -> float:
    if wanted.numel() == 0:
        return 0.0
    errors = (ours.double() - wanted).abs()
    rounded = wanted.to(ours.dtype)
    roundings = ((rounded + 0.3 - 0.3).double() - rounded.double()).abs().max()
    off = max(float((each.double() - wanted).abs().max()) for each in plain)
    allowed = 3 * off + roundings + 1e-6
    return math.inf if bool(errors.isnan().any()) else float(errors.max() / allowed)


class EmulatedBackwardLibrary:
    """The library's backward functions on the emulator, as the engine calls them: planned for a small card."""

    device_type = "cpu"

    def __init__(self, path: Path) -> None:
        self.launches = 0
        self._library, self._emulator = ctypes.CDLL(str(path)), BackwardEmulator(path)

    def new_backward_arguments(self) -> ctypes.Structure:
        """A zeroed argument structure."""
        from mezzotint_kernels.abi import AttentionBackwardArgs

        return AttentionBackwardArgs()

    def new_table(self) -> ctypes.Structure:
        """A zeroed structure of a block table."""
        from mezzotint_kernels.abi import BlockTableArgs

        return BlockTableArgs()

    def plan_backward(self, arguments: ctypes.Structure, device: int) -> KernelPlan:
        """The kernel for these arguments."""
        plan = self._planned(arguments)
        if not plan.supported:
            raise Unsupported(plan.text.decode())
        return KernelPlan(name=plan.text.decode(), workspace_bytes=plan.workspace_bytes)

    def launch_backward(self, arguments: ctypes.Structure, device: int, stream: int) -> None:
        """Run the kernels."""
        self.launches += 1
        plan, report = self._planned(arguments), _Report()
        assert arguments.workspace_bytes == plan.workspace_bytes
        conditions = Conditions(late_copies=1)
        self._library.emulator_backward(
            ctypes.byref(arguments), plan.kernel, plan.splits, ctypes.byref(conditions), ctypes.byref(report)
        )
        if report.error:
            raise LaunchFailed(report.error.decode())

    def _planned(self, arguments: ctypes.Structure) -> PlanStruct:
        return self._emulator.plan(arguments, 86, 4, 99 * 1024)
