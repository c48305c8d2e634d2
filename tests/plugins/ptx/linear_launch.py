"""Run the integer product from its PTX: a problem's matrices, the parameter struct, and the launch."""

import ctypes
from dataclasses import dataclass

import torch
from emulated_linear import Operands, Problem
from ptx.compiled import FORMATS, NAMES
from ptx.machine import launch
from ptx.memory import GlobalMemory
from ptx.program import Program

TILE_DEPTH = 64


class LinearPart(ctypes.Structure):
    """The struct of gemm/params.h."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("weight", "weight_scales", "bias", "norm_weight")),
        ("end", ctypes.c_int32),
        ("flags", ctypes.c_uint32),
    )


class LinearParams(ctypes.Structure):
    """The struct of gemm/params.h."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("x", "weight", "group_scales")),
        *((name, ctypes.c_int64) for name in ("x_stride", "weight_stride", "group_scales_stride")),
        *((name, ctypes.c_void_p) for name in ("x_scales", "weight_scales")),
        *((name, ctypes.c_int32) for name in ("rows", "in_bytes", "out_columns")),
        *((name, ctypes.c_void_p) for name in ("bias", "branch_x", "branch_up")),
        *((name, ctypes.c_int64) for name in ("branch_x_stride", "branch_up_stride")),
        *((name, ctypes.c_int32) for name in ("rank", "rows_per_batch")),
        *((name, ctypes.c_void_p) for name in ("gate", "residual", "out")),
        *((name, ctypes.c_int64) for name in ("gate_stride", "residual_stride", "out_stride")),
        *((name, ctypes.c_int32) for name in ("row_tiles", "column_tiles")),
        *((name, ctypes.c_void_p) for name in ("x_group_scales", "weight_group_scales")),
        *((name, ctypes.c_int64) for name in ("x_group_scales_stride", "weight_group_scales_stride")),
        ("codebook", ctypes.c_void_p),
        ("parts", LinearPart * 3),
        ("rotations", ctypes.c_void_p),
        *((name, ctypes.c_int32) for name in ("part_count", "head_dim", "rotation_rows")),
        ("epsilon", ctypes.c_float),
        ("shares_weight_scale", ctypes.c_int32),
        ("activation", ctypes.c_uint32),
        *((name, ctypes.c_int32) for name in ("splits", "tiles_per_split")),
        ("partial_sums", ctypes.c_void_p),
        *((name, ctypes.c_int32) for name in ("image_height", "image_width", "image_step")),
        *((name, ctypes.c_int32) for name in ("out_width", "out_pixels")),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearKernel:
    """The instance with output tiles of 64 x 64."""

    bits: int
    dtype: torch.dtype
    x_bits: int = 8
    floats: bool = False
    architecture: str = "sm_80"
    by_group: bool = False
    codebook: bool = False
    gated: bool = False
    split: bool = False
    convolution: bool = False
    tile = 64
    threads = 128

    @property
    def source(self) -> str:
        """Its instance file."""
        kind = "fp8" if self.floats else "w4a4" if self.x_bits == 4 else f"int{self.bits}"
        kind = "svdquant" if self.by_group else self._kind or kind
        return f"gemm/instances/{FORMATS[self.dtype]}_{kind}.cu"

    @property
    def _kind(self) -> str:
        named = {"grouped": self.by_group, "codebook": self.codebook, "fp8": self.floats, "gated": self.gated}
        named |= {"split": self.split, "convolution": self.convolution}
        return next((name for name, meant in named.items() if meant), "")

    @property
    def instance(self) -> str:
        """The instance as written there."""
        if kind := self._kind:
            return f"{kind}_instance<{FORMATS[self.dtype]}, Shape64x64>"
        rest = ", 4" if self.x_bits == 4 else ""
        return f"instance<{FORMATS[self.dtype]}, {self.bits}, Shape64x64{rest}>"

    @property
    def name(self) -> str:
        """Prefix of its name in PTX."""
        if self.convolution:
            return f"gemm.convolution_product.{NAMES[self.dtype]}.Shape.2.2.2.4.4."
        if kind := self._kind or ("int4" if self.x_bits == 4 else ""):
            return f"gemm.{kind}_linear_product.{NAMES[self.dtype]}.Shape.2.2.2.4.4."
        return f"gemm.linear_product.{NAMES[self.dtype]}.{self.bits}.Shape.2.2.2.4.4."

    @property
    def shared_bytes(self) -> int:
        """Shared memory as computed by traits.h."""
        asynchronous, tile = self.architecture != "sm_75", self.tile * TILE_DEPTH
        stages = 4 if asynchronous else 2
        if self.bits == self.x_bits:
            scales = stages * 2 * self.tile * (4 + 2) if self.by_group else 0  # of two groups: floats and halves
            pixels = 8 * self.tile if self.convolution else 0
            return 2 * stages * tile + scales + pixels
        packed = (stages - 1) * tile // 2 if asynchronous else 0
        return stages * tile + 2 * tile + packed


@dataclass(frozen=True, slots=True, kw_only=True)
class Multiplied:
    """Result of a run."""

    operands: Operands
    overlapping: int  # copies in flight at each product, summed


def multiply(kernel: LinearKernel, program: Program, problem: Problem, then: Program | None = None) -> Multiplied:
    """Run a kernel on a problem; `then` joins the sums that it leaves in the workspace."""
    operands = Operands(problem)
    params = _params(kernel, operands)
    given = [vars(each).items() for each in (operands, operands.second) if each is not None]
    read = [
        each for items in given for name, each in items if name not in ("out", "workspace") and _is_told(each, params)
    ]
    memory = GlobalMemory(read, [operands.out, operands.workspace] if then else [operands.out])
    machine = launch(
        program,
        memory,
        params,
        blocks=params.row_tiles * params.column_tiles * problem.splits,
        threads=kernel.threads,
        shared_bytes=kernel.shared_bytes,
    )
    if then is not None:
        blocks = params.row_tiles * params.column_tiles
        launch(then, memory, params, blocks=blocks, threads=kernel.threads, shared_bytes=kernel.shared_bytes)
    memory.give_back()
    return Multiplied(operands=operands, overlapping=machine.overlapping)


def _is_told(value: object, params: LinearParams) -> bool:
    """Whether it is a tensor whose address is passed to the kernel."""
    structs = (params, *params.parts)
    addresses = {getattr(each, name) for each in structs for name, kind in each._fields_ if kind is ctypes.c_void_p}
    return isinstance(value, torch.Tensor) and value.data_ptr() in addresses


def _params(kernel: LinearKernel, operands: Operands) -> LinearParams:
    """Return the parameters that choose.cpp computes from the library's arguments, whose strides count elements."""
    problem, args = operands.problem, operands.arguments()
    same = ("x", "weight", "group_scales", "x_scales", "weight_scales", "rows", "out_columns")
    more = ("bias", "branch_x", "branch_up", "rank", "rows_per_batch", "gate", "residual", "out")
    more = (*more, "x_group_scales", "weight_group_scales", "codebook", "shares_weight_scale", "activation")
    bytes_ = ("x_stride", "weight_stride", "group_scales_stride")
    halves = ("branch_x_stride", "branch_up_stride", "gate_stride", "residual_stride", "out_stride")
    height, width, stride = problem.image or (0, 0, 1)
    out_width = (width - 1) // stride + 1 if width else 0
    parts = [(part.weight, part.weight_scales, part.bias, None, part.out_columns, 0) for part in args.parts]
    return LinearParams(
        parts=tuple(parts),
        part_count=args.part_count,
        **{name: getattr(args, name) for name in (*same, *more, *bytes_)},
        **{name: 2 * getattr(args, name) for name in halves},
        x_group_scales_stride=4 * args.x_group_scales_stride,
        weight_group_scales_stride=2 * args.weight_group_scales_stride,
        in_bytes=problem.depth * problem.x_bits // 8,
        row_tiles=-(-problem.rows // kernel.tile),
        splits=problem.splits,
        tiles_per_split=-(-(problem.depth * problem.x_bits // 8) // TILE_DEPTH // problem.splits),
        partial_sums=args.workspace,
        image_height=height,
        image_width=width,
        image_step=stride if height else 0,
        out_width=out_width,
        out_pixels=out_width * ((height - 1) // stride + 1),
        column_tiles=-(-problem.columns // (kernel.tile // (1 + problem.is_gated))),
    )
