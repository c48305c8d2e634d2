"""Calls to test on the stub runtime; each check returns a line per mismatch in the requests to CUDA, none if correct.

Tests check that there are none, and that there are some where a bug was injected.
"""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import launch_expected
from attention_arguments import packed_attention_args, table_args
from group_norm_arguments import group_norm_args
from linear_arguments import convolution_args, gated_args, joined_args, linear_args
from quantize_arguments import quantize_args
from stub_cuda import CARDS, Card, StubCuda, differences

from mezzotint_kernels.abi import AttentionArgs, AttentionFlags, Dtype, LinearArgs, Preparation, QuantizeArgs, Status

STREAM = 0x7EED_0000_1000
DEVICE = 1  # the second of two, so that code assuming device 0 fails
WORKSPACE = 0x5000_0000_0000
WELL = (Status.OK, "")

AttentionCase = Callable[[], AttentionArgs]
_bfloat16 = partial(packed_attention_args, dtype=Dtype.BFLOAT16)
_int8 = partial(_bfloat16, flags=AttentionFlags.INT8_SCORES)
_INT8_ALL = AttentionFlags.INT8_SCORES | AttentionFlags.INT8_VALUES
_masks = {"key_mask": 0x50000, "key_mask_stride": 77, "key_lengths": 0x60000, "lse": 0x70000}
_bias = {"bias": 0x80000, "bias_dtype": Dtype.FLOAT32, "bias_stride": (9000, 800, 90, 1)}
TABLE, WIDE_ROWS = table_args(), table_args(block_q=128, rows=1, stride_batch=4, stride_head=1, order=0xE0000)
_table = {"table": ctypes.addressof(TABLE)}

ATTENTION: dict[str, AttentionCase] = {
    "few keys": _bfloat16,
    "few keys and many tiles of queries": partial(_bfloat16, nq=16384, heads=16),
    "few keys and more tiles than a block takes": partial(_bfloat16, nq=65536, heads=16),
    "many keys": partial(_bfloat16, nk=300),
    "few queries of many keys": partial(_bfloat16, nk=4100, **_masks | {"key_mask": None}),
    "few queries of many keys, masked": partial(_bfloat16, nq=50, nk=3000, **_masks, **_bias),
    "many keys and queries": partial(_bfloat16, nq=4096, nk=4096, heads=8),
    "causal": partial(_bfloat16, nk=300, flags=AttentionFlags.CAUSAL),
    "masked": partial(_bfloat16, **_masks),
    "with a bias": partial(_bfloat16, **_masks, **_bias),
    "no keys": partial(_bfloat16, nk=0, k=None, v=None),
    "a wide head in slices": partial(_bfloat16, head_dim=512, nk=300),
    "a wide head with a bias": partial(_bfloat16, head_dim=512, **_bias),
    "a block table": partial(_bfloat16, nk=300, **_table),
    "a block table of wide rows, masked": partial(_bfloat16, **_masks, table=ctypes.addressof(WIDE_ROWS)),
    "8 bits": _int8,
    "8 bits, a block table": partial(_int8, nk=300, **_table),
    "8 bits, many": partial(_int8, nq=4100, nk=1025, heads=8, kv_heads=8),
    "8 bits, masked and causal": partial(_int8, flags=AttentionFlags(3), nk=300, **_masks | {"key_mask_stride": 0}),
    "all in 8 bits": partial(_bfloat16, flags=_INT8_ALL),
    "sums in 16 bits": partial(_bfloat16, flags=AttentionFlags.HALF_SUMS),
    "values as 8-bit floats": partial(_int8, flags=AttentionFlags.INT8_SCORES | AttentionFlags.FP8_VALUES),
    "all in 8 bits, many": partial(_bfloat16, flags=_INT8_ALL, nq=4100, nk=1025, heads=8, kv_heads=8),
    "8 bits and no keys": partial(_int8, nk=0, k=None, v=None),
}

_half = {"weight_bits": 4, "dtype": Dtype.FLOAT16}
_whole = {"weight_bits": 8, "dtype": Dtype.BFLOAT16}
_by_group: dict[str, Any] = {
    "x_scales": None,
    "weight_scales": None,
    "x_group_scales": 0xC0000,
    "x_group_scales_stride": 100,
    "weight_group_scales": 0xD0000,
    "weight_group_scales_stride": 72,
}
_grouped_rows: dict[str, Any] = {
    "bits": 4,
    "values_stride": 64,
    "scale_columns": 64,
    "scales_stride": 100,
    "smooth": 0xA0000,
    "preparation": 0,
    "norm_weight": None,
    "norm_bias": None,
}
_int4 = {"weight_bits": 4, "x_bits": 4, "dtype": Dtype.FLOAT16}
_floats = {"floats": 1, "dtype": Dtype.BFLOAT16, "weight_bits": 8}
_large = {"rows": 4096, "in_columns": 3072, "out_columns": 12288}
_strides = {"x_stride": 3104, "branch_x_stride": 40, "branch_up_stride": 48, "gate_stride": 12400}
_more_strides = {"residual_stride": 12416, "out_stride": 12432, "weight_stride": 3088, "group_scales_stride": 53}

_room = {"workspace": 0xF0000, "workspace_bytes": 2**24}

LINEAR: dict[str, Callable[[], LinearArgs]] = {
    "4 bits": partial(linear_args, **_half),
    "4 bits, large": partial(linear_args, **_half, **_large, **_strides, **_more_strides),
    "4 bits of both": partial(linear_args, **_int4),
    "4 bits of both, large": partial(linear_args, **_int4, **_large, **_strides, **_more_strides),
    "4 bits of both by group": partial(linear_args, **_int4, **_by_group),
    "8 bits": partial(linear_args, **_whole),
    "8 bits, large": partial(linear_args, **_whole, **_large, **_strides, **_more_strides),
    "queries, keys and values": partial(joined_args, dtype=Dtype.BFLOAT16),
    "queries, keys and values of many rows": partial(joined_args, dtype=Dtype.BFLOAT16, rows=4096, weight_stride=160),
    "a gated linear unit": gated_args,
    "few rows": partial(
        linear_args,
        **_whole,
        rows=64,
        in_columns=4096,
        x_stride=4096,
        weight_stride=4096,
        **_room,
    ),
    "a convolution": partial(convolution_args, dtype=Dtype.BFLOAT16),
    "4 bits with a codebook": partial(linear_args, **_half, codebook=0xE0000, group_scales_stride=18),
    "floats of 8 bits": partial(linear_args, **_floats, shares_weight_scale=1),
    "floats of 8 bits, large": partial(linear_args, **_floats, **_large, **_strides, **_more_strides),
    "one row": partial(linear_args, **_half, rows=1, rows_per_batch=2**40),
    "nothing but the product": partial(
        linear_args, **_half, rank=0, **dict.fromkeys(("bias", "branch_x", "branch_up", "gate", "residual"))
    ),
}

# With the teams per row, and the rows per block (kernels/README.md).
QUANTIZE: dict[str, tuple[Callable[[], QuantizeArgs], int, int]] = {
    "narrow rows": (quantize_args, 1, 16),
    "256 columns": (partial(quantize_args, columns=256, x_stride=272, values_stride=320), 1, 16),
    "1280 columns": (partial(quantize_args, columns=1280, x_stride=1280, values_stride=1280), 5, 4),
    "3072 columns": (partial(quantize_args, columns=3072, x_stride=3072, values_stride=3072), 12, 1),
    "the widest": (partial(quantize_args, columns=16384, x_stride=16384, values_stride=16384), 64, 1),
    "no columns": (partial(quantize_args, columns=0), 1, 16),
    "in 4 bits": (partial(quantize_args, bits=4, values_stride=64), 1, 16),
    "in 4 bits by group": (partial(quantize_args, **_grouped_rows), 1, 16),
    "as floats": (partial(quantize_args, floats=1), 1, 16),
    "one row": (partial(quantize_args, rows=1, rows_per_batch=2**40), 1, 16),
    "bfloat16": (partial(quantize_args, dtype=Dtype.BFLOAT16), 1, 16),
    "rows without number": (partial(quantize_args, rows=10**9, rows_per_batch=10**9), 1, 16),
    **{
        f"{preparation.name}": (
            partial(
                quantize_args, preparation=preparation, norm_weight=None, norm_bias=None, x_stride=256, group=0, rows=33
            ),
            1,
            16,
        )
        for preparation in Preparation
    },
}


def queue_attention(cuda: StubCuda, case: str, card: Card = CARDS[89]) -> list[str]:
    """Launch on the second of two devices, and compare."""
    args = attention_of(cuda, ATTENTION[case](), card)
    cuda.forget()
    said = cuda.attention(args, DEVICE, STREAM)
    return _wrong(cuda, said, launch_expected.attention(cuda, args, card, device=DEVICE, stream=STREAM, error=0))


def queue_linear(cuda: StubCuda, case: str, card: Card = CARDS[89]) -> list[str]:
    """Likewise for a linear layer."""
    args = LINEAR[case]()
    _insert(cuda, card)
    said = cuda.linear(args, DEVICE, STREAM)
    return _wrong(cuda, said, launch_expected.linear(cuda, args, card, device=DEVICE, stream=STREAM, error=0))


def queue_rows(cuda: StubCuda, case: str, card: Card = CARDS[89]) -> list[str]:
    """Likewise for a quantization."""
    made, teams, rows = QUANTIZE[case]
    _insert(cuda, card)
    said = cuda.quantize(made(), DEVICE, STREAM)
    wanted = launch_expected.quantize(made(), teams, rows, device=DEVICE, stream=STREAM, error=0)
    return _wrong(cuda, said, wanted)


def attention_of(cuda: StubCuda, args: AttentionArgs, card: Card) -> AttentionArgs:
    """Set the arguments' workspace for the second of two devices, which becomes the current one."""
    _insert(cuda, card)
    args.workspace_bytes = cuda.attention_plan(args, DEVICE).workspace_bytes
    args.workspace = WORKSPACE if args.workspace_bytes else None
    return args


def _insert(cuda: StubCuda, card: Card) -> None:
    other = CARDS[120 if card.architecture == 75 else 75]
    cuda.insert(other, card)
    cuda.use(DEVICE)


def _wrong(cuda: StubCuda, said: tuple[Status, str], wanted: list[dict[str, object]]) -> list[str]:
    lines = [] if said == WELL else [f"it said {said}"]
    if cuda.used != DEVICE or "cudaSetDevice" in cuda.asked:
        lines.append(f"the current device was changed, and is now {cuda.used}")
    return lines + differences(cuda.launches, wanted)


# ---- several calls


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A call on one of two identical devices."""

    queue: Callable[[StubCuda, int, int], tuple[Status, str]]
    launches: int
    text: str  # name of the kernel in error messages
    raises: bool = False  # whether it requests extra shared memory


def _attend(case: str) -> Callable[[StubCuda, int, int], tuple[Status, str]]:
    def queue(cuda: StubCuda, device: int, stream: int) -> tuple[Status, str]:
        args = ATTENTION[case]()
        args.workspace, args.workspace_bytes = WORKSPACE, 2**40
        return cuda.attention(args, device, stream)

    return queue


OPERATIONS = {
    "attention": Operation(queue=_attend("many keys"), launches=1, text="forward bfloat16 d64 64x64"),
    "attention in parts": Operation(
        queue=_attend("few queries of many keys"), launches=2, text="forward bfloat16 d64 128x64, 13 splits"
    ),
    "wide attention": Operation(
        queue=_attend("a wide head in slices"), launches=1, text="forward bfloat16 d512 32x16", raises=True
    ),
    "wide masked attention": Operation(
        queue=_attend("a wide head with a bias"), launches=1, text="forward bfloat16 d512 64x16 masked", raises=True
    ),
    "8 bits": Operation(queue=_attend("8 bits"), launches=3, text="int8 bfloat16 d64 64x64"),
    "all in 8 bits": Operation(queue=_attend("all in 8 bits"), launches=3, text="int8-all bfloat16 d64 64x64"),
    "a product": Operation(
        queue=lambda cuda, *where: cuda.linear(LINEAR["8 bits"](), *where),
        launches=1,
        text="linear w8a8 bfloat16 64x64",
    ),
    "a large product": Operation(
        queue=lambda cuda, *where: cuda.linear(LINEAR["8 bits, large"](), *where),
        launches=1,
        text="linear w8a8 bfloat16 256x128",
        raises=True,
    ),
    "a large packed product": Operation(
        queue=lambda cuda, *where: cuda.linear(LINEAR["4 bits, large"](), *where),
        launches=1,
        text="linear w4a8 float16 256x128",
        raises=True,
    ),
    "rows": Operation(
        queue=lambda cuda, *where: cuda.quantize(quantize_args(), *where), launches=1, text="quantize_rows"
    ),
    "GroupNorm": Operation(
        queue=lambda cuda, *where: cuda.group_norm(group_norm_args(), *where), launches=3, text="group_norm"
    ),
}


def two_alike(cuda: StubCuda) -> None:
    """Set up two identical devices that the library has already seen."""
    cuda.insert(CARDS[80], CARDS[80])
    for device in (0, 1):
        cuda.attention_plan(packed_attention_args(), device)
    cuda.forget()


def ask_again(cuda: StubCuda, operation: Operation) -> list[str]:
    """Check the requests to CUDA: extra shared memory once per device, before the launch, and nothing else."""
    two_alike(cuda)
    launches = ["cudaLaunchKernel"] * operation.launches
    first = ["cudaGetDevice", *["cudaGetDevice", "cudaFuncSetAttribute"] * operation.raises, *launches]
    again = ["cudaGetDevice", *["cudaGetDevice"] * operation.raises, *launches]
    lines = []
    for device, wanted in ((1, first), (1, again), (0, first), (1, again)):
        cuda.use(device)
        said = operation.queue(cuda, device, STREAM)
        if (said, cuda.asked) != (WELL, wanted):
            lines.append(f"on device {device} it asked {cuda.asked} and said {said}, in the place of {wanted}")
        cuda.forget()
    return lines


def queue_all(cuda: StubCuda) -> list[str]:
    """Call every operation with the same library: each kernel requests its own shared memory."""
    two_alike(cuda)
    lines = []
    for name, operation in OPERATIONS.items():
        said = operation.queue(cuda, 0, STREAM)
        if said != WELL or cuda.asked.count("cudaFuncSetAttribute") != operation.raises:
            lines.append(f"{name} asked {cuda.asked} and said {said}")
        cuda.forget()
    return lines


def fail_each_launch(cuda: StubCuda, operation: Operation) -> list[str]:
    """Check that a failed launch is reported, ends its call, and leaves no error for the next."""
    two_alike(cuda)
    lines = []
    for number in range(operation.launches):
        with cuda.failing("cudaLaunchKernel", 2, passes=number):
            said = operation.queue(cuda, 0, STREAM)
        if said != (Status.LAUNCH_FAILED, f"{operation.text}: out of memory (CUDA error 2)"):
            lines.append(f"launch {number} failed, and it said {said}")
        if len(cuda.launches) != number or cuda.asked[-1] != "cudaLaunchKernel":
            lines.append(f"launch {number} failed, and it went on to {cuda.asked}")
        if (said := operation.queue(cuda, 0, STREAM)) != WELL:
            lines.append(f"launch {number} failed, and the next call said {said}")
        cuda.forget()
    return lines


def fail_to_raise(cuda: StubCuda, operation: Operation) -> list[str]:
    """Check that a refusal of shared memory is reported, nothing is launched, and the next call asks again."""
    two_alike(cuda)
    with cuda.failing("cudaFuncSetAttribute", 98):
        said = operation.queue(cuda, 0, STREAM)
    wanted = (Status.LAUNCH_FAILED, f"{operation.text}: invalid device function (CUDA error 98)")
    lines = [] if (said, cuda.launches) == (wanted, []) else [f"it launched {cuda.launches} and said {said}"]
    said = operation.queue(cuda, 0, STREAM)
    return lines + ([] if said == WELL and len(cuda.launches) == operation.launches else [f"then it said {said}"])


def fail_to_ask(cuda: StubCuda) -> list[str]:
    """Check that nothing is launched on a device whose attributes cannot be read."""
    with cuda.failing("cudaDeviceGetAttribute", 2, passes=3):  # the last one
        status, said = OPERATIONS["rows"].queue(cuda, 0, STREAM)
    return [] if (status, cuda.launches) == (Status.LAUNCH_FAILED, []) else [f"it knew the device, and said {said!r}"]
