"""csrc/api/linear.cpp: what mzt_linear answers, whatever it is given."""

import ctypes

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from linear_arguments import convolution_args, gated_args, joined_args, linear_args

from mezzotint_kernels.abi import ABI_VERSION, LinearArgs, Status

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

NOWHERE = 0x5555_0000_0000
HUGE = 2**62
# Everything that need not be there.
GROUPED = {
    "weight_bits": 4,
    "x_bits": 4,
    "x_scales": None,
    "weight_scales": None,
    "x_group_scales": 0xC0000,
    "x_group_scales_stride": 100,
    "weight_group_scales": 0xD0000,
    "weight_group_scales_stride": 72,
}
BARE = {"bias": None, "branch_x": None, "branch_up": None, "rank": 0, "gate": None, "residual": None}


@pytest.fixture
def queue(library):
    """Queue a product; the status and the message."""

    def call(args, device=0, stream=None):
        return Status(library.linear(ctypes.byref(args), device, stream)), library.last_error()

    return call


@pytest.mark.parametrize("changes", [{}, {"weight_bits": 4}, {"dtype": 1}, BARE, GROUPED], ids=str)
def test_what_is_well_is_queued_once_on_the_stream(queue, stand_in, changes):
    assert queue(linear_args(**changes), stream=NOWHERE) == (Status.OK, "")
    assert (stand_in.launches, stand_in.kernel, stand_in.nq, stand_in.stream) == (1, 7, 100, NOWHERE)
    assert stand_in.architecture == 89


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        *(({name: None}, f"{name} is null: give a pointer") for name in ("x", "weight", "out")),
        *(({name: None}, f"{name} is null: give a pointer") for name in ("x_scales", "weight_scales")),
        ({"weight_bits": 4, "group_scales": None}, "group_scales is null"),
        ({"branch_x": None}, "branch_x is null: give both matrices of the branch, or none"),
        ({"branch_up": None}, "branch_up is null: give both matrices of the branch, or none"),
        ({"dtype": 3}, "dtype is 3: give 0 (float16), 1 (bfloat16) or 2 (float32)"),
        ({"weight_bits": 3}, "weight_bits is 3: give 8 or 4"),
        ({"x_bits": 3}, "x_bits is 3: give 8 or 4"),
        ({"floats": 2}, "floats is 2: give 0 or 1"),
        ({"floats": 1, "weight_bits": 4}, "floats is 1, x_bits 8 and weight_bits 4: give both 8 bits"),
        ({"floats": 1, "shares_weight_scale": 2}, "shares_weight_scale is 2: give 0 or 1"),
        ({"shares_weight_scale": 1}, "shares_weight_scale is 1 and floats 0: give a scale for each row"),
        ({"x_bits": 4}, "x_bits is 4 and weight_bits 8: give x of at least as many bits as the weight"),
        (GROUPED | {"weight_bits": 8, "x_bits": 8}, "scales by group are given, and x_bits is 8 and weight_bits 8"),
        (GROUPED | {"x_group_scales": None}, "x_group_scales is null: give a pointer"),
        (GROUPED | {"weight_group_scales": None}, "weight_group_scales is null: give a pointer"),
        (GROUPED | {"x_group_scales_stride": -4}, "x_group_scales_stride is -4"),
        (GROUPED | {"weight_group_scales_stride": HUGE}, f"weight_group_scales_stride is {HUGE}: its last row"),
        ({"rows": -1}, "rows is -1: give 0 or more"),
        ({"in_columns": -16}, "in is -16: give 0 or more"),
        ({"out_columns": -8}, "out_columns is -8"),
        ({"rank": -16}, "rank is -16"),
        ({"rows_per_batch": 0}, "rows_per_batch is 0: give 1 or more"),
        ({"x_stride": -128}, "x_stride is -128: give 0 or more"),
        ({"weight_stride": -128}, "weight_stride is -128"),
        ({"weight_bits": 4, "group_scales_stride": -1}, "group_scales_stride is -1"),
        ({"branch_x_stride": -32}, "branch_x_stride is -32"),
        ({"branch_up_stride": -32}, "branch_up_stride is -32"),
        ({"gate_stride": -72}, "gate_stride is -72"),
        ({"residual_stride": -72}, "residual_stride is -72"),
        ({"x_stride": HUGE}, f"x_stride is {HUGE}: its last row's offset does not fit into 64 bits"),
        ({"out_stride": HUGE}, f"out_stride is {HUGE}: its last row's offset"),
        ({"gate_stride": HUGE}, "gate_stride is"),
        ({"out_stride": 64}, "out_stride is 64 and out_columns 72: rows overlap"),
        ({"residual": 0xB0000, "residual_stride": 80}, "residual is out itself, and residual_stride is 80 where"),
        ({"x_scales": 0x20002}, "x_scales is 0x20002: give an address that is a multiple of 4 bytes"),
        ({"weight_scales": 0x40001}, "weight_scales is 0x40001"),
        ({"bias": 0x60001}, "bias is 0x60001: give an address that is a multiple of 2 bytes"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else None,
)
def test_a_mistake_is_told_by_name_and_value_and_nothing_is_queued(queue, stand_in, changes, words):
    status, said = queue(linear_args(**changes))
    assert status == Status.INVALID_ARGUMENT
    assert words in said
    assert (stand_in.launches, stand_in.plans, stand_in.attribute_calls) == (0, 0, 0)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"dtype": 2}, "dtype is float32: the kernels take float16 and bfloat16"),
        ({"in_columns": 24}, "in is 24, no multiple of 16: use another implementation"),
        ({"in_columns": 80, "weight_bits": 4}, "in is 80, no multiple of 64"),
        ({"in_columns": 80, "weight_bits": 4, "x_bits": 4}, "in is 80, no multiple of 32"),
        ({"in_columns": 131072, "x_stride": 131072}, "in is 131072: the kernels take up to 131071"),
        ({"out_columns": 68}, "out_columns is 68, no multiple of 8"),
        ({"rank": 24}, "rank is 24, no multiple of 16"),
        ({"rank": 272}, "rank is 272: the kernels take up to 256"),
        ({"rows": 10**9 + 1}, "rows is 1000000001: the kernels take up to 1000000000"),
        ({"x": 0x10008}, "x is 0x10008, no multiple of 16 bytes: copy it, or use another implementation"),
        ({"weight": 0x30004}, "weight is 0x30004"),
        ({"branch_x": 0x70002}, "branch_x is 0x70002"),
        ({"branch_up": 0x80008}, "branch_up is 0x80008"),
        ({"gate": 0x90008}, "gate is 0x90008"),
        ({"residual": 0xA0002}, "residual is 0xa0002"),
        ({"out": 0xB0008}, "out is 0xb0008"),
        ({"x_stride": 136}, "x_stride is 136 bytes, no multiple of 16 bytes"),
        ({"weight_stride": 129}, "weight_stride is 129 bytes"),
        ({"branch_x_stride": 36}, "branch_x_stride is 36 elements"),
        ({"branch_up_stride": 33}, "branch_up_stride is 33 elements"),
        ({"gate_stride": 76}, "gate_stride is 76 elements"),
        ({"residual_stride": 74}, "residual_stride is 74 elements"),
        ({"out_stride": 76}, "out_stride is 76 elements"),
        (GROUPED | {"in_columns": 96}, "in is 96, no multiple of 64"),
        (GROUPED | {"x_group_scales": 0xC0004}, "x_group_scales is 0xc0004, no multiple of 16 bytes"),
        (GROUPED | {"x_group_scales_stride": 102}, "x_group_scales_stride is 102 elements"),
        (GROUPED | {"weight_group_scales_stride": 76}, "weight_group_scales_stride is 76 elements"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else None,
)
def test_what_no_kernel_takes_is_unsupported(queue, stand_in, changes, words):
    status, said = queue(linear_args(**changes))
    assert status == Status.UNSUPPORTED
    assert words in said
    assert (stand_in.launches, stand_in.plans) == (0, 0)


def test_what_the_kernels_refuse_is_unsupported(queue, stand_in):
    stand_in.supported = 0
    assert queue(linear_args()) == (Status.UNSUPPORTED, "weight_bits is 8")
    assert stand_in.launches == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"x_stride": 0, "residual_stride": 0, "gate_stride": 0},  # one row for all
        {"rows": 1, "x_stride": 3, "out_stride": -7, "residual_stride": 5},  # of one row, the stride says nothing
        {"rows": 10**9, "x_stride": 2**31},  # more than 2^31 bytes
        {"residual": 0xB0000},  # out itself
        {"rank": 0, "branch_x": 0x70001},  # no branch
        {"branch_x": None, "branch_up": None},
        {"group_scales": None},  # which 8 bits do not have
        {"weight_bits": 4, "group_scales": 0x50001, "group_scales_stride": 3},
        {"weight_bits": 4, "weight_stride": 64},
        {"bias": 0x60002, "x_scales": 0x20004, "weight_scales": 0x40004},
        {"gate": None, "rows_per_batch": 0, "gate_stride": -1},
        {"gate": 0x90000, "rows_per_batch": 2**62},
        {"in_columns": 0, "x": None, "weight": None},  # the bias and the rest
    ],
    ids=str,
)
def test_unusual_things_that_are_well(queue, stand_in, changes):
    assert queue(linear_args(**changes)) == (Status.OK, "")
    assert stand_in.launches == 1


@pytest.mark.parametrize("changes", [{"rows": 0}, {"out_columns": 0}])
def test_nothing_to_compute_is_well_and_launches_nothing(queue, stand_in, changes):
    nowhere = dict.fromkeys(("x", "x_scales", "weight", "weight_scales", "out"))
    assert queue(linear_args(**changes, **nowhere)) == (Status.OK, "")
    assert (stand_in.launches, stand_in.plans) == (0, 0)


@pytest.mark.parametrize("change", [{"size": 200}, {"size": 0}, {"abi": ABI_VERSION + 1}])
def test_a_struct_of_another_version_is_told_so_and_not_read(queue, change):
    args = linear_args(rows=-1, x=None)
    for name, value in change.items():
        setattr(args, name, value)
    status, said = queue(args)
    assert status == Status.ABI_MISMATCH
    assert said.startswith(f"args has {args.size} bytes of version {args.abi}, and this library (0.1.0) takes ")


def test_a_null_struct_is_told_so(library):
    assert library.linear(None, 0, None) == Status.INVALID_ARGUMENT
    assert library.last_error() == "args is null: give a pointer to the struct"


def test_devices_that_will_not_do(queue, stand_in):
    assert queue(linear_args(), device=-1) == (Status.INVALID_ARGUMENT, "device is -1: give 0 or more")
    assert queue(linear_args(), device=5)[0] == Status.NO_DEVICE
    stand_in.current_device = 1
    status, said = queue(linear_args())
    assert status == Status.INVALID_ARGUMENT
    assert said == "device is 0, and the thread's current device is 1: make it the current one first"
    assert stand_in.launches == 0


def test_a_card_that_the_library_has_no_code_for(queue, stand_in):
    stand_in.device_count, stand_in.major, stand_in.minor = 64, 7, 0
    status, said = queue(linear_args(), device=41)  # which no other test asks
    assert status == Status.UNSUPPORTED
    assert said.startswith("device 41 has compute capability 7.0: this library has only sm_75")


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (700, Status.LAUNCH_FAILED, "paper w8a8: an illegal memory access was encountered (CUDA error 700)"),
        (209, Status.UNSUPPORTED, "this library has sm_75 sm_80"),
    ],
)
def test_what_cuda_says_to_a_launch_is_passed_on(queue, stand_in, error, status, words):
    stand_in.launch_error = error
    answer, said = queue(linear_args())
    assert answer == status
    assert words in said


NUMBERS = st.sampled_from([0, 1, 4, 8, 16, 64, 72, 4096, -1, 2**31 - 1, 2**31, 2**62, 2**63 - 1, -(2**63)])
WORDS = [name for name, kind in LinearArgs._fields_ if kind is ctypes.c_int64]


@given(changes=st.dictionaries(st.sampled_from(WORDS), NUMBERS, max_size=6), bits=st.sampled_from([4, 8]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_the_numbers_are_it_ends_with_a_status_and_its_words(queue, stand_in, changes, bits):
    stand_in.launches = 0
    status, said = queue(linear_args(weight_bits=bits, **changes))
    assert status in {Status.OK, Status.INVALID_ARGUMENT, Status.UNSUPPORTED}
    assert bool(said) == (status != Status.OK)
    assert stand_in.launches <= (status == Status.OK)


def test_several_layers_are_well(queue, stand_in):
    assert queue(joined_args()) == (Status.OK, "")
    assert stand_in.launches == 1


@pytest.mark.parametrize(
    ("part", "changes", "words"),
    [
        ({}, {"part_count": 1}, "part_count is 1: give 0, 2 or 3"),
        ({}, {"part_count": 4}, "part_count is 4"),
        ({}, {"weight_bits": 4}, "part_count is 3 with weights of 4 bits"),
        ({}, {"rank": 16, "branch_x": 0x70000, "branch_up": 0x80000}, "parts have integers of 8 bits and no branch"),
        ({}, {"epsilon": -1.0}, "epsilon is -1"),
        ({}, {"epsilon": float("nan")}, "epsilon is nan"),
        ({}, {"part_count": 2}, "out_columns is 512 and the parts have 384: give their sum"),
        ({}, {"head_dim": 72}, "head_dim is 72: give 64 or 128"),
        ({}, {"rotations": None}, "rotations is"),
        ({}, {"rotations": 0xD0004}, "rotations is 0xd0004"),
        ({}, {"rotation_rows": 0}, "rotation_rows 0: give some"),
        ({"out_columns": 96}, {}, "parts[1].out_columns is 96: give a multiple of 64"),
        ({"out_columns": 192}, {"head_dim": 128}, "parts[1].out_columns is 192: give a multiple of head_dim, 128"),
        ({"out_columns": 0}, {}, "parts[1].out_columns is 0"),
        ({"out_columns": 2**62}, {}, "does not fit into 64 bits"),
        ({"weight": None}, {}, "parts.weight is null"),
        ({"weight_scales": None}, {}, "parts[1].weight_scales is"),
        ({"weight_scales": 0x140002}, {}, "parts[1].weight_scales is 0x140002"),
        ({"bias": 0x150001}, {}, "bias 0x150001: give scales, and aligned addresses"),
        ({"flags": 4}, {}, "parts[1].flags is 4: give 0 to 3"),
        ({"flags": 2}, {}, "parts[1].norm_weight is 0xc0000 and flags 2"),
        ({"norm_weight": 0xC0001}, {}, "parts[1].norm_weight is 0xc0001"),
    ],
    ids=str,
)
def test_a_mistake_in_several_layers_is_told(queue, stand_in, part, changes, words):
    status, said = queue(joined_args(part, **changes))
    assert status == Status.INVALID_ARGUMENT
    assert words in said
    assert stand_in.launches == 0


@pytest.mark.parametrize(
    ("part", "changes", "words"),
    [
        ({}, {"activation": 4}, "activation is 4, and the reserved number 0: give 0 to 3, and 0"),
        ({}, {"reserved": 1}, "activation is 3, and the reserved number 1"),
        ({}, {"activation": 1}, "activation is 1 with 2 parts: give a single layer"),
        ({}, {"part_count": 3}, "activation is 3 with 3 parts"),
        ({}, {"gate": 0x90000}, "give two parts alone"),
        ({}, {"residual": 0xA0000}, "give two parts alone"),
        ({"out_columns": 64}, {}, "parts[1] has 64 columns and flags 0 where out_columns is 72: give as many"),
        ({"flags": 1}, {}, "parts[1] has 72 columns and flags 1"),
        ({"weight": None}, {}, "parts.weight is null"),
    ],
)
def test_a_mistake_in_a_gated_unit_is_told(queue, stand_in, part, changes, words):
    status, said = queue(gated_args(part, **changes))
    assert (status, stand_in.launches) == (Status.INVALID_ARGUMENT, 0)
    assert words in said


def test_a_gated_unit_is_queued(queue, stand_in):
    assert (queue(gated_args()), stand_in.launches) == ((Status.OK, ""), 1)


def test_a_layer_that_is_not_aligned_is_not_supported(queue, stand_in):
    status, said = queue(joined_args({"weight": 0x130008}))
    assert (status, stand_in.launches) == (Status.UNSUPPORTED, 0)
    assert "parts.weight is 0x130008, no multiple of 16 bytes" in said


def test_a_convolution_is_queued(queue, stand_in):
    assert (queue(convolution_args()), stand_in.launches) == ((Status.OK, ""), 1)
    assert queue(convolution_args(image_stride=2, rows=2 * 4 * 6)) == (Status.OK, "")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"image_width": 0}, "the images have 8 x 0 pixels and a stride of 1: give 1 to 32767 pixels"),
        ({"image_height": 0}, "the images have 0 x 12 pixels"),
        ({"image_height": 32768}, "the images have 32768 x 12 pixels"),
        ({"image_stride": 3}, "a stride of 3: give 1 to 32767 pixels and a stride of 1 or 2"),
        ({"rows": 190}, "rows is 190, and an image of the output has 96 pixels: give those of whole images"),
        ({"weight_bits": 4}, "a convolution has weights of 4 bits"),
        ({"floats": 1}, "floats 1, 0 parts"),
        ({"activation": 1}, "and activation 1: give integers of 8 bits"),
        ({"rank": 16, "branch_x": 0x70000, "branch_up": 0x80000}, "rank 16 and activation 0"),
        ({"weight_stride": HUGE}, f"weight_stride is {HUGE}: its last row"),
    ],
)
def test_a_mistake_in_a_convolution_is_told(queue, stand_in, changes, words):
    status, said = queue(convolution_args(**changes))
    assert (status, stand_in.launches) == (Status.INVALID_ARGUMENT, 0)
    assert words in said


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"in_columns": 48}, "in is 48, no multiple of 64: use another implementation"),
        (
            {"image_height": 2, "image_width": 2, "image_stride": 2, "rows": 10**9},
            "pixels of x is 4000000000: the kernels take up to 1000000000",
        ),
    ],
)
def test_a_convolution_that_no_kernel_takes_is_unsupported(queue, stand_in, changes, words):
    status, said = queue(convolution_args(**changes))
    assert (status, stand_in.launches) == (Status.UNSUPPORTED, 0)
    assert words in said
