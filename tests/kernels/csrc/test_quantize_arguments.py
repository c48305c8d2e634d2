"""csrc/api/quantize.cpp: what mzt_quantize answers, whatever it is given."""

import ctypes

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from quantize_arguments import quantize_args

from mezzotint_kernels.abi import ABI_VERSION, Preparation, QuantizeArgs, Status

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

NOWHERE = 0x5555_0000_0000
HUGE = 2**62
# Everything that need not be there.
BARE = {"norm_weight": None, "norm_bias": None, "shift": None, "gain": None, "preparation": 0, "group": 0}
GROUPED = BARE | {"bits": 4, "scale_columns": 64, "smooth": 0x90000, "scales_stride": 100}


@pytest.fixture
def queue(library):
    """Queue a quantization; the status and the message."""

    def call(args, device=0, stream=None):
        return Status(library.quantize(ctypes.byref(args), device, stream)), library.last_error()

    return call


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"dtype": 1},
        BARE,
        GROUPED,
        GROUPED | {"smooth": None},
        *(BARE | {"preparation": each, "x_stride": 256} for each in Preparation),
    ],
    ids=str,
)
def test_what_is_well_is_queued_once_on_the_stream(queue, stand_in, changes):
    assert queue(quantize_args(**changes), stream=NOWHERE) == (Status.OK, "")
    assert (stand_in.launches, stand_in.nq, stand_in.stream) == (1, 100, NOWHERE)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        *(({name: None}, f"{name} is null: give a pointer") for name in ("x", "values", "scales")),
        ({"shift": None}, "shift is null: give both shift and gain, or none"),
        ({"gain": None}, "gain is null: give both shift and gain, or none"),
        ({"dtype": 3}, "dtype is 3: give 0 (float16), 1 (bfloat16) or 2 (float32)"),
        ({"preparation": 6}, "preparation is 6: give 0 (as it is) to 5 (GEGLU)"),
        ({"bits": 3}, "bits is 3: give 8 or 4"),
        (GROUPED | {"scale_columns": 32}, "scale_columns is 32: give 0 (whole rows) or 64"),
        (GROUPED | {"bits": 8}, "scale_columns is 64 with bits 8 and preparation 0: give 4 and 0"),
        (GROUPED | {"preparation": 3}, "scale_columns is 64 with bits 4 and preparation 3"),
        (GROUPED | {"scale_columns": 0}, "smooth is 0x90000, and scale_columns 0: give null, or 64 columns"),
        (GROUPED | {"scales_stride": 99}, "scales_stride is 99 and rows 100: groups overlap"),
        ({"floats": 2}, "floats is 2: give 0 or 1"),
        ({"floats": 1, "bits": 4}, "floats is 1 and bits 4: give 8 bits"),
        ({"group": 32}, "group is 32: give 0 (no rotation), 4, 16, 64 or 256"),
        ({"group": 1024}, "group is 1024: give 0"),
        ({"group": 256}, "group is 256 and columns 128, which is no multiple of it: give a group that divides columns"),
        ({"preparation": 0}, "norm_weight is 0x20000, and preparation 0 is no norm: give null"),
        ({"preparation": 4, "norm_weight": None}, "norm_bias is 0x30000, and preparation 4 is no norm"),
        ({"epsilon": -1e-6}, "epsilon is -1e-06: give a number of 0 or more"),
        ({"epsilon": float("nan")}, "epsilon is nan"),
        ({"epsilon": float("inf"), "preparation": 2}, "epsilon is inf"),
        ({"rows": -1}, "rows is -1: give 0 or more"),
        ({"columns": -128}, "columns is -128: give 0 or more"),
        ({"rows_per_batch": 0}, "rows_per_batch is 0: give 1 or more"),
        ({"rows_per_batch": -3}, "rows_per_batch is -3: give 1 or more"),
        ({"x_stride": -128}, "x_stride is -128: give 0 or more"),
        ({"values_stride": -128}, "values_stride is -128: give 0 or more"),
        ({"modulation_stride": -128}, "modulation_stride is -128: give 0 or more"),
        ({"x_stride": HUGE}, f"x_stride is {HUGE}: the end of the last row of x does not fit into 64 bits"),
        ({"values_stride": HUGE}, f"values_stride is {HUGE}: the end of the last row of values"),
        ({"modulation_stride": HUGE}, f"modulation_stride is {HUGE}: the end of the last row of shift"),
        ({"rows": 1, "columns": HUGE}, f"columns is {HUGE}: the end of the last row of x"),
        (BARE | {"preparation": 5, "columns": 2**63 - 256, "rows": 1}, "columns is 9223372036854775552: the end"),
        ({"values_stride": 64}, "values_stride is 64 and columns 128: rows overlap"),
        ({"scales": 0x70002}, "scales is 0x70002: give an address that is a multiple of 4 bytes"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else None,
)
def test_a_mistake_is_told_by_name_and_value_and_nothing_is_queued(queue, stand_in, changes, words):
    status, said = queue(quantize_args(**changes))
    assert words in said
    assert status == Status.INVALID_ARGUMENT
    assert (stand_in.launches, stand_in.attribute_calls) == (0, 0)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"dtype": 2}, "dtype is float32: the kernels take float16 and bfloat16"),
        ({"columns": 120, "group": 4}, "columns is 120, no multiple of 16: use another implementation"),
        ({"columns": 16448, "values_stride": 16448}, "columns is 16448: the kernels take up to 16384"),
        ({"rows": 10**9 + 1}, "rows is 1000000001: the kernels take up to 1000000000"),
        (GROUPED | {"columns": 96}, "columns is 96, no multiple of 64"),
        (GROUPED | {"smooth": 0x90004}, "smooth is 0x90004, no multiple of 16 bytes"),
        ({"x": 0x10008}, "x is 0x10008, no multiple of 16 bytes: copy it, or use another implementation"),
        ({"norm_weight": 0x20002}, "norm_weight is 0x20002"),
        ({"norm_bias": 0x30004}, "norm_bias is 0x30004"),
        ({"shift": 0x40008}, "shift is 0x40008"),
        ({"gain": 0x50002}, "gain is 0x50002"),
        ({"values": 0x60008}, "values is 0x60008"),
        ({"x_stride": 132}, "x_stride is 132 elements, no multiple of 16 bytes: copy x"),
        ({"modulation_stride": 130}, "modulation_stride is 130 elements, no multiple of 16 bytes: copy shift"),
        ({"values_stride": 136}, "values_stride is 136 bytes, no multiple of 16 bytes: copy values"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else None,
)
def test_what_no_kernel_takes_is_unsupported(queue, stand_in, changes, words):
    status, said = queue(quantize_args(**changes))
    assert words in said
    assert status == Status.UNSUPPORTED
    assert stand_in.launches == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"x_stride": 0, "modulation_stride": 0},  # one row for all
        {"rows": 1, "x_stride": 3, "values_stride": -7},  # of one row, the stride says nothing
        {"rows": 50, "modulation_stride": 3},  # and neither does that of one batch
        {"rows": 10**9, "x_stride": 2**31},  # more than 2^31 bytes
        {"rows_per_batch": 2**62},
        {"rows_per_batch": 7},  # the last batch has fewer
        {"shift": None, "gain": None, "rows_per_batch": 0, "modulation_stride": -1},
        {"norm_weight": None},
        {"norm_bias": None, "preparation": 2},
        {"epsilon": 0},
        BARE | {"epsilon": -1},  # which no norm asks for
        BARE | {"preparation": 3, "shift": 0x40000, "gain": 0x50000},  # an activation, modulated
        {"scales": 0x70004, "columns": 16, "group": 16},
        {"columns": 0, "x": None, "values": None},  # scales of rows without a number
    ],
    ids=str,
)
def test_unusual_things_that_are_well(queue, stand_in, changes):
    assert queue(quantize_args(**changes)) == (Status.OK, "")
    assert stand_in.launches == 1


def test_no_rows_are_well_and_launch_nothing(queue, stand_in):
    nowhere = dict.fromkeys(("x", "norm_weight", "norm_bias", "shift", "gain", "values", "scales"))
    assert queue(quantize_args(rows=0, **nowhere)) == (Status.OK, "")
    assert stand_in.launches == 0


@pytest.mark.parametrize("change", [{"size": 120}, {"size": 0}, {"abi": ABI_VERSION + 1}])
def test_a_struct_of_another_version_is_told_so_and_not_read(queue, change):
    args = quantize_args(rows=-1, x=None)
    for name, value in change.items():
        setattr(args, name, value)
    status, said = queue(args)
    assert status == Status.ABI_MISMATCH
    assert said.startswith(f"args has {args.size} bytes of version {args.abi}, and this library (0.1.0) takes ")


def test_a_null_struct_is_told_so(library):
    assert library.quantize(None, 0, None) == Status.INVALID_ARGUMENT
    assert library.last_error() == "args is null: give a pointer to the struct"


def test_devices_that_will_not_do(queue, stand_in):
    assert queue(quantize_args(), device=-1) == (Status.INVALID_ARGUMENT, "device is -1: give 0 or more")
    assert queue(quantize_args(), device=5)[0] == Status.NO_DEVICE
    stand_in.current_device = 1
    status, said = queue(quantize_args())
    assert status == Status.INVALID_ARGUMENT
    assert said == "device is 0, and the thread's current device is 1: make it the current one first"
    assert stand_in.launches == 0


def test_a_card_that_the_library_has_no_code_for(queue, stand_in):
    stand_in.device_count, stand_in.major, stand_in.minor = 64, 7, 0
    status, said = queue(quantize_args(), device=42)  # which no other test asks
    assert status == Status.UNSUPPORTED
    assert said.startswith("device 42 has compute capability 7.0: this library has only sm_75")
    assert stand_in.launches == 0


def test_what_cuda_answers_to_a_launch_is_in_the_message(queue, stand_in):
    stand_in.launch_error = 700
    status, said = queue(quantize_args())
    assert status == Status.LAUNCH_FAILED
    assert said == "quantize_rows: an illegal memory access was encountered (CUDA error 700)"


NUMBERS = st.sampled_from([0, 1, 4, 8, 16, 64, 128, 136, 4096, -1, 2**31 - 1, 2**31, 2**62, 2**63 - 1, -(2**63)])
WORDS = [name for name, kind in QuantizeArgs._fields_ if kind is ctypes.c_int64]


@given(
    changes=st.dictionaries(st.sampled_from(WORDS), NUMBERS, max_size=6),
    preparation=st.sampled_from(Preparation),
    group=st.sampled_from([0, 4, 256]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_the_numbers_are_it_ends_with_a_status_and_its_words(queue, stand_in, changes, preparation, group):
    stand_in.launches = 0
    norm = {} if preparation in (1, 2) else {"norm_weight": None, "norm_bias": None}
    status, said = queue(quantize_args(preparation=preparation, group=group, **norm, **changes))
    assert status in {Status.OK, Status.INVALID_ARGUMENT, Status.UNSUPPORTED}
    assert bool(said) == (status != Status.OK)
    assert stand_in.launches <= (status == Status.OK)
