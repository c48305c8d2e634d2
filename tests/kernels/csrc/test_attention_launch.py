"""What attention asks of CUDA: its launches as a stub of the runtime remembers them (tests/plugins/launch_build.py)."""

import ctypes
import itertools
import re

import pytest
from attention_arguments import attention_args, packed_attention_args
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from launch_cases import ATTENTION, DEVICE, STREAM, WELL, WIDE_ROWS, WORKSPACE, attention_of, queue_attention
from launch_expected import DROPOUT, FORWARD, HALF_SUMS, HOPPER, INT8, INT8_ALL, INT8_FP8, SHORT_KEYS
from launch_expected import attention as expected
from stub_cuda import CARDS, differences

from mezzotint_kernels.abi import AttentionFlags, Dropout, Dtype, Status

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

AMPERE = [card for card in CARDS if card >= 80]  # bfloat16 is not for Turing
TILES = r"(?P<type>\w+), (?P<d>\d+), mezzotint::Shape<(?P<shape>.+?)>, (?P<masked>\w+)"
NAMES = {
    FORWARD: rf"attention_forward<{TILES}, (?P<slice>\d+)>",
    SHORT_KEYS: r"attention_short_keys<(?P<type>\w+), (?P<d>\d+), (?P<warps>\d+), (?P<n>\d+)>",
    INT8: rf"attention_int8<{TILES}>",
    INT8_ALL: r"attention_int8_all<(?P<type>\w+), (?P<d>\d+), mezzotint::Shape<(?P<shape>.+?)> ?>",
    INT8_FP8: r"attention_int8_fp8<(?P<type>\w+), (?P<d>\d+), mezzotint::Shape<(?P<shape>.+?)> ?>",
    HALF_SUMS: rf"attention_half_sums<{TILES}>",
    HOPPER: r"attention_hopper<(?P<type>\w+), (?P<d>\d+), mezzotint::HopperShape<(?P<groups>\d+), (?P<n>\d+)> ?>",
    DROPOUT: r"attention_dropout<(?P<type>\w+), (?P<d>\d+), mezzotint::Shape<(?P<shape>.+?)> ?>",
}


@pytest.mark.parametrize("card", AMPERE)
@pytest.mark.parametrize("case", ATTENTION)
def test_what_is_planned_is_launched(cuda, case, card):
    wrong = queue_attention(cuda, case, CARDS[card])
    if case == "sums in 16 bits" and card in (80, 90, 100):  # where it would not be faster
        assert any("no flash-fp16 kernel" in line for line in wrong)
    elif case == "values as 8-bit floats" and card in (80, 86, 90, 100):
        assert any("no int8-fp8 kernel" in line for line in wrong)
    elif "8 bits" in case and card == 100:
        assert any("kernel on architecture 100, where torch's of 16 bits is faster" in line for line in wrong)
    else:
        assert wrong == []


def test_the_cases_are_of_every_kind(cuda):
    """Or else the test above would prove little."""
    launched = {case: (queue_attention(cuda, case), cuda.launches[-1])[1] for case in ATTENTION}
    split = {case for case, launch in launched.items() if "join_splits" in launch.kernel}
    assert split == {"few queries of many keys", "few queries of many keys, masked"}
    assert all(launched.pop(case).told["splits"]["count"] > 1 for case in split)
    kernels = {re.search(r"::(\w+)<", launch.kernel)[1] for launch in launched.values()}
    kinds = ("forward", "short_keys", "int8", "int8_all", "half_sums", "int8_fp8")
    assert kernels == {f"attention_{kind}" for kind in kinds}
    assert launched["a wide head in slices"].shared_bytes > 48 * 1024
    assert launched["a wide head in slices"].told["slices"] == 2
    several = [launched[case].told["tiles_per_block"] for case in ATTENTION if "tiles" in case]
    assert several[0] > 1
    assert several[1] == 16
    assert {launch.told.get("tiles_per_block", 1) for case, launch in launched.items() if "tiles" not in case} == {1}


def test_scores_in_8_bits_take_three_launches_over_one_workspace(cuda):
    assert queue_attention(cuda, "8 bits, many") == []
    first, second, third = cuda.launches
    assert [re.search(r"(\w+)<", each.kernel)[1] for each in cuda.launches] == [
        "summarize",
        "quantize",
        "attention_int8",
    ]
    assert first.told == second.told == third.told
    assert {each.stream for each in cuda.launches} == {STREAM}
    assert first.told["q"] == WORKSPACE


def test_keys_in_parts_take_two_launches_over_one_workspace(cuda):
    assert queue_attention(cuda, "few queries of many keys") == []
    first, second = cuda.launches
    assert [re.search(r"::(\w+)<", each.kernel)[1] for each in cuda.launches] == ["attention_forward", "join_splits"]
    assert first.told == second.told
    assert first.grid[0] == first.told["splits"]["blocks"] * first.told["splits"]["count"]
    assert first.told["splits"]["sums"] == WORKSPACE


def test_the_workspace_lies_where_the_caller_has_put_it(cuda):
    args = attention_of(cuda, ATTENTION["8 bits"](), CARDS[89])
    args.workspace += 4096
    assert cuda.attention(args, DEVICE, STREAM) == WELL
    assert differences(cuda.launches, expected(cuda, args, CARDS[89], device=DEVICE, stream=STREAM)) == []
    args.workspace_bytes -= 1
    status, said = cuda.attention(args, DEVICE, STREAM)
    assert (status, len(cuda.launches)) == (Status.WORKSPACE_TOO_SMALL, 3)
    assert f"{args.workspace_bytes}" in said


@pytest.mark.parametrize("flags", [0, AttentionFlags.INT8_SCORES])
@pytest.mark.parametrize("changes", [{"nq": 0}, {"batch": 0}, {"nq": 0, "nk": 0}])
def test_where_there_is_nothing_to_compute_nothing_is_asked_of_the_card(cuda, changes, flags):
    queue_attention(cuda, "many keys")
    cuda.forget()
    args = packed_attention_args(dtype=Dtype.BFLOAT16, flags=flags, q=None, out=None, **changes)
    assert cuda.attention(args, DEVICE, STREAM) == WELL
    assert cuda.calls == []


def test_a_plan_launches_nothing(cuda):
    for case in ATTENTION.values():
        assert cuda.attention_plan(case()).supported
    assert set(cuda.asked) == {"cudaGetDeviceCount", "cudaDeviceGetAttribute"}


FLAGS = (0, AttentionFlags.INT8_SCORES, AttentionFlags.INT8_SCORES | AttentionFlags.INT8_VALUES)
MANY = st.integers(1, 10**9) | st.sampled_from([1, 2**10, 2**20, 10**9])


@given(batch=MANY, heads=MANY, nq=MANY, nk=MANY, flags=st.sampled_from(FLAGS))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(batch=2**20, heads=2**10, nq=1, nk=10**9, flags=AttentionFlags.INT8_SCORES)
@example(batch=1, heads=1, nq=10**9, nk=10**9, flags=AttentionFlags.INT8_SCORES)
def test_no_size_overflows(cuda, batch, heads, nq, nk, flags):
    """The library is compiled so that an overflow would end the test run; keys and values may be the same for all."""
    sizes = {"batch": batch, "heads": heads, "kv_heads": heads, "nq": nq, "nk": nk}
    packed = (heads * nq * 64, nq * 64, 64)
    strides = {"q_stride": packed, "out_stride": packed, "k_stride": (0, 0, 64), "v_stride": (0, 0, 64)}
    cuda.forget()
    args = attention_args(dtype=Dtype.BFLOAT16, flags=flags, **sizes, **strides)
    if any(stride >= 2**63 for stride in packed) or batch * packed[0] * 4 > 2**63:
        assert cuda.attention(args)[0] == Status.INVALID_ARGUMENT
    elif cuda.attention_plan(args).supported:
        args.workspace, args.workspace_bytes = WORKSPACE, cuda.attention_plan(args).workspace_bytes
        assert cuda.attention(args) == WELL
        assert differences(cuda.launches, expected(cuda, args, CARDS[89], device=0, stream=None)) == []
    else:
        assert "more than a card's grid of blocks takes" in cuda.attention_plan(args).text.decode()


def is_itself(instance):
    """Whether the kernel's own name says what the list of instances does."""
    found = re.search(NAMES[instance.kind], instance.kernel)
    words = found.groupdict()
    if groups := words.get("groups"):
        sizes = (64 * int(groups), int(words["n"]), 128 * (int(groups) + 1), int(words["d"]))
        return sizes == (instance.tile_m, instance.tile_n, instance.threads, instance.head_dim)
    m_tiles, warps, tile_n = map(int, words.get("shape", f"1, {words.get('warps')}, {words.get('n')}").split(", ")[:3])
    return (
        (words["type"], int(words["d"])) == (("__half", "__nv_bfloat16")[instance.dtype], instance.head_dim)
        and words.get("masked", "false") == ("false", "true")[instance.masked]
        and int(words.get("slice", words["d"])) == instance.slice_dim
        and (16 * m_tiles * warps, tile_n, 32 * warps) == (instance.tile_m, instance.tile_n, instance.threads)
    )


def test_every_instance_has_the_kernel_that_it_tells_of(cuda):
    instances = list(cuda.instances())
    assert instances
    assert all(map(is_itself, instances))
    assert len({instance.kernel for instance in instances}) == len(instances)


def every_problem():
    """Arguments for all kernels: formats, head sizes, masks, dropout, scores, sizes."""
    sizes = (
        {},
        {"nk": 300},
        {"nq": 5000, "nk": 4096, "heads": 8},
        {"nq": 7, "nk": 1},
        {"nk": 128},
        {"nq": 70000, "heads": 16},
    )
    heads = (32, 40, 64, 72, 80, 88, 96, 112, 128, 160, 256, 384, 512)
    dropout = {"dropout": Dropout(seed=5, offset=2**40, kept=200)}
    table = {"table": ctypes.addressof(WIDE_ROWS)}
    masks = ({}, {"key_mask": 0x50000, "key_mask_stride": 77}, dropout)
    for dtype, head_dim, flags, mask, size in itertools.product(
        (Dtype.FLOAT16, Dtype.BFLOAT16), heads, FLAGS, masks, sizes
    ):
        yield packed_attention_args(dtype=dtype, head_dim=head_dim, flags=flags, **mask, **size)
    for dtype, head_dim, flags in itertools.product((Dtype.FLOAT16, Dtype.BFLOAT16), heads, (0, 2)):
        yield packed_attention_args(dtype=dtype, head_dim=head_dim, flags=flags, **table)


def wrong_with(cuda, args, card):
    """What is wrong with the launches for these arguments, and their kernels' names; none where there is no kernel."""
    cuda.forget()
    said = cuda.attention(args, DEVICE, STREAM)
    if said[0] == Status.UNSUPPORTED:
        return [str(said)] if cuda.launches else [], []
    wanted = expected(cuda, args, card, device=DEVICE, stream=STREAM, error=0)
    return differences(cuda.launches, wanted), [launch.kernel for launch in cuda.launches]


@pytest.mark.slow
@pytest.mark.timeout(1200)  # the first of them compiles all kernels
@pytest.mark.parametrize("card", CARDS)
def test_whatever_is_planned_is_launched(cuda, card):
    launched = set()
    for args in every_problem():
        lines, kernels = wrong_with(cuda, attention_of(cuda, args, CARDS[card]), CARDS[card])
        assert lines == []
        launched.update(kernels)
    assert all(map(is_itself, cuda.instances()))
    assert any("attention_dropout" in kernel for kernel in launched)
    assert len(launched) > (30 if card == 75 else 60)
