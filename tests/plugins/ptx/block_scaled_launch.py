"""Run the kernels of block-scaled numbers from their PTX: parameter structs and launches."""

import ctypes
from dataclasses import dataclass

import torch
from emulated_block_scaled import BITS, Product, ProductOperands, Rounding, RoundingOperands
from ptx.compiled import FORMATS, NAMES
from ptx.linear_launch import TILE_DEPTH, LinearParams
from ptx.machine import launch
from ptx.memory import GlobalMemory
from ptx.program import Program
from ptx.quantize_launch import SHARED_BYTES, TEAMS_OF_A_WARP, QuantizeParams, _params

from mezzotint_kernels.block_scaled_abi import BlockFormat

ARCHITECTURE = "sm_120f"
ROWS_SOURCE = "quantize/block_scaled/rows.cu"
TILE_M, TILE_N, STAGES, THREADS = 128, 64, 3, 128


class BlockScaledParams(ctypes.Structure):
    """The struct of gemm/block_scaled/params.h."""

    _fields_ = (
        ("linear", LinearParams),
        *((name, ctypes.c_void_p) for name in ("x_block_scales", "weight_block_scales")),
        *((name, ctypes.c_int64) for name in ("x_block_scales_stride", "weight_block_scales_stride")),
        ("weight_scale", ctypes.c_void_p),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockScaledKernel:
    """The instance with output tiles of 128 x 64."""

    format: BlockFormat
    dtype: torch.dtype

    @property
    def source(self) -> str:
        """Its instance file."""
        return f"gemm/block_scaled/instances/{FORMATS[self.dtype]}.cu"

    @property
    def instance(self) -> str:
        """The instance as written there."""
        return f"instance<{FORMATS[self.dtype]}, MZT_{self.format.name}, Shape128x64>"

    @property
    def name(self) -> str:
        """Prefix of its name in PTX."""
        return f"block_scaled.block_scaled_linear_product.{NAMES[self.dtype]}.{int(self.format)}."

    @property
    def shared_bytes(self) -> int:
        """Shared memory as computed by traits.h."""
        return STAGES * (TILE_M + TILE_N) * (TILE_DEPTH + (8 if self.format is BlockFormat.NVFP4 else 4))


def multiply(kernel: BlockScaledKernel, program: Program, problem: Product) -> ProductOperands:
    """Run a kernel on a problem."""
    operands = ProductOperands(problem)
    params = _linear_params(operands)
    told = {getattr(params, name) for name, kind, *_ in params._fields_ if kind is ctypes.c_void_p}
    told |= {getattr(params.linear, name) for name, kind, *_ in LinearParams._fields_ if kind is ctypes.c_void_p}
    tensors = [each for name, each in vars(operands).items() if isinstance(each, torch.Tensor) and name != "out"]
    memory = GlobalMemory([each for each in tensors if each.data_ptr() in told], [operands.out])
    launch(
        program,
        memory,
        params,
        blocks=params.linear.row_tiles * params.linear.column_tiles,
        threads=THREADS,
        shared_bytes=kernel.shared_bytes,
    )
    memory.give_back()
    return operands


def _linear_params(operands: ProductOperands) -> BlockScaledParams:
    problem, args = operands.problem, operands.block_scaled_arguments()
    same = ("x", "weight", "x_scales", "rows", "out_columns", "x_stride", "weight_stride")
    more = ("bias", "branch_x", "branch_up", "rank", "rows_per_batch", "gate", "residual", "out")
    halves = ("branch_x_stride", "branch_up_stride", "gate_stride", "residual_stride", "out_stride")
    linear = LinearParams(
        **{name: getattr(args.linear, name) for name in (*same, *more)},
        **{name: 2 * getattr(args.linear, name) for name in halves},
        in_bytes=problem.depth * BITS[problem.format] // 8,
        row_tiles=-(-problem.rows // TILE_M),
        column_tiles=-(-problem.columns // TILE_N),
    )
    rest = [name for name, *_ in BlockScaledParams._fields_ if name != "linear"]
    return BlockScaledParams(linear=linear, **{name: getattr(args, name) for name in rest})


def rows_name(problem: Rounding) -> str:
    """Return the prefix of the kernel's name in PTX."""
    words = (NAMES[problem.dtype], int(problem.preparation), int(problem.format))
    return "quantize.block_scaled_quantize_rows." + "".join(f"{word}." for word in words)


def quantize(program: Program, problem: Rounding) -> RoundingOperands:
    """Run the kernel on a problem; return its tensors."""
    operands = RoundingOperands(problem)
    args = operands.block_scaled_arguments()
    params: QuantizeParams = _params(operands)
    params.scales, params.block_scales = args.rows.scales, args.block_scales
    params.block_scales_stride = args.block_scales_stride
    given = (operands.x, operands.norm_weight, operands.norm_bias, operands.shift, operands.gain)
    written = [operands.values, operands.scales, operands.block_scales]
    memory = GlobalMemory([each for each in given if each is not None], written)
    teams = params.teams_per_row * params.rows_per_block
    launch(
        program,
        memory,
        params,
        blocks=-(-problem.rows // params.rows_per_block),
        threads=-(-teams // TEAMS_OF_A_WARP) * 32,
        shared_bytes=SHARED_BYTES[8],
    )
    memory.give_back()
    return operands
