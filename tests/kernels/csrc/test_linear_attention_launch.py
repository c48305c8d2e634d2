"""What linear attention asks of CUDA: the launches as a stub of the runtime has them."""

import ctypes
from functools import partial

import pytest
from attention_arguments import linear_attention_args
from launch_cases import DEVICE, STREAM, WELL, WORKSPACE
from stub_cuda import CARDS, differences

from mezzotint_kernels.abi import Dtype, Status
from mezzotint_kernels.linear_attention_abi import FeatureMap

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

bfloat16 = partial(linear_attention_args, dtype=Dtype.BFLOAT16)
CASES = {
    "few": bfloat16,
    "many": partial(bfloat16, nq=4096, nk=4096, heads=8),
    "masked": partial(bfloat16, key_mask=0x150000, key_mask_stride=77, key_lengths=0x160000),
    "features, undivided": partial(bfloat16, map=FeatureMap.IDENTITY, features=16, head_dim=136, divided=0, least=0.5),
    "no keys": partial(bfloat16, nk=0, k=None, v=None, map=FeatureMap.ELU_PLUS_ONE),
}
SAME = (
    *("q", "k", "v", "out", "q_stride", "k_stride", "v_stride", "out_stride", "heads", "kv_heads", "nq", "nk"),
    *("features", "head_dim", "key_lengths", "key_mask", "key_mask_stride", "least", "epsilon"),
)


def divide_up(number, by):
    return -(-number // by)


def expected(args, splits):
    """The launches, computed independently from the plan and the arguments."""
    told = {name: getattr(args, name) for name in SAME}
    told = {name: tuple(value) if isinstance(value, ctypes.Array) else value for name, value in told.items()}
    width, heads, columns = args.head_dim + 8, args.batch * args.kv_heads, divide_up(args.head_dim, 64)
    size = heads * args.features * width
    sums, part = divide_up(splits * size * 4, 256) * 256, divide_up(size * 2, 256) * 256
    told |= {
        "group": args.heads // args.kv_heads,
        "width": width,
        "feature_tiles": divide_up(args.features, 64),
        "column_tiles": columns,
        "query_tiles": divide_up(args.nq, 128),
        "splits": splits,
        "tiles_per_split": divide_up(divide_up(args.nk, 64), splits),
        "divided": bool(args.divided),
        "sums": args.workspace,
        "sum_size": size,
        "high": args.workspace + sums,
        "low": args.workspace + sums + part,
        "scales": args.workspace + sums + 2 * part,
    }
    assert args.workspace_bytes == sums + 2 * part + heads * width // 8 * 4
    where = {"told": told, "parameters": 1, "device": DEVICE, "stream": STREAM, "error": 0}
    passes = (
        (heads * divide_up(args.features, 64) * columns * splits, 128, 2 * (2 * 64 * 128 + 64 * 2)),
        (heads * width // 8, 128, 16),
        (args.batch * args.heads * columns * divide_up(args.nq, 128), 256, 128 * 128 + 2 * 64 * 144),
    )
    return [
        {"grid": (blocks, 1, 1), "block": (threads, 1, 1), "most_threads": threads, "shared_bytes": shared, **where}
        for blocks, threads, shared in passes
    ]


def planned(cuda, args, card):
    cuda.insert(CARDS[86], CARDS[card])
    cuda.use(DEVICE)
    plan = cuda.linear_attention_plan(args, DEVICE)
    args.workspace, args.workspace_bytes = WORKSPACE, plan.workspace_bytes
    cuda.forget()
    return args, plan.kernel


@pytest.mark.parametrize("card", [card for card in CARDS if card >= 80])
@pytest.mark.parametrize("case", CASES)
def test_what_is_planned_is_launched(cuda, case, card):
    args, splits = planned(cuda, CASES[case](), card)
    assert cuda.linear_attention(args, DEVICE, STREAM) == WELL
    assert differences(cuda.launches, expected(args, splits)) == []
    assert splits > 1 or case != "many"
    assert cuda.used == DEVICE and "cudaSetDevice" not in cuda.asked


def test_every_map_and_format_has_kernels_of_its_own(cuda):
    kernels = []
    for which in FeatureMap:
        for dtype in (Dtype.FLOAT16, Dtype.BFLOAT16):
            args, _ = planned(cuda, linear_attention_args(map=which, dtype=dtype), 90)
            assert cuda.linear_attention(args, DEVICE, STREAM) == WELL
            element, names = ("__half", "__nv_bfloat16")[dtype], [launch.kernel for launch in cuda.launches]
            words = (
                f"summarize_keys<{element}, {which}>",
                f"join_sums<{element}>",
                f"apply_summary<{element}, {which}>",
            )
            assert all(word in name for word, name in zip(words, names, strict=True))
            kernels += names
    assert len(set(kernels)) == 2 * (3 + 1 + 3)


def test_too_small_a_workspace_launches_nothing(cuda):
    args, _ = planned(cuda, CASES["few"](), 89)
    args.workspace_bytes -= 1
    status, said = cuda.linear_attention(args, DEVICE, STREAM)
    assert (status, cuda.launches) == (Status.WORKSPACE_TOO_SMALL, [])
    assert f"{args.workspace_bytes}" in said


@pytest.mark.parametrize("passes", [0, 1, 2])
def test_what_cuda_refuses_ends_the_call(cuda, passes):
    args, _ = planned(cuda, CASES["few"](), 89)
    with cuda.failing("cudaLaunchKernel", 700, passes=passes):
        status, said = cuda.linear_attention(args, DEVICE, STREAM)
    assert status == Status.LAUNCH_FAILED and "linear attention bfloat16 relu" in said
    assert len([launch for launch in cuda.launches if not launch.error]) == passes


def test_where_there_are_no_queries_nothing_is_asked_of_the_card(cuda):
    planned(cuda, bfloat16(), 89)
    assert cuda.linear_attention(bfloat16(nq=0), DEVICE, STREAM) == WELL
    assert cuda.launches == []
