"""csrc/api/table_arguments.cpp: mistakes in a block table are told before anything is queued."""

import ctypes

import pytest
from attention_arguments import attention_args, backward_args, table_args

from mezzotint_kernels.abi import AttentionPlanStruct, Dropout, Status

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

SOMEWHERE = 0x5555_0000_0000


@pytest.fixture
def forward(library):
    """Queue attention with a table; the status and the message."""

    def call(table, **changes):
        args = attention_args(table=ctypes.addressof(table), **changes)
        return Status(library.attention_forward(ctypes.byref(args), 0, None)), library.last_error()

    return call


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"tile": None, "bits": None},
        {"block_q": 128, "rows": 1, "stride_head": 1},
        {"stride_batch": 8},
        {"stride_batch": 2**31 - 16, "stride_head": 2},
    ],
    ids=str,
)
def test_what_is_well_is_queued(forward, stand_in, changes):
    assert forward(table_args(**changes)) == (Status.OK, "")
    assert stand_in.launches == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"block_q": 32}, "table.block_q is 32: give 64 or 128"),
        ({"block_q": 0}, "table.block_q is 0"),
        ({"block_k": 128}, "table.block_k is 128: give 64"),
        ({"reserved": 1}, "table.reserved is 1: give 0"),
        ({"rows": 1}, "table.rows is 1: give 2, for 100 queries"),
        ({"rows": 3}, "table.rows is 3: give 2"),
        ({"rows": -1}, "table.rows is -1"),
        ({"stride_head": -2}, "table.stride_head is -2"),
        ({"stride_batch": -1}, "table.stride_batch is -1"),
        ({"stride_batch": 2**31}, "table.stride_batch is 2147483648: give 0 or more, and fewer than 2^31 rows"),
        ({"stride_head": 2**62}, "table.stride_head is"),
        ({"stride_batch": 2**31 - 16, "stride_head": 20}, "table.stride_head is 20"),
        ({"row_ptr": None}, "table.row_ptr is null"),
        ({"col": None}, "table.col is null"),
        ({"tile": None}, "table.tile is null: give both tile and bits, or neither"),
        ({"bits": None}, "table.bits is null"),
        ({"row_ptr": SOMEWHERE + 2}, "table.row_ptr is 0x555500000002: give an address that is a multiple of 4"),
        ({"col": SOMEWHERE + 1}, "table.col is"),
        ({"tile": SOMEWHERE + 3}, "table.tile is"),
        ({"order": SOMEWHERE + 2}, "table.order is 0x555500000002: give an address that is a multiple of 4"),
        ({"bits": SOMEWHERE + 4}, "table.bits is 0x555500000004: give an address that is a multiple of 8"),
    ],
    ids=str,
)
def test_a_mistake_is_told_by_name_and_value(forward, stand_in, changes, words):
    status, said = forward(table_args(**changes))
    assert status == Status.INVALID_ARGUMENT
    assert words in said
    assert (stand_in.launches, stand_in.plans) == (0, 0)


@pytest.mark.parametrize("nq", [2**62, 2**63 - 1])
def test_no_number_of_queries_overflows(forward, nq):
    status, said = forward(table_args(), nq=nq, q_stride=(0, 0, 0), out_stride=(0, 0, 0))
    assert status == Status.INVALID_ARGUMENT
    assert "out_stride" in said or "table.rows is 2" in said


@pytest.mark.parametrize("change", [{"size": 72}, {"abi": 2}])
def test_a_struct_of_another_version_is_told_so(forward, stand_in, change):
    table = table_args()
    for name, value in change.items():
        setattr(table, name, value)
    status, said = forward(table)
    assert status == Status.ABI_MISMATCH
    assert said.startswith(f"table has {table.size} bytes of version {table.abi}, and this library (0.1.0) takes 80")
    assert stand_in.launches == 0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, ""),
        ({"rows": 1}, "table.rows is 1: give 2, for 77 keys"),
        ({"block_q": 32}, "table.block_q is 32"),
        ({"col": None}, "table.col is null"),
    ],
    ids=str,
)
def test_the_backward_pass_takes_a_table_of_keys(library, stand_in, changes, words):
    table = table_args(**changes)
    args = backward_args(table=ctypes.addressof(table), workspace=0x100000, workspace_bytes=1 << 30)
    status = Status(library.backward(ctypes.byref(args), 0, None))
    assert (status, stand_in.launches) == ((Status.INVALID_ARGUMENT, 0) if words else (Status.OK, 1))
    assert words in library.last_error()
    args.dropout = Dropout(kept=200)
    assert words or library.backward(ctypes.byref(args), 0, None) == Status.UNSUPPORTED


def test_dropout_and_a_table_have_no_kernel(forward, stand_in):
    status, said = forward(table_args(), dropout=Dropout(kept=200))
    assert (status, stand_in.launches) == (Status.UNSUPPORTED, 0)
    assert said == "dropout and a table are given: the kernels take one of them"


def test_a_plan_needs_no_arrays(library, stand_in):
    table = table_args(row_ptr=None, col=None, tile=None, bits=None)
    args, plan = attention_args(table=ctypes.addressof(table)), AttentionPlanStruct()
    library.check(library.attention_plan(ctypes.byref(args), 0, ctypes.byref(plan)))
    assert plan.supported
