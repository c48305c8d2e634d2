"""GroupNorm's kernels on the emulator: run them on tensors and compare with float64."""

import ctypes
import math
from dataclasses import dataclass, field
from pathlib import Path

import torch
from emulated_linear import CODES, Report
from emulator_build import Conditions
from guarded_memory import guarded

from mezzotint_kernels.group_norm_abi import GroupNormArgs


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One call."""

    dtype: torch.dtype = torch.bfloat16
    batch: int = 1
    pixels: int = 100
    channels: int = 64
    groups: int = 32
    silu: bool = True
    affine: bool = True
    between: int = 0  # unused numbers after each pixel's channels
    mean: float = 0.5
    deviation: float = 1.0
    outlier: float = 0.0  # instead of the first number
    in_place: bool = False
    seed: int = 0


@dataclass
class Operands:
    """A problem's tensors, each followed by an inaccessible page."""

    problem: Problem
    kept: list[object] = field(default_factory=list)

    def __post_init__(self) -> None:
        problem, lots = self.problem, torch.Generator().manual_seed(self.problem.seed)
        shape = (problem.batch, problem.pixels, problem.channels)
        drawn = torch.randn(shape, generator=lots) * problem.deviation + problem.mean
        if problem.outlier:
            drawn[:, 0, 0] = problem.outlier
        self.x = self._guarded(*shape).copy_(drawn)
        self.given = self.x.double()
        self.out = self.x if problem.in_place else self._guarded(*shape).fill_(math.nan)
        self.weight = self._guarded(1, 1, problem.channels).copy_(torch.randn(problem.channels, generator=lots))
        self.bias = self._guarded(1, 1, problem.channels).copy_(torch.randn(problem.channels, generator=lots))

    def _guarded(self, batch: int, pixels: int, channels: int) -> torch.Tensor:
        width = channels + (self.problem.between if pixels > 1 else 0)
        count = (batch * pixels - 1) * width + channels
        memory = guarded(count * 2, self.kept, alignment=16)
        flat = torch.frombuffer(memory, dtype=self.problem.dtype, count=count).fill_(math.nan)
        return flat.as_strided((batch, pixels, channels), (pixels * width, width, 1))

    def arguments(self) -> GroupNormArgs:
        """Return the argument struct of the library, without a workspace."""
        problem = self.problem
        same = ("batch", "pixels", "channels", "groups")
        made = GroupNormArgs(
            **{name: getattr(problem, name) for name in same},
            dtype=CODES[problem.dtype],
            silu=int(problem.silu),
            epsilon=1e-5,
            x=self.x.data_ptr(),
            out=self.out.data_ptr(),
        )
        made.x_stride[:], made.out_stride[:] = self.x.stride()[:2], self.out.stride()[:2]
        if problem.affine:
            made.weight, made.bias = self.weight.data_ptr(), self.bias.data_ptr()
        return made

    def workspace(self, size: int) -> int:
        """Allocate a workspace of NaN; return its address."""
        memory = torch.frombuffer(guarded(size, self.kept, alignment=16), dtype=torch.uint8)
        return int(memory.fill_(255).data_ptr())

    def error(self) -> float:
        """The largest error as a multiple of what is allowed: one rounding, and some of float32 before it."""
        problem = self.problem
        weight, bias = (each.double().flatten() if problem.affine else None for each in (self.weight, self.bias))
        wanted = torch.nn.functional.group_norm(self.given.mT, problem.groups, weight, bias, 1e-5).mT
        grouped = self.given.unflatten(-1, (problem.groups, -1))
        large = grouped.abs().amax((1, 3)) * (grouped.var((1, 3), correction=0) + 1e-5).rsqrt()
        before = 2.0**-20 * (large.max() + 1) * (1 if weight is None else weight.abs().max())
        if problem.silu:
            wanted = torch.nn.functional.silu(wanted)
        allowed = torch.finfo(problem.dtype).eps / 2 * wanted.abs() + before
        errors = (self.out.double() - wanted).abs() / allowed
        return math.inf if bool(errors.isnan().any()) else float(errors.max())


class GroupNormEmulator:
    """GroupNorm of a library made by `emulator_build.build`."""

    def __init__(self, library: Path) -> None:
        self._library = ctypes.CDLL(str(library))
        self._library.emulator_group_norm_workspace_bytes.restype = ctypes.c_int64

    def run(self, problem: Problem, order: int = 0) -> tuple[str, Operands]:
        """Run a problem; return what the machine complained of, and the tensors. `order` seeds the scheduling."""
        operands, report = Operands(problem), Report()
        arguments = operands.arguments()
        size = int(self._library.emulator_group_norm_workspace_bytes(ctypes.byref(arguments)))
        arguments.workspace, arguments.workspace_bytes = operands.workspace(size), size
        conditions = Conditions(late_copies=True, seed=order)
        self._library.emulator_group_norm(ctypes.byref(arguments), ctypes.byref(conditions), ctypes.byref(report))
        return report.error.decode(), operands


class EmulatedGroupNormLibrary:
    """The library's functions for GroupNorm on the CPU, by the emulator."""

    device_type = "cpu"

    def __init__(self, library: Path) -> None:
        self._library = ctypes.CDLL(str(library))
        self._library.emulator_group_norm_workspace_bytes.restype = ctypes.c_int64
        self.launches = 0

    def new_group_norm_arguments(self):
        return GroupNormArgs()

    def group_norm_workspace(self, arguments):
        return int(self._library.emulator_group_norm_workspace_bytes(ctypes.byref(arguments)))

    def launch_group_norm(self, arguments, device, stream):
        self.launches += 1
        report, conditions = Report(), Conditions(late_copies=True)
        self._library.emulator_group_norm(ctypes.byref(arguments), ctypes.byref(conditions), ctypes.byref(report))
        assert not report.error, report.error.decode()
