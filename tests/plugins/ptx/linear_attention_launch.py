"""Run linear attention from its PTX: a problem's tensors, the parameter struct, and the three launches."""

from collections.abc import Callable

import torch
from emulated_linear_attention import Operands, Problem
from kernel_params import LinearAttentionParams
from ptx.attention_launch import _up
from ptx.compiled import NAMES
from ptx.machine import launch
from ptx.memory import GlobalMemory
from ptx.program import Program, kernel_of

SOURCE = "linear_attention/passes.cu"
TILE, QUERY_TILE, EIGHT = 64, 128, 8  # params.h
KEY_THREADS, JOIN_THREADS, QUERY_THREADS = 128, 128, 256
SUMMARIZE_BYTES = 2 * (2 * TILE * 128 + 2 * TILE)  # two stages of keys, values, and whether they are seen
JOIN_BYTES = 16
APPLY_BYTES = QUERY_TILE * 128 + 2 * TILE * (128 + 16)
PIECE = 256  # alignment of the workspace's parts in bytes


def linear_attention_programs(
    ptx: Callable[..., str],
    problem: Problem,
    architecture: str = "sm_80",
    edit: Callable[[str], str] = lambda text: text,
) -> tuple[Program, Program, Program]:
    """Return the three passes for a problem; `edit` may modify the text to inject a bug."""
    text, dtype = edit(ptx(SOURCE, architecture)), NAMES[problem.dtype]
    summarize, join, apply = (
        f"linear_attention.{name}.{dtype}." for name in ("summarize_keys", "join_sums", "apply_summary")
    )
    mapped = f"{int(problem.map)}."
    return kernel_of(text, summarize + mapped), kernel_of(text, join), kernel_of(text, apply + mapped)


def attend_linearly(
    programs: tuple[Program, Program, Program],
    problem: Problem,
    spoil: Callable[[Operands], object] = lambda _operands: None,
) -> Operands:
    """Run a problem; return its tensors, including the output."""
    operands = Operands(problem)
    spoil(operands)
    params = _params(operands)
    heads = problem.batch * problem.kv_heads
    sum_bytes, part_bytes = _up(problem.splits * params.sum_size * 4, PIECE), _up(params.sum_size * 2, PIECE)
    scale_bytes = heads * params.width // EIGHT * 4
    workspace = torch.full((sum_bytes + 2 * part_bytes + scale_bytes,), 255, dtype=torch.uint8)
    params.sums = workspace.data_ptr()
    params.high = params.sums + sum_bytes
    params.low = params.high + part_bytes
    params.scales = params.low + part_bytes
    given = [operands.q, operands.k, operands.v, operands.mask, operands.lengths]
    memory = GlobalMemory([each for each in given if each is not None], [operands.out, workspace])
    columns = params.column_tiles
    grids = (
        (heads * params.feature_tiles * columns * problem.splits, KEY_THREADS, SUMMARIZE_BYTES),
        (heads * params.width // EIGHT, JOIN_THREADS, JOIN_BYTES),
        (problem.batch * problem.heads * columns * params.query_tiles, QUERY_THREADS, APPLY_BYTES),
    )
    for program, (blocks, threads, shared) in zip(programs, grids, strict=True):
        launch(program, memory, params, blocks=blocks, threads=threads, shared_bytes=shared)
    memory.give_back()
    return operands


def _params(operands: Operands) -> LinearAttentionParams:
    """Return the parameters that plan.cpp computes from the library's arguments, without the workspace."""
    problem, args = operands.problem, operands.arguments()
    same = ("q", "k", "v", "out", "heads", "kv_heads", "nq", "nk", "features", "head_dim", "least", "epsilon")
    return LinearAttentionParams(
        **{name: getattr(args, name) for name in (*same, "key_lengths", "key_mask")},
        **{f"{name}_stride": getattr(args, f"{name}_stride") for name in ("q", "k", "v", "out", "key_mask")},
        group=problem.heads // problem.kv_heads,
        width=problem.head_dim + EIGHT,
        feature_tiles=_divide_up(problem.columns, TILE),
        column_tiles=_divide_up(problem.head_dim, TILE),
        query_tiles=_divide_up(problem.nq, QUERY_TILE),
        splits=problem.splits,
        tiles_per_split=_divide_up(_divide_up(problem.nk, TILE), problem.splits),
        divided=bool(args.divided),
        sum_size=problem.batch * problem.kv_heads * problem.columns * (problem.head_dim + EIGHT),
    )


def _divide_up(number: int, by: int) -> int:
    return -(-number // by)
