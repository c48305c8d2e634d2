"""Products with several layers at once on the emulator: queries, keys and values with norms and rotations of heads."""

import ctypes
from dataclasses import dataclass
from pathlib import Path

import torch
from emulated_linear import CODES, LinearEmulator, Report
from emulator_build import Conditions
from guarded_memory import guarded
from linear_instances import InstanceInfo

from mezzotint_kernels.abi import LinearArgs, LinearPart, PartFlags

NORM, ROTATE = int(PartFlags.PART_NORM), int(PartFlags.PART_ROTATE)
EPSILON = 1e-5


@dataclass(frozen=True, slots=True, kw_only=True)
class PartsProblem:
    """One product with several layers."""

    rows: int = 70
    depth: int = 80
    columns: tuple[int, ...] = (128, 128, 128)
    flags: tuple[int, ...] = (NORM | ROTATE, NORM | ROTATE, 0)
    head_dim: int = 64
    rotation_rows: int = 35
    bias: bool = True
    weighted: bool = True  # the norms
    dtype: torch.dtype = torch.bfloat16
    late_copies: bool = True
    turing: bool = False
    stubborn: bool = False
    splits: int = 1  # of the columns of x
    seed: int = 0


class PartsOperands:
    """A problem's matrices, each of which ends at an inaccessible page."""

    def __init__(self, problem: PartsProblem) -> None:
        self.problem, self._kept = problem, []
        self._lots = torch.Generator().manual_seed(problem.seed)
        p = problem
        self.x = self._integers(p.rows, p.depth)
        self.x_scales = self._floats(torch.float32, p.rows, scale=0.01)
        self.weights = [self._integers(columns, p.depth) for columns in p.columns]
        self.scales = [self._floats(torch.float32, columns, scale=0.01) for columns in p.columns]
        self.biases = [self._floats(p.dtype, columns) if p.bias else None for columns in p.columns]
        self.norms = [self._floats(p.dtype, p.head_dim) if p.weighted and flags & NORM else None for flags in p.flags]
        angles = torch.rand(p.rotation_rows, p.head_dim // 2, generator=self._lots) * 6
        self.rotations = self._memory(torch.stack([angles.cos(), angles.sin()], dim=-1))
        self.out = self._memory(torch.full((p.rows, sum(p.columns)), -777.0, dtype=p.dtype))

    def _memory(self, values: torch.Tensor) -> torch.Tensor:
        size = values.numel() * values.element_size()
        flat = torch.frombuffer(guarded(size, self._kept), dtype=values.dtype, count=values.numel())
        return flat.copy_(values.flatten()).view(values.shape)

    def _integers(self, *size: int) -> torch.Tensor:
        return self._memory(torch.randint(-127, 128, size, generator=self._lots).to(torch.int8))

    def _floats(self, dtype: torch.dtype, count: int, scale: float = 1.0) -> torch.Tensor:
        return self._memory(((torch.rand(count, generator=self._lots) + 0.5) * scale).to(dtype))

    def arguments(self) -> LinearArgs:
        """Return the argument struct of the library."""
        p = self.problem
        arguments = LinearArgs(
            dtype=CODES[p.dtype],
            weight_bits=8,
            x_bits=8,
            rows=p.rows,
            in_columns=p.depth,
            out_columns=sum(p.columns),
            x=self.x.data_ptr(),
            x_stride=p.depth,
            x_scales=self.x_scales.data_ptr(),
            weight_stride=p.depth,
            out=self.out.data_ptr(),
            out_stride=sum(p.columns),
            part_count=len(p.columns),
            head_dim=p.head_dim,
            epsilon=EPSILON,
            rotations=self.rotations.data_ptr(),
            rotation_rows=p.rotation_rows,
        )
        for number, columns in enumerate(p.columns):
            bias, norm = self.biases[number], self.norms[number]
            arguments.parts[number] = LinearPart(
                weight=self.weights[number].data_ptr(),
                weight_scales=self.scales[number].data_ptr(),
                bias=None if bias is None else bias.data_ptr(),
                norm_weight=None if norm is None else norm.data_ptr(),
                out_columns=columns,
                flags=p.flags[number],
            )
        return arguments

    def wanted(self) -> torch.Tensor:
        """Return the output in float64."""
        return torch.cat([self._part(number) for number in range(len(self.weights))], dim=1)

    def _part(self, number: int) -> torch.Tensor:
        p = self.problem
        out = self.x.double() @ self.weights[number].double().T * self.x_scales.double()[:, None]
        out = out * self.scales[number].double()
        bias, norm = self.biases[number], self.norms[number]
        out = out if bias is None else out + bias.double()
        heads = out.unflatten(1, (-1, p.head_dim))
        if p.flags[number] & NORM:
            heads = heads / (heads.square().mean(-1, keepdim=True) + EPSILON).sqrt()
            heads = heads if norm is None else heads * norm.double()
        if p.flags[number] & ROTATE:
            by = self.rotations.double()[torch.arange(p.rows) % p.rotation_rows][:, None]
            pairs = torch.view_as_complex(heads.unflatten(-1, (-1, 2)).contiguous())
            heads = torch.view_as_real(pairs * torch.view_as_complex(by.contiguous())).flatten(-2)
        return heads.flatten(1)


class PartsEmulator(LinearEmulator):
    """Runs products with several layers."""

    def __init__(self, library: Path) -> None:
        super().__init__(library)

    def fitting(self, problem: PartsProblem) -> list[int]:
        """Return the instances that support the problem."""

        def fits(each: InstanceInfo) -> bool:
            kinds = (False, False, False, False, problem.splits > 1, False)
            same = each.multiplies == (8, 8, CODES[problem.dtype], *kinds)
            whole = not any(columns % each.tile_n for columns in problem.columns)
            return same and whole and each.tile_n % problem.head_dim == 0

        return [number for number, each in enumerate(self.instances) if fits(each)]

    def run_parts(self, problem: PartsProblem, number: int) -> tuple[float, Report]:
        """Run one instance; returns the largest error relative to what rounding allows."""
        operands, report = PartsOperands(problem), Report()
        conditions = Conditions(
            late_copies=problem.late_copies,
            seed=problem.seed,
            turing=problem.turing,
            stubborn=problem.stubborn,
            tiles_per_block=problem.splits,
        )
        arguments = operands.arguments()
        sums = torch.empty(problem.splits * -(-problem.rows // 64) * sum(problem.columns) * 64, dtype=torch.int32)
        arguments.workspace, arguments.workspace_bytes = sums.data_ptr(), sums.numel() * 4
        self._library.emulator_linear(ctypes.byref(arguments), number, ctypes.byref(conditions), ctypes.byref(report))
        wanted, out = operands.wanted(), operands.out.double()
        allowed = wanted.abs() * torch.finfo(problem.dtype).eps / 2 + wanted.abs().max() * 2.0**-20
        errors = (out - wanted).abs() / allowed
        return float("inf") if bool(errors.isnan().any()) else float(errors.max()), report
