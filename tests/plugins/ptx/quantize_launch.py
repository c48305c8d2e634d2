"""Run row quantization from its PTX: a problem's tensors, the parameter struct, and the launch."""

import ctypes
from collections.abc import Callable

from emulated_quantize import Operands, Problem
from ptx.compiled import NAMES
from ptx.machine import launch
from ptx.memory import GlobalMemory
from ptx.program import Program

SOURCE = "quantize/rows.cu"
TEAM_COLUMNS, TEAMS_OF_A_WARP, MOST_TEAMS = 256, 4, 64
SHARED_BYTES = {8: 3 * MOST_TEAMS * 4, 4: 6 * MOST_TEAMS * 4}  # by bits


class QuantizeParams(ctypes.Structure):
    """The struct of quantize/params.h."""

    _fields_ = (
        ("x", ctypes.c_void_p),
        ("x_stride", ctypes.c_int64),
        *((name, ctypes.c_int32) for name in ("rows", "columns", "teams_per_row", "rows_per_block")),
        ("rows_per_65536_teams", ctypes.c_int32),
        *((name, ctypes.c_void_p) for name in ("norm_weight", "norm_bias", "shift", "gain")),
        ("modulation_stride", ctypes.c_int64),
        ("rows_per_batch", ctypes.c_int32),
        ("epsilon", ctypes.c_float),
        ("group", ctypes.c_uint32),
        ("values", ctypes.c_void_p),
        ("values_stride", ctypes.c_int64),
        ("scales", ctypes.c_void_p),
        ("scales_stride", ctypes.c_int64),
        ("smooth", ctypes.c_void_p),
        ("block_scales", ctypes.c_void_p),
        ("block_scales_stride", ctypes.c_int64),
    )


def name_of(problem: Problem) -> str:
    """Return the prefix of the kernel's name in PTX."""
    if problem.by_group:
        return f"quantize.int4_quantize_groups.{NAMES[problem.dtype]}."
    kernel = "int4_quantize_rows" if problem.bits == 4 else "fp8_quantize_rows" if problem.floats else "quantize_rows"
    return f"quantize.{kernel}.{NAMES[problem.dtype]}.{int(problem.preparation)}."


def quantize(
    program: Program, problem: Problem, spoil: Callable[[Operands], object] = lambda _operands: None
) -> Operands:
    """Run the kernel on a problem; return its tensors, including the resulting integers and scales."""
    operands = Operands(problem)
    spoil(operands)
    params = _params(operands)
    given = (operands.x, operands.norm_weight, operands.norm_bias, operands.shift, operands.gain, operands.smooth)
    memory = GlobalMemory([each for each in given if each is not None], [operands.values, operands.scales])
    teams = params.teams_per_row * params.rows_per_block
    launch(
        program,
        memory,
        params,
        blocks=-(-problem.rows // params.rows_per_block),
        threads=-(-teams // TEAMS_OF_A_WARP) * 32,
        shared_bytes=SHARED_BYTES[problem.bits],
    )
    memory.give_back()
    return operands


def _params(operands: Operands) -> QuantizeParams:
    """Return the parameters that blocks.cpp computes from the library's arguments; few rows per block."""
    problem, args = operands.problem, operands.arguments()
    teams = max(1, -(-problem.columns // TEAM_COLUMNS))
    rows_per_block = next(rows for rows in (1, 2, 4) if rows * teams % TEAMS_OF_A_WARP == 0)
    same = ("x", "rows", "columns", "norm_weight", "norm_bias", "shift", "gain", "epsilon", "group", "values", "scales")
    same = (*same, "scales_stride", "smooth")
    return QuantizeParams(
        **{name: getattr(args, name) for name in same},
        x_stride=2 * args.x_stride,
        modulation_stride=2 * args.modulation_stride,
        values_stride=args.values_stride,
        teams_per_row=teams,
        rows_per_block=rows_per_block,
        rows_per_65536_teams=-(-65536 // teams),
        rows_per_batch=min(args.rows_per_batch, args.rows),
    )
