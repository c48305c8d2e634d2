"""Run attention from its PTX: a problem's tensors, the parameter struct, and the launches."""

import ctypes
import math
from dataclasses import dataclass

import torch
from block_tables import GivenTable
from emulated_kernels import HOPPER, Problem, Tensors
from kernel_params import Tiles
from ptx.attention_kernel import AttentionKernel
from ptx.machine import launch
from ptx.memory import GlobalMemory
from ptx.program import Program

LOG2_E = 1.4426950408889634
PASS_THREADS = 128
QUERY_ROWS, KEY_ROWS, SUMMED_ROWS = 16, 64, 256  # int8/params.h
PIECE = 256  # alignment of the workspace's parts in bytes


class _Strides(ctypes.Structure):
    _fields_ = (("batch", ctypes.c_int64), ("head", ctypes.c_int64), ("token", ctypes.c_int64))


class DropoutParams(ctypes.Structure):
    """Dropout of attention/params.h."""

    _fields_ = (("seed", ctypes.c_uint64), ("offset", ctypes.c_uint64), ("kept", ctypes.c_uint32))


class TableParams(ctypes.Structure):
    """BlockTable of attention/params.h."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("row_ptr", "col", "tile", "bits")),
        *((name, ctypes.c_int64) for name in ("stride_batch", "stride_head")),
        ("log2_queries", ctypes.c_int32),
        ("order", ctypes.c_void_p),
    )


class SplitParams(ctypes.Structure):
    """Splits of attention/params.h."""

    _fields_ = (
        *((name, ctypes.c_int32) for name in ("count", "blocks", "chunks", "all_rows")),
        *((name, ctypes.c_void_p) for name in ("sums", "rows")),
    )


class ForwardParams(ctypes.Structure):
    """The struct of attention/params.h."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("q", "k", "v", "out", "lse")),
        *((name, _Strides) for name in ("q_stride", "k_stride", "v_stride", "out_stride")),
        *((name, ctypes.c_int32) for name in ("heads", "heads_per_kv", "nq", "nk")),
        *((name, ctypes.c_int32) for name in ("tiles_per_block", "q_tiles", "slices")),
        ("causal", ctypes.c_bool),
        *((name, ctypes.c_float) for name in ("scale", "factor")),
        *((name, ctypes.c_void_p) for name in ("key_lengths", "key_mask")),
        ("key_mask_stride", ctypes.c_int64),
        ("bias", ctypes.c_void_p),
        ("bias_is_float", ctypes.c_bool),
        ("bias_in_pairs", ctypes.c_bool),
        ("bias_stride", ctypes.c_int64 * 4),
        ("dropout", DropoutParams),
        ("table", TableParams),
        ("splits", SplitParams),
    )


class HopperParams(ctypes.Structure):
    """The struct of attention/hopper/params.h, with tiles in the place of maps."""

    _fields_ = (
        *((name, ctypes.c_ubyte * 128) for name in ("q", "k", "v")),
        ("forward", ForwardParams),
        ("tiles", ctypes.c_uint32),
        ("head_dim", ctypes.c_int32),
        ("rest", ctypes.c_ubyte * (-(ctypes.sizeof(ForwardParams) + 8) % 64)),
    )


class Int8Params(ctypes.Structure):
    """The struct of attention/int8/params.h."""

    _fields_ = (
        ("forward", ForwardParams),
        *((name, ctypes.c_int32) for name in ("head_dim", "padded_dim", "kv_heads", "batch")),
        *((name, ctypes.c_int32) for name in ("q_rows", "k_rows", "chunks")),
        *((name, ctypes.c_void_p) for name in ("q", "k", "v", "q_scale", "k_scale", "v_scale")),
        *((name, ctypes.c_void_p) for name in ("q_mean", "k_sum", "v_largest")),
    )


def attend(
    kernel: AttentionKernel,
    program: Program,
    problem: Problem,
    passes: tuple[Program, ...] = (),
    join: Program | None = None,
) -> "Attended":
    """Run a kernel on a problem; `passes` precede 8-bit scores, and `join` follows where keys are split."""
    tensors = Tensors(problem)
    forward = _forward_params(kernel, tensors)
    given = [tensors.q, tensors.k, tensors.v, tensors.lengths, tensors.mask, tensors.bias]
    given += [] if tensors.table is None else [each for each in tensors.table.arrays.values() if each.numel()]
    written = [tensors.out, tensors.lse]
    told: ctypes.Structure = forward
    if passes:
        told = _int8_params(forward, problem)
        workspace = torch.full((_place(told, problem, 0),), 255, dtype=torch.uint8)
        _place(told, problem, workspace.data_ptr())
        written.append(workspace)
    blocks = -(-forward.q_tiles // forward.tiles_per_block) * forward.slices * problem.batch * problem.heads
    if join is not None:
        written.append(_place_parts(forward, problem, blocks))
    memory = GlobalMemory([each for each in given if each is not None], written)
    if passes:
        _run_passes(passes, memory, told)
    blocks *= forward.splits.count
    if kernel.kind == HOPPER:
        told = _hopper_params(kernel, tensors, forward)
        blocks = -(-told.tiles // forward.tiles_per_block)
    machine = launch(program, memory, told, blocks=blocks, threads=kernel.threads, shared_bytes=kernel.shared_bytes)
    if join is not None:
        chunks = forward.splits.all_rows * forward.splits.chunks
        launch(join, memory, told, blocks=math.ceil(chunks / PASS_THREADS), threads=PASS_THREADS, shared_bytes=0)
    memory.give_back()
    return Attended(tensors=tensors, overlapping=machine.overlapping)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attended:
    """Result of a run."""

    tensors: Tensors
    overlapping: int  # copies in flight at each product, summed


def _forward_params(kernel: AttentionKernel, tensors: Tensors) -> ForwardParams:
    problem, bias = tensors.problem, tensors.bias
    strides = {f"{name}_stride": _Strides(*getattr(tensors, name).stride()[:3]) for name in ("q", "k", "v", "out")}
    pointers = {name: getattr(tensors, name).data_ptr() for name in ("q", "k", "v", "out", "lse")}
    return ForwardParams(
        **pointers,
        **strides,
        heads=problem.heads,
        heads_per_kv=problem.heads // problem.kv_heads,
        nq=problem.nq,
        nk=problem.nk,
        tiles_per_block=max(problem.tiles_per_block, 1),
        q_tiles=_query_tiles(kernel, tensors),
        slices=kernel.head_dim // kernel.slice_dim,
        causal=problem.causal,
        scale=tensors.scale,
        factor=tensors.scale * LOG2_E,
        key_lengths=None if tensors.lengths is None else tensors.lengths.data_ptr(),
        key_mask=None if tensors.mask is None else tensors.mask.data_ptr(),
        key_mask_stride=0 if tensors.mask is None else tensors.mask.stride(0),
        bias=None if bias is None else bias.data_ptr(),
        bias_is_float=bias is not None and bias.dtype is torch.float32,
        bias_in_pairs=bias is not None and _in_pairs(bias),
        bias_stride=(0,) * 4 if bias is None else bias.stride(),
        dropout=dropout_params(problem),
        table=table_params(tensors.table),
        splits=SplitParams(count=1),
    )


def _place_parts(params: ForwardParams, problem: Problem, blocks: int) -> torch.Tensor:
    """Tell of a workspace for a problem's parts, and return it, filled with NaN."""
    count, rows = problem.splits, problem.batch * problem.heads * problem.nq
    sums = count * rows * problem.head_dim
    made = torch.full((sums + 2 * count * rows,), math.nan)
    places = {"sums": made.data_ptr(), "rows": made.data_ptr() + 4 * sums}
    params.splits = SplitParams(count=count, blocks=blocks, chunks=problem.head_dim // 8, all_rows=rows, **places)
    return made


def _query_tiles(kernel: AttentionKernel, tensors: Tensors) -> int:
    given = tensors.table
    if given is None or given.table.row_order is None:
        return -(-tensors.problem.nq // kernel.tile_m)
    return given.table.rows * (given.table.block_q // kernel.tile_m)


def table_params(given: GivenTable | None) -> TableParams:
    """Return the struct for a table."""
    if given is None:
        return TableParams()
    table, arrays = given.table, {name: array.data_ptr() for name, array in given.arrays.items()}
    order = arrays.pop("row_order", None)
    return TableParams(
        **arrays,
        order=order,
        stride_batch=table.stride_batch,
        stride_head=table.stride_head,
        log2_queries=table.block_q.bit_length() - 1,
    )


def dropout_params(problem: Problem) -> DropoutParams:
    """Return the struct for a problem's dropout."""
    asked = problem.dropout
    return DropoutParams() if asked is None else DropoutParams(asked.seed, asked.offset, asked.kept)


def _in_pairs(bias: torch.Tensor) -> bool:
    *others, key = bias.stride()
    aligned = bias.data_ptr() % (2 * bias.dtype.itemsize) == 0
    return key == 1 and aligned and all(stride % 2 == 0 for stride in others)


def _hopper_params(kernel: AttentionKernel, tensors: Tensors, forward: ForwardParams) -> HopperParams:
    params = HopperParams(forward=forward, head_dim=tensors.problem.head_dim)
    params.tiles = forward.q_tiles * tensors.problem.batch * tensors.problem.heads
    for name, rows in (("q", kernel.tile_m), ("k", kernel.tile_n), ("v", kernel.tile_n)):
        tensor = getattr(tensors, name)
        tiles = Tiles(
            first=tensor.data_ptr(),
            sizes=(*reversed(tensor.shape),),
            strides=(*(2 * stride for stride in reversed(tensor.stride()[:3])),),
            columns=64 if kernel.head_dim % 64 == 0 else 32,
            rows=rows,
        )
        ctypes.memmove(getattr(params, name), ctypes.byref(tiles), ctypes.sizeof(tiles))
    return params


def _int8_params(forward: ForwardParams, problem: Problem) -> Int8Params:
    return Int8Params(
        forward=forward,
        head_dim=problem.head_dim,
        padded_dim=0 if problem.half_sums else _up(problem.head_dim, 32),
        kv_heads=problem.kv_heads,
        batch=problem.batch,
        q_rows=0 if problem.half_sums else _up(problem.nq, QUERY_ROWS),
        k_rows=_up(problem.nk, KEY_ROWS),
        chunks=_up(problem.nk, SUMMED_ROWS) // SUMMED_ROWS,
    )


def _place(params: Int8Params, problem: Problem, begin: int) -> int:
    """Set the workspace addresses as workspace.cpp does; return the total bytes."""
    queries, keys, scores = problem.batch * problem.heads, problem.batch * problem.kv_heads, not problem.half_sums
    sizes = {
        "q": queries * params.q_rows * params.padded_dim,
        "k": keys * params.k_rows * params.padded_dim,
        "v": keys * params.k_rows * params.head_dim * (1 if problem.int8_all or problem.int8_fp8 else 2),
        "q_scale": queries * (params.q_rows // QUERY_ROWS) * 8 * 4,
        "k_scale": scores * keys * (params.k_rows // KEY_ROWS) * 4 * 4,
        "v_scale": keys * params.head_dim * 4,
        "q_mean": scores * queries * problem.nq * 4,
        "k_sum": scores * keys * params.chunks * params.head_dim * 4,
        "v_largest": keys * params.chunks * params.head_dim * 4,
    }
    used = 0
    for name, size in sizes.items():
        setattr(params, name, begin + used)
        used += _up(size, PIECE)
    return used


def _run_passes(passes: tuple[Program, ...], memory: GlobalMemory, params: Int8Params) -> None:
    """Run the pass for sums and maxima, then the quantized copies."""
    summarize, quantize = passes
    keys = params.batch * params.kv_heads
    query_blocks = params.batch * params.forward.heads * math.ceil(params.q_rows / KEY_ROWS)
    shared = 2 * max(PASS_THREADS // (params.head_dim // 8), 1) * params.head_dim * 4
    key_blocks = keys * params.k_rows // KEY_ROWS
    for program, blocks in ((summarize, keys * params.chunks), (quantize, query_blocks + key_blocks)):
        launch(program, memory, params, blocks=blocks, threads=PASS_THREADS, shared_bytes=shared)


def _up(value: int, to: int) -> int:
    return -(-value // to) * to
