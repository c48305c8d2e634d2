"""The expected launches of the library, computed independently from the plan and the arguments."""

import ctypes
from collections.abc import Iterator

from stub_cuda import Card, PlanInfo, StubCuda

from mezzotint_kernels.abi import (
    Activation,
    AttentionArgs,
    AttentionFlags,
    BlockTableArgs,
    Dtype,
    LinearArgs,
    Preparation,
    QuantizeArgs,
)

ModelRequest = dict[str, object]

UNASKED = 48 * 1024  # shared memory available without an attribute
FORWARD, SHORT_KEYS, INT8, DROPOUT, INT8_ALL, HALF_SUMS, INT8_FP8, HOPPER = range(8)
BFLOAT16_MAP, FLOAT16_MAP, PROMOTED = 9, 6, 3  # CUtensorMapDataType, of 256 bytes
PASS_THREADS = 128
_LOG2_E = ctypes.c_float(1.4426950408889634).value
_ELEMENTS = {Dtype.FLOAT16: "__half", Dtype.BFLOAT16: "__nv_bfloat16"}


def divide_up(number: int, by: int) -> int:
    """Return the quotient, rounded up."""
    return -(-number // by)


def attention(cuda: StubCuda, args: AttentionArgs, card: Card, *, device: int, **where: object) -> list[ModelRequest]:
    """One launch; two if keys are split; three with 8-bit scores or values in float16; `where` adds more fields."""
    plan = cuda.attention_plan(args, device)
    instance = cuda.instance(plan.kernel, card)
    told = _forward_params(instance, args)
    before: list[ModelRequest] = []
    after: list[ModelRequest] = []
    if instance.kind in (INT8, INT8_ALL, HALF_SUMS, INT8_FP8):
        told = _int8_params(args, told)
        before = list(_passes(args, told))
    if instance.kind == HOPPER:
        return [_hopper(instance, args, told) | where | {"device": device}]
    tiles = divide_up(_query_tiles(instance, args), _tiles_per_block(instance, args))
    blocks = tiles * (instance.head_dim // instance.slice_dim) * args.heads * args.batch
    if plan.workspace_bytes and not before:
        told["splits"] = _splits_told(args, plan.workspace_bytes, blocks)
        after = [_join(args, told)]
        blocks *= told["splits"]["count"]
    main = _planned(instance, blocks=blocks, told=told)
    return [each | where | {"device": device} for each in (*before, main, *after)]


def linear(cuda: StubCuda, args: LinearArgs, card: Card, **where: object) -> list[ModelRequest]:
    """One launch, or where the columns of x are split a second one, which joins their sums."""
    plan = cuda.linear_plan(args, card)
    told = _linear_params(plan, args)
    blocks, splits = told["row_tiles"] * told["column_tiles"], told["splits"]
    first = _planned(plan, blocks=blocks * splits, told=told) | where
    if splits == 1:
        return [first]
    joined = {"kernel": plan.kernel.replace("split_linear", "join_linear"), "grid": (blocks, 1, 1)}
    return [first, first | joined]


def quantize(args: QuantizeArgs, teams: int, rows: int, **where: object) -> list[ModelRequest]:
    """One launch, with `teams` teams of 8 lanes per row and `rows` rows per block."""
    return [
        {
            "kernel": _kernel_of_rows(args),
            "grid": (divide_up(args.rows, rows), 1, 1),
            "block": (divide_up(teams * rows, 4) * 32, 1, 1),
            "shared_bytes": (6 if args.bits == 4 else 3) * 64 * 4,
            "told": _quantize_params(args, teams, rows),
            **where,
        }
    ]


def _planned(plan: PlanInfo, *, blocks: int, told: ModelRequest) -> ModelRequest:
    return {
        "kernel": plan.kernel,
        "grid": (blocks, 1, 1),
        "block": (plan.threads, 1, 1),
        "most_threads": plan.threads,
        "shared_bytes": plan.shared_bytes,
        "allowed_shared_bytes": max(plan.shared_bytes, UNASKED),
        "parameters": 1,
        "told": told,
    }


def _same(args: ctypes.Structure, names: str) -> ModelRequest:
    """Return fields that are passed on unchanged."""
    found = {name: getattr(args, name) for name in names.split()}
    return {name: tuple(value) if isinstance(value, ctypes.Array) else value for name, value in found.items()}


def _doubled(args: ctypes.Structure, names: str) -> ModelRequest:
    """Return strides in 16-bit elements, converted to bytes."""
    return {name: 2 * getattr(args, name) for name in names.split()}


# ---- attention


def _hopper(instance: PlanInfo, args: AttentionArgs, forward: ModelRequest) -> ModelRequest:
    """A block for each of 132 multiprocessors, which takes every so many-th tile of queries."""
    tiles = forward["q_tiles"] * args.heads * args.batch
    keys = (args.kv_heads, args.nk, instance.tile_n)
    told = {
        "q": _map(instance, args, "q", args.heads, args.nq, instance.tile_m),
        **{name: _map(instance, args, name, *keys) for name in ("k", "v")},
        "forward": forward,
        "tiles": tiles,
        "head_dim": args.head_dim,
    }
    return _planned(instance, blocks=divide_up(tiles, forward["tiles_per_block"]), told=told)


def _map(instance: PlanInfo, args: AttentionArgs, name: str, heads: int, tokens: int, rows: int) -> ModelRequest:
    columns = 64 if instance.head_dim % 64 == 0 else 32
    sizes = (args.batch, heads, tokens)
    strides = [2 * each if size > 1 else 16 for size, each in zip(sizes, getattr(args, f"{name}_stride"), strict=True)]
    return {
        "first": getattr(args, name),
        "sizes": (args.head_dim, tokens, heads, args.batch),
        "strides": tuple(reversed(strides)),
        "box": (columns, rows, 1, 1),
        "steps": (1, 1, 1, 1),
        "type": BFLOAT16_MAP if args.dtype == Dtype.BFLOAT16 else FLOAT16_MAP,
        "rank": 4,
        "exchanged": 3 if columns == 64 else 2,
        "promoted": PROMOTED,
        "interleave": 0,
        "filled": 0,
    }


def _tiles_per_block(instance: PlanInfo, args: AttentionArgs) -> int:
    if instance.kind == HOPPER:
        return max(divide_up(_query_tiles(instance, args) * args.heads * args.batch, 132), 1)
    if instance.kind != SHORT_KEYS:
        return 1
    return min(max(divide_up(args.nq, instance.tile_m) * args.heads * args.batch // 640, 1), 16)


def _query_tiles(instance: PlanInfo, args: AttentionArgs) -> int:
    table = BlockTableArgs.from_address(args.table) if args.table else BlockTableArgs()
    return table.rows * table.block_q // instance.tile_m if table.order else divide_up(args.nq, instance.tile_m)


def _forward_params(instance: PlanInfo, args: AttentionArgs) -> ModelRequest:
    return {
        **_same(args, "q k v out lse q_stride k_stride v_stride out_stride heads nq nk scale"),
        **_same(args, "key_lengths key_mask key_mask_stride bias bias_stride"),
        "heads_per_kv": args.heads // args.kv_heads,
        "tiles_per_block": _tiles_per_block(instance, args),
        "q_tiles": _query_tiles(instance, args),
        "slices": instance.head_dim // instance.slice_dim,
        "causal": bool(args.flags & AttentionFlags.CAUSAL),
        "factor": ctypes.c_float(args.scale * _LOG2_E).value,
        "dropout": dropout_told(args),
        "table": table_told(args),
        "splits": {"count": 1, **dict.fromkeys(("blocks", "chunks", "all_rows"), 0), "sums": None, "rows": None},
        "bias_is_float": args.bias_dtype == Dtype.FLOAT32,
        "bias_in_pairs": args.bias_stride[3] == 1 and not any(stride % 2 for stride in args.bias_stride[:3]),
    }


def _splits_told(args: AttentionArgs, workspace_bytes: int, blocks: int) -> ModelRequest:
    """Sums of all rows for each part of the keys, in 32 bits, then two numbers of each of these rows."""
    rows = args.batch * args.heads * args.nq
    count, rest = divmod(workspace_bytes, rows * (4 * args.head_dim + 8))
    assert rest == 0, "the plan asks for as much as is used"
    sums = {"sums": args.workspace, "rows": args.workspace + count * rows * 4 * args.head_dim}
    return {"count": count, "blocks": blocks, "chunks": args.head_dim // 8, "all_rows": rows, **sums}


def _join(args: AttentionArgs, told: ModelRequest) -> ModelRequest:
    """Return the launch that joins parts: a thread for 8 numbers of the output."""
    name = f"join_splits<{_ELEMENTS[args.dtype]}>(mezzotint::ForwardParams)"
    return {
        "kernel": f"void mezzotint::(anonymous namespace)::{name}",
        "grid": (divide_up(args.batch * args.heads * args.nq * args.head_dim // 8, PASS_THREADS), 1, 1),
        "block": (PASS_THREADS, 1, 1),
        "most_threads": PASS_THREADS,
        "shared_bytes": 0,
        "parameters": 1,
        "told": told,
    }


def dropout_told(args: ctypes.Structure) -> ModelRequest:
    """Return the kernels' part of MztDropout."""
    return {name: getattr(args.dropout, name) for name in ("seed", "offset", "kept")}


def table_told(args: ctypes.Structure) -> ModelRequest:
    """Return the kernels' part of MztBlockTable."""
    if not args.table:
        pointers = dict.fromkeys(("row_ptr", "col", "tile", "bits", "order"))
        return {**pointers, "stride_batch": 0, "stride_head": 0, "log2_queries": 0}
    table = BlockTableArgs.from_address(args.table)
    told = _same(table, "row_ptr col tile bits stride_batch stride_head order")
    return {**told, "log2_queries": {64: 6, 128: 7}[table.block_q]}


def _int8_params(args: AttentionArgs, forward: ModelRequest) -> ModelRequest:
    scores = not args.flags & AttentionFlags.HALF_SUMS
    sizes = {
        "head_dim": args.head_dim,
        "padded_dim": scores * divide_up(args.head_dim, 32) * 32,
        "kv_heads": args.kv_heads,
        "batch": args.batch,
        "q_rows": scores * divide_up(args.nq, 16) * 16,
        "k_rows": divide_up(max(args.nk, 1), 64) * 64,
        "chunks": divide_up(max(args.nk, 1), 256),
    }
    return {"forward": forward, **sizes, **_pieces(args, sizes)}


def _pieces(args: AttentionArgs, sizes: dict[str, int]) -> ModelRequest:
    """Return the layout of the workspace: consecutive parts, each aligned to 256 bytes."""
    queries, keys = args.batch * args.heads, args.batch * args.kv_heads
    scores = not args.flags & AttentionFlags.HALF_SUMS
    head_dim, padded, q_rows, k_rows = (sizes[name] for name in ("head_dim", "padded_dim", "q_rows", "k_rows"))
    taken = {
        "q": queries * q_rows * padded,
        "k": keys * k_rows * padded,
        "v": keys
        * k_rows
        * head_dim
        * (1 if args.flags & (AttentionFlags.INT8_VALUES | AttentionFlags.FP8_VALUES) else 2),
        "q_scale": queries * q_rows // 16 * 8 * 4,
        "k_scale": scores * keys * k_rows // 64 * 4 * 4,
        "v_scale": keys * head_dim * 4,
        "q_mean": scores * queries * args.nq * 4,
        "k_sum": scores * keys * sizes["chunks"] * head_dim * 4,
        "v_largest": keys * sizes["chunks"] * head_dim * 4,
    }
    begin, placed = args.workspace, {}
    for name, taken_bytes in taken.items():
        placed[name] = begin
        begin += divide_up(taken_bytes, 256) * 256
    assert begin - args.workspace == args.workspace_bytes, "the plan asks for as much as is used"
    return placed


def _passes(args: AttentionArgs, told: ModelRequest) -> Iterator[ModelRequest]:
    """Yield the pass for sums and maxima, a block per 256 keys, then the copies, a block per 64 rows."""
    keys = args.batch * args.kv_heads
    queries = args.batch * args.heads * divide_up(told["q_rows"], 64)
    summary, copies = "summarize", "quantize_all" if args.flags & AttentionFlags.INT8_VALUES else "quantize"
    if args.flags & AttentionFlags.HALF_SUMS:
        summary, copies = "summarize_values", "halve"
    if args.flags & AttentionFlags.FP8_VALUES:
        copies = "quantize_fp8"
    for name, blocks in ((summary, keys * told["chunks"]), (copies, queries + keys * told["k_rows"] // 64)):
        yield {
            "kernel": f"void mezzotint::(anonymous namespace)::{name}<{_ELEMENTS[args.dtype]}>(mezzotint::Int8Params)",
            "grid": (blocks, 1, 1),
            "block": (PASS_THREADS, 1, 1),
            "most_threads": PASS_THREADS,
            "shared_bytes": 2 * max(PASS_THREADS // (args.head_dim // 8), 1) * args.head_dim * 4,
            "parameters": 1,
            "told": told,
        }


# ---- linear layers


def _linear_params(plan: PlanInfo, args: LinearArgs) -> dict[str, int]:
    gated = args.activation >= Activation.GATED_GELU
    return {
        **_same(args, "x weight group_scales x_stride weight_stride group_scales_stride x_scales weight_scales"),
        **_same(args, "rows out_columns bias branch_x branch_up rank gate residual out"),
        "in_bytes": args.in_columns * args.x_bits // 8,
        "rows_per_batch": min(args.rows_per_batch, 2**31 - 1),
        **_doubled(args, "branch_x_stride branch_up_stride gate_stride residual_stride out_stride"),
        **_same(args, "x_group_scales weight_group_scales codebook"),
        **_doubled(args, "weight_group_scales_stride"),
        "x_group_scales_stride": 4 * args.x_group_scales_stride,
        "row_tiles": divide_up(args.rows, plan.tile_m),
        "column_tiles": divide_up(args.out_columns, plan.tile_n // (1 + gated)),
        "parts": tuple(_parts(args)),
        **_same(args, "part_count"),
        **(dict.fromkeys(("head_dim", "epsilon"), 0) | {"rotations": None, "rotation_rows": 0}),
        **(_same(args, "head_dim rotations rotation_rows epsilon") if args.part_count else {}),
        **_same(args, "shares_weight_scale activation"),
        "splits": plan.slice_dim,
        "tiles_per_split": divide_up(divide_up(args.in_columns * args.x_bits // 8, 64), plan.slice_dim),
        "partial_sums": args.workspace if plan.slice_dim > 1 else None,
        **_images(args),
    }


def _images(args: LinearArgs) -> ModelRequest:
    step = args.image_stride
    height, width = (divide_up(each, step) if step else 0 for each in (args.image_height, args.image_width))
    return {
        **_same(args, "image_height image_width"),
        "image_step": step,
        "out_width": width,
        "out_pixels": height * width,
    }


def _parts(args: LinearArgs) -> Iterator[ModelRequest]:
    """Parts with pointers as if the first of their columns were the output's; none are zeros."""
    begin = 0
    for number, part in enumerate(args.parts):
        if number >= args.part_count:
            yield dict.fromkeys(("weight", "weight_scales", "bias", "norm_weight")) | {"end": 0, "flags": 0}
            continue
        moved = {"weight": args.weight_stride, "weight_scales": 4, "bias": 2}
        pointers = {name: getattr(part, name) and getattr(part, name) - begin * by for name, by in moved.items()}
        yield {**pointers, "norm_weight": part.norm_weight, "end": begin + part.out_columns, "flags": part.flags}
        begin += 0 if args.activation >= Activation.GATED_GELU else part.out_columns


# ---- quantization


def _kernel_of_rows(args: QuantizeArgs) -> str:
    words = f"{_ELEMENTS[args.dtype]}, {int(Preparation(args.preparation))}"
    space = "mezzotint::quantize::"
    if args.scale_columns:
        words, kernel = _ELEMENTS[args.dtype], "int4_quantize_groups"
        return f"void {space}(anonymous namespace)::{kernel}<{words}>({space}QuantizeParams)"
    kernel = "int4_quantize_rows" if args.bits == 4 else "fp8_quantize_rows" if args.floats else "quantize_rows"
    return f"void {space}(anonymous namespace)::{kernel}<{words}>({space}QuantizeParams)"


def _quantize_params(args: QuantizeArgs, teams: int, rows: int) -> ModelRequest:
    return {
        **_same(args, "x rows columns norm_weight norm_bias shift gain epsilon group values values_stride"),
        **_same(args, "scales scales_stride smooth"),
        "block_scales": None,
        "block_scales_stride": 0,
        **_doubled(args, "x_stride modulation_stride"),
        "teams_per_row": teams,
        "rows_per_block": rows,
        "rows_per_65536_teams": divide_up(65536, teams),
        "rows_per_batch": min(args.rows_per_batch, args.rows),
    }
