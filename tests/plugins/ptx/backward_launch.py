"""Run attention's backward pass from its PTX: the tensors of a case, the parameter struct, and the three launches."""

import ctypes
import re
from collections.abc import Callable
from dataclasses import dataclass

import torch
from emulated_backward import BackwardTensors, Case
from ptx.attention_launch import LOG2_E, DropoutParams, TableParams, _Strides, _up, dropout_params, table_params
from ptx.compiled import FORMATS, NAMES
from ptx.machine import launch
from ptx.memory import GlobalMemory
from ptx.program import Program, kernel_of

PASSES = "attention/backward/passes.cu"
ROW_STEP, PASS_THREADS, ROWS_PER_BLOCK, PIECE = 64, 128, 16, 256  # backward/params.h, choose.cpp
_STRIDED = ("q", "k", "v", "out", "out_gradient", "dq", "dk", "dv")


class BackwardParams(ctypes.Structure):
    """The struct of attention/backward/params.h."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("q", "k", "v", "out", "out_gradient", "lse", "lse_gradient")),
        *((name, ctypes.c_void_p) for name in ("dq", "dk", "dv")),
        *((f"{name}_stride", _Strides) for name in _STRIDED),
        *((name, ctypes.c_int32) for name in ("heads", "kv_heads", "group", "nq", "nk", "head_dim")),
        *((name, ctypes.c_int32) for name in ("padded_rows", "key_tiles", "splits", "slices")),
        *((name, ctypes.c_bool) for name in ("causal", "ordered")),
        *((name, ctypes.c_float) for name in ("scale", "factor")),
        *((name, ctypes.c_void_p) for name in ("key_lengths", "key_mask")),
        ("key_mask_stride", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in ("rows", "sums")),
        ("sum_size", ctypes.c_int64),
        ("dropout", DropoutParams),
        ("table", TableParams),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BackwardKernel:
    """An instance in PTX for one architecture: instance<float16, 64, Shape<1, 4, 64, 2>>."""

    instance: str
    architecture: str = "sm_80"

    @property
    def dtype(self) -> torch.dtype:
        """Dtype of the tensors."""
        return next(dtype for dtype, name in FORMATS.items() if f"<{name}," in self.instance)

    @property
    def _numbers(self) -> list[int]:
        """Head size; key tiles of 16 per warp, warps, queries per tile, stages; the columns of a slice, if given."""
        return [int(word) for word in re.findall(r"\b\d+\b", self.instance)]

    @property
    def head_dim(self) -> int:
        """Columns of queries and keys."""
        return self._numbers[0]

    @property
    def part_dim(self) -> int:
        """Columns of the gradients per block."""
        return self._numbers[5] if len(self._numbers) > 5 else self.head_dim

    @property
    def threads(self) -> int:
        """Threads per block."""
        return 32 * self._numbers[2]

    @property
    def tile_m(self) -> int:
        """Keys per block."""
        return 16 * self._numbers[1] * self._numbers[2]

    @property
    def shared_bytes(self) -> int:
        """Shared memory as computed by traits.h."""
        tile_n, stages = self._numbers[3:5]
        row = 2 * self.head_dim
        return 2 * self.tile_m * row + stages * (2 * tile_n * row + 8 * tile_n) + 2 * self.tile_m * tile_n

    @property
    def source(self) -> str:
        """Its instance file."""
        return f"attention/backward/instances/backward_{FORMATS[self.dtype]}_{self.head_dim}.cu"

    @property
    def name(self) -> str:
        """Prefix of its name in PTX."""
        drops = self.instance.startswith("dropout_")
        numbers = (*self._numbers[:1], "Shape", *self._numbers[1:5], *([] if drops else [self.part_dim]))
        entry = f"attention_backward{'_dropout' * drops}"
        return f"backward_pass.{entry}.{NAMES[self.dtype]}.{'.'.join(map(str, numbers))}."


def backward_programs(
    ptx: Callable[..., str], kernel: BackwardKernel, edit: Callable[[str], str] = lambda text: text
) -> tuple[Program, Program, Program]:
    """Return the passes before, in and after the main loop; `edit` may modify the main one's text to inject a bug."""
    around = ptx(PASSES, kernel.architecture)
    prepare, finish = (
        kernel_of(around, f"backward_pass.{word}.{NAMES[kernel.dtype]}.") for word in ("prepare_rows", "finish_queries")
    )
    return prepare, kernel_of(edit(ptx(kernel.source, kernel.architecture, (kernel.instance,))), kernel.name), finish


def derive(kernel: BackwardKernel, programs: tuple[Program, Program, Program], case: Case) -> BackwardTensors:
    """Run a case; return its tensors, including the resulting gradients."""
    problem, tensors = case.problem, BackwardTensors(case)
    params = _params(kernel, tensors)
    heads = problem.batch * problem.heads
    row_bytes = _up(heads * params.padded_rows * 8, PIECE)
    sums = (params.splits if params.ordered else 1) * params.sum_size * 4
    workspace = torch.full((row_bytes + sums,), 255, dtype=torch.uint8)
    params.rows, params.sums = workspace.data_ptr(), workspace.data_ptr() + row_bytes
    forward = tensors.forward
    given = [forward.q, forward.k, forward.v, forward.out, forward.lse, forward.lengths, forward.mask]
    given += [] if tensors.table is None else [each for each in tensors.table.arrays.values() if each.numel()]
    read = [each for each in (*given, tensors.gradient, tensors.lse_gradient) if each is not None]
    memory = GlobalMemory(read, [tensors.dq, tensors.dk, tensors.dv, workspace])
    grids = (
        (heads * params.padded_rows // ROWS_PER_BLOCK, PASS_THREADS, 0),
        (problem.batch * problem.kv_heads * params.slices * params.splits, kernel.threads, kernel.shared_bytes),
        (-(-params.sum_size // (8 * PASS_THREADS)), PASS_THREADS, 0),
    )
    for program, (blocks, threads, shared) in zip(programs, grids, strict=True):
        launch(program, memory, params, blocks=blocks, threads=threads, shared_bytes=shared)
    memory.give_back()
    return tensors


def _params(kernel: BackwardKernel, tensors: BackwardTensors) -> BackwardParams:
    """Return the parameters that choose.cpp computes from the library's arguments, without the workspace."""
    problem, args = tensors.case.problem, tensors.arguments()
    tiles = -(-problem.nk // kernel.tile_m)
    same = ("heads", "kv_heads", "nq", "nk", "head_dim", "scale", "lse", "lse_gradient", "key_lengths", "key_mask")
    return BackwardParams(
        **{name: getattr(args, name) for name in (*same, *_STRIDED, "key_mask_stride")},
        **{f"{name}_stride": _Strides(*getattr(args, f"{name}_stride")) for name in _STRIDED},
        group=problem.heads // problem.kv_heads,
        padded_rows=_up(problem.nq, ROW_STEP),
        key_tiles=tiles,
        splits=tiles if tensors.case.unordered else tensors.case.splits,
        slices=kernel.head_dim // kernel.part_dim,
        causal=problem.causal,
        ordered=not tensors.case.unordered,
        factor=tensors.forward.scale * LOG2_E,
        sum_size=problem.batch * problem.heads * problem.nq * problem.head_dim,
        dropout=dropout_params(problem),
        table=table_params(tensors.table),
    )
