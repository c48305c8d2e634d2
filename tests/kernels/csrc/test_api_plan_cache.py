"""csrc/api/plan_cache.cpp: plans are made once for each kind of call, and what is asked is checked at each."""

import ctypes
import threading

import pytest
from attention_arguments import attention_args, table_args

from mezzotint_kernels.abi import AttentionPlanStruct, Dropout, Status

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

SOMEWHERE = 0x5555_0000_0000


@pytest.fixture
def forward(library):
    return lambda args, device=0: Status(library.attention_forward(ctypes.byref(args), device, None))


@pytest.fixture
def planned(library):
    """The name of the kernel for arguments, or why there is none."""

    def call(args):
        plan = AttentionPlanStruct()
        library.check(library.attention_plan(ctypes.byref(args), 0, ctypes.byref(plan)))
        return plan.text.decode()

    return call


def test_other_tensors_of_one_kind_are_not_planned_anew(forward, planned, stand_in):
    for shift in (0, 128, 1 << 33):
        args = attention_args()
        args.q, args.k, args.v, args.out = (address + shift for address in (args.q, args.k, args.v, args.out))
        args.workspace, args.workspace_bytes = SOMEWHERE, shift
        assert forward(args) == Status.OK
    assert planned(args) == "paper d64"
    assert (stand_in.plans, stand_in.launches) == (1, 3)


def test_other_random_numbers_are_not_planned_anew(forward, stand_in):
    for seed in range(3):
        args = attention_args()
        args.dropout = Dropout(kept=200, seed=seed, offset=1000 * seed)
        assert forward(args) == Status.OK
    assert (stand_in.plans, stand_in.launches) == (1, 3)


def test_other_tables_are_not_planned_anew_and_other_rows_are(forward, stand_in):
    tables = [table_args(), table_args(col=SOMEWHERE, tile=None, bits=None), table_args(block_q=128, rows=1)]
    plans = []
    for table in tables:
        assert forward(attention_args(table=ctypes.addressof(table))) == Status.OK
        plans.append(stand_in.plans)
    assert forward(attention_args()) == Status.OK
    assert [*plans, stand_in.plans] == [1, 1, 2, 3]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"dropout": Dropout(kept=200)}, id="dropout"),
        {"nq": 50},
        {"nk": 50},
        {"batch": 1},
        {"head_dim": 32},
        {"dtype": 1},
        {"flags": 1},
        {"scale": 2.0},
        {"q_stride": (64, 64 * 100, 128)},
        {"bias": SOMEWHERE},
        {"key_mask": SOMEWHERE},
        {"key_lengths": SOMEWHERE},
        {"lse": SOMEWHERE},
        {"k": SOMEWHERE + 16},
    ],
    ids=str,
)
def test_another_kind_is_planned_for_itself(forward, stand_in, changes):
    args = attention_args()
    assert forward(args) == Status.OK
    for name, value in changes.items():
        setattr(args, name, value)
    for _ in range(2):
        assert forward(args) == Status.OK
    assert stand_in.plans == 2


def test_another_card_is_planned_for(forward, stand_in):
    stand_in.device_count = 2
    assert forward(attention_args()) == Status.OK
    stand_in.current_device, stand_in.major, stand_in.minor = 1, 9, 0
    assert forward(attention_args(), 1) == Status.OK
    assert (stand_in.plans, stand_in.architecture) == (2, 90)


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"q": None}, Status.INVALID_ARGUMENT),
        ({"out": SOMEWHERE + 2}, Status.UNSUPPORTED),
        ({"out_stride": (0, 6400, 64)}, Status.INVALID_ARGUMENT),
        ({"lse": SOMEWHERE + 2}, Status.INVALID_ARGUMENT),
        ({"abi": 2}, Status.ABI_MISMATCH),
        ({"workspace": None}, Status.WORKSPACE_TOO_SMALL),
    ],
    ids=str,
)
def test_what_is_remembered_is_checked_all_the_same(forward, stand_in, changes, status):
    stand_in.workspace_bytes = 1000
    args = attention_args()
    args.workspace, args.workspace_bytes = SOMEWHERE, 1000
    assert forward(args) == Status.OK
    for name, value in changes.items():
        setattr(args, name, value)
    assert forward(args) == status
    assert stand_in.launches == 1


def test_that_there_is_no_kernel_is_remembered_with_its_reason(forward, planned, stand_in):
    stand_in.supported = 0
    args = attention_args()
    assert [forward(args), forward(args), planned(args)] == [Status.UNSUPPORTED] * 2 + ["head_dim is 64"]
    assert stand_in.plans == 1


def test_more_kinds_than_there_is_room_for_are_never_mixed_up(planned, stand_in):
    args = attention_args()
    for _ in range(2):
        for head_dim in range(8, 8 * 700, 8):
            args.head_dim = head_dim
            args.q_stride = args.k_stride = args.v_stride = args.out_stride = (1 << 40, 1 << 30, head_dim)
            assert planned(args) == f"paper d{head_dim}"
    assert stand_in.plans >= 699


def test_threads_may_plan_at_once(planned):
    wrong = []

    def plan(head_dim):
        args = attention_args()
        args.head_dim = head_dim
        args.q_stride = args.k_stride = args.v_stride = args.out_stride = (1 << 40, 1 << 30, head_dim)
        for nq in range(300):
            args.nq = 1 + nq % 90
            if planned(args) != f"paper d{head_dim}":
                wrong.append(head_dim)

    threads = [threading.Thread(target=plan, args=(8 * number,)) for number in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
