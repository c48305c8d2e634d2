"""What the backward pass asks of CUDA: three launches, as a stub of the runtime remembers them."""

import ctypes
from functools import partial

import pytest
from attention_arguments import backward_args, table_args
from launch_cases import DEVICE, STREAM, WELL, WORKSPACE
from launch_expected import dropout_told, table_told
from stub_cuda import CARDS, differences

from mezzotint_kernels.abi import AttentionFlags, Dtype, Status

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")


def bfloat16(**changes):
    """Contiguous tensors of the sizes in `changes`."""
    sizes = {"heads": 4, "kv_heads": 2, "nq": 100, "nk": 77, "head_dim": 64} | changes
    d = sizes["head_dim"]
    queries, keys = (
        (sizes[heads] * sizes[n] * d, sizes[n] * d, d) for heads, n in (("heads", "nq"), ("kv_heads", "nk"))
    )
    strides = {f"{name}_stride": queries for name in ("q", "out", "out_gradient", "dq")}
    strides |= {f"{name}_stride": keys for name in ("k", "v", "dk", "dv")}
    return backward_args(dtype=Dtype.BFLOAT16, **strides | sizes)


MASKS = {"key_mask": 0x150000, "key_mask_stride": 77, "key_lengths": 0x160000, "lse_gradient": 0x170000}
TABLE = table_args()  # for 100 or 77 tokens
CASES = {
    "few": bfloat16,
    "many": partial(bfloat16, nq=4096, nk=4096, heads=8),
    "causal and unordered": partial(bfloat16, nk=300, flags=AttentionFlags.CAUSAL | AttentionFlags.UNORDERED),
    "masked": partial(bfloat16, **MASKS),
    "by a table": partial(bfloat16, table=ctypes.addressof(TABLE)),
    "a wide head in slices": partial(bfloat16, head_dim=512, nk=300),
    "no keys": partial(bfloat16, nk=0, k=None, v=None, dk=None, dv=None),
    "no queries": partial(bfloat16, nq=0, q=None, out=None, out_gradient=None, dq=None, lse=None),
}
SAME = (
    *("q", "k", "v", "out", "out_gradient", "lse", "lse_gradient", "dq", "dk", "dv", "nq", "nk", "heads", "kv_heads"),
    *(f"{name}_stride" for name in ("q", "k", "v", "out", "out_gradient", "dq", "dk", "dv", "key_mask")),
    *("head_dim", "scale", "key_lengths", "key_mask"),
)


def divide_up(number, by):
    return -(-number // by)


def expected(cuda, args, card):
    """The launches, computed independently from the plan and the arguments."""
    chosen = cuda.backward_launches(args, card)
    padded, rows = divide_up(args.nq, 64) * 64, args.batch * args.heads
    ordered = not args.flags & AttentionFlags.UNORDERED
    told = {name: getattr(args, name) for name in SAME}
    told = {name: tuple(value) if isinstance(value, ctypes.Array) else value for name, value in told.items()}
    slices = args.head_dim // chosen.part_dim
    told |= {
        "group": args.heads // args.kv_heads,
        "padded_rows": padded,
        "key_tiles": divide_up(max(args.nk, 1), chosen.tile_m),
        "splits": chosen.splits,
        "slices": slices,
        "causal": bool(args.flags & AttentionFlags.CAUSAL),
        "ordered": ordered,
        "factor": ctypes.c_float(args.scale * ctypes.c_float(1.4426950408889634).value).value,
        "rows": args.workspace,
        "sums": (args.workspace or 0) + divide_up(rows * padded * 8, 256) * 256 or None,
        "sum_size": rows * args.nq * args.head_dim,
        "dropout": dropout_told(args),
        "table": table_told(args),
    }
    sums = chosen.splits if ordered else 1
    assert args.workspace_bytes == divide_up(rows * padded * 8, 256) * 256 + sums * told["sum_size"] * 4
    where = {"told": told, "parameters": 1, "device": DEVICE, "stream": STREAM, "error": 0}
    passes = [
        (chosen.prepare, rows * padded // 16, 128, 0),
        (chosen.kernel, args.batch * args.kv_heads * slices * chosen.splits, chosen.threads, chosen.shared_bytes),
        (chosen.finish, divide_up(told["sum_size"], 1024), 128, 0),
    ]
    wanted = [bool(args.nq), bool(args.nk), bool(args.nq)]
    return [
        {
            "kernel": kernel.decode(),
            "grid": (blocks, 1, 1),
            "block": (threads, 1, 1),
            "most_threads": threads,
            "shared_bytes": shared,
            **where,
        }
        for (kernel, blocks, threads, shared), made in zip(passes, wanted, strict=True)
        if made
    ]


def planned(cuda, args, card):
    cuda.insert(CARDS[86], CARDS[card])
    cuda.use(DEVICE)
    args.workspace_bytes = cuda.backward_plan(args, DEVICE).workspace_bytes
    args.workspace = WORKSPACE if args.workspace_bytes else None
    cuda.forget()
    return args


@pytest.mark.parametrize("card", [card for card in CARDS if card >= 80])
@pytest.mark.parametrize("case", CASES)
def test_what_is_planned_is_launched(cuda, case, card):
    args = planned(cuda, CASES[case](), card)
    assert cuda.backward(args, DEVICE, STREAM) == WELL
    assert differences(cuda.launches, expected(cuda, args, CARDS[card])) == []
    assert cuda.used == DEVICE and "cudaSetDevice" not in cuda.asked


def test_the_cases_are_of_every_kind(cuda):
    """Or else the test above would prove little."""
    told = {}
    for case in CASES:
        assert cuda.backward(planned(cuda, CASES[case](), 90), DEVICE, STREAM) == WELL
        told[case] = [launch.told for launch in cuda.launches][-1]
    assert told["many"]["splits"] > 1 and told["many"]["ordered"]
    assert told["a wide head in slices"]["slices"] == 4
    assert told["by a table"]["table"]["row_ptr"] == TABLE.row_ptr
    assert told["causal and unordered"]["splits"] == told["causal and unordered"]["key_tiles"] > 1


def test_too_small_a_workspace_launches_nothing(cuda):
    args = planned(cuda, CASES["few"](), 89)
    args.workspace_bytes -= 1
    status, said = cuda.backward(args, DEVICE, STREAM)
    assert (status, cuda.launches) == (Status.WORKSPACE_TOO_SMALL, [])
    assert f"{args.workspace_bytes}" in said


@pytest.mark.parametrize("passes", [0, 1, 2])
def test_what_cuda_refuses_ends_the_call(cuda, passes):
    args = planned(cuda, CASES["few"](), 89)
    with cuda.failing("cudaLaunchKernel", 700, passes=passes):
        status, said = cuda.backward(args, DEVICE, STREAM)
    assert status == Status.LAUNCH_FAILED and "backward bfloat16 d64" in said
    assert len([launch for launch in cuda.launches if not launch.error]) == passes


def test_more_shared_memory_is_asked_for_once(cuda):
    args = planned(cuda, CASES["many"](), 89)
    asked = []
    for _ in range(2):
        cuda.forget()
        assert cuda.backward(args, DEVICE, STREAM) == (Status.OK, "")
        asked.append(cuda.asked.count("cudaFuncSetAttribute"))
    assert asked == [1, 0]


def test_more_shared_memory_that_is_refused_ends_the_call(cuda):
    args = planned(cuda, CASES["many"](), 89)
    with cuda.failing("cudaFuncSetAttribute", 1):
        assert cuda.backward(args, DEVICE, STREAM)[0] == Status.LAUNCH_FAILED
    assert cuda.launches == []
