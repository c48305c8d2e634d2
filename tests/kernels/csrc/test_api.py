"""csrc/api: what the exported functions answer, whatever they are given."""

import ctypes
import re
import subprocess
import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mezzotint_kernels.abi import ABI_VERSION, AttentionArgs, AttentionPlanStruct, DeviceStruct, Dropout, Status

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

NOWHERE = 0x5555_0000_0000
HUGE = 2**62


@pytest.fixture
def forward(library):
    """Queue attention; the status and the message."""

    def call(args, device=0, stream=None):
        return Status(library.attention_forward(ctypes.byref(args), device, stream)), library.last_error()

    return call


@pytest.fixture
def plan(library):
    def call(args, device=0):
        plan = AttentionPlanStruct()
        status = Status(library.attention_plan(ctypes.byref(args), device, ctypes.byref(plan)))
        return status, plan, library.last_error()

    return call


def changed(args, **changes):
    """The same arguments but for some fields; `q_stride_2=65` changes one stride of three."""
    result = AttentionArgs.from_buffer_copy(args)
    for name, value in changes.items():
        field, _, index = name.rpartition("_")
        if index.isdigit():
            getattr(result, field)[int(index)] = value
        else:
            setattr(result, name, value)
    return result


def test_what_is_well_is_queued_once_on_the_stream(forward, stand_in, args):
    assert forward(args, stream=NOWHERE) == (Status.OK, "")
    assert (stand_in.launches, stand_in.kernel, stand_in.nq, stand_in.stream) == (1, 7, 100, NOWHERE)
    assert stand_in.architecture == 89


def test_a_plan_names_the_kernel_and_its_workspace(plan, stand_in, args):
    stand_in.workspace_bytes = 4096
    status, found, said = plan(args)
    assert (status, said) == (Status.OK, "")
    assert (found.supported, found.kernel, found.workspace_bytes, found.text) == (1, 7, 4096, b"paper d64")
    assert stand_in.launches == 0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"q": None}, "q is null"),
        ({"k": None}, "k is null"),
        ({"v": None}, "v is null"),
        ({"out": None}, "out is null"),
        ({"flags": 0x44}, "flags are 0x44: this library knows 0x7b"),
        ({"flags": 8}, "flags are 0x8: values in int8 need scores in int8, 0xa"),
        ({"dtype": 3}, "dtype is 3"),
        ({"dropout": Dropout(kept=257)}, "dropout keeps 257 of 256, and its reserved number is 0"),
        ({"dropout": Dropout(kept=256, reserved=1)}, "its reserved number is 1: give at most 256, and 0"),
        ({"bias": NOWHERE, "bias_dtype": 1}, "bias_dtype is 1: give 2 (float32) or 0"),
        ({"batch": -1}, "batch is -1: give 0 or more"),
        ({"heads": 0}, "heads is 0: give 1 or more"),
        ({"kv_heads": 0}, "kv_heads is 0"),
        ({"kv_heads": -2}, "kv_heads is -2"),
        ({"kv_heads": 3}, "heads is 4, no multiple of kv_heads, which is 3"),
        ({"head_dim": 0}, "head_dim is 0"),
        ({"nq": -5}, "nq is -5"),
        ({"nk": -5}, "nk is -5"),
        ({"scale": float("nan")}, "scale is nan"),
        ({"scale": float("inf")}, "scale is inf"),
        ({"q_stride_2": -64}, "q_stride[2] (token) is -64"),
        ({"v_stride_0": -64}, "v_stride[0] (batch) is -64"),
        ({"q_stride_0": HUGE}, "its last element's offset does not fit into 64 bits"),
        ({"k_stride_1": HUGE, "k_stride_0": HUGE}, "k_stride is"),
        ({"out_stride_2": 56}, "out_stride is (25600, 6400, 56): elements overlap"),
        ({"out_stride_0": 0}, "elements overlap"),
        ({"lse": NOWHERE + 2}, "lse is 0x555500000002: give an address that is a multiple of 4"),
        ({"key_lengths": NOWHERE + 1}, "key_lengths is 0x555500000001"),
        ({"key_mask": NOWHERE, "key_mask_stride": -1}, "key_mask_stride is -1"),
        ({"key_mask": NOWHERE, "key_mask_stride": 2**63 - 1, "batch": 3}, "key_mask_stride is 9223372036854775807"),
        ({"bias": NOWHERE + 1}, "bias is 0x555500000001: give an address that is a multiple of 2"),
        ({"bias": NOWHERE + 2, "bias_dtype": 2}, "multiple of 4"),
        ({"bias": NOWHERE, "bias_stride_3": -1}, "bias_stride[3] is -1"),
        ({"bias": NOWHERE, "bias_stride_0": HUGE, "bias_stride_2": HUGE}, "bias_stride is"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else None,
)
def test_a_mistake_is_told_by_name_and_value_and_nothing_is_queued(forward, stand_in, args, changes, words):
    status, said = forward(changed(args, **changes))
    assert status == Status.INVALID_ARGUMENT
    assert words in said
    assert (stand_in.launches, stand_in.plans, stand_in.attribute_calls) == (0, 0, 0)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"dtype": 2}, "dtype is float32"),
        ({"scale": 0.0}, "scale is 0"),
        ({"scale": -1.0}, "scale is -1"),
        ({"q": 0x10008}, "q is 0x10008, no multiple of 16 bytes"),
        ({"out": 0x10002}, "out is 0x10002"),
        ({"q_stride_2": 65}, "q_stride[2] (token) is 65 elements, no multiple of 16 bytes"),
        ({"k_stride_1": 4932}, "k_stride[1] (head) is 4932"),
        ({"v_stride_0": 9860}, "v_stride[0] (batch) is 9860"),
        ({"out_stride_0": 25604}, "out_stride[0] (batch) is 25604"),
        ({"nk": 10**9 + 1}, "nk is 1000000001: the kernels take up to 1000000000"),
        ({"nq": 2**31, "out_stride_1": 2**38, "out_stride_0": 2**40}, "nq is 2147483648"),
        ({"heads": 2**32, "out_stride_1": 0, "nq": 0}, "heads is 4294967296"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else None,
)
def test_what_no_kernel_takes_is_unsupported_and_its_plan_says_why(forward, plan, stand_in, args, changes, words):
    wanted = changed(args, **changes)
    status, said = forward(wanted)
    assert status == Status.UNSUPPORTED
    assert words in said
    status, found, said = plan(wanted)
    assert (status, said, found.supported) == (Status.OK, "", 0)
    assert words in found.text.decode()
    assert stand_in.launches == 0


def test_what_the_kernels_refuse_is_unsupported(forward, plan, stand_in, args):
    stand_in.supported = 0
    assert forward(args) == (Status.UNSUPPORTED, "head_dim is 64")
    status, found, _ = plan(args)
    assert (status, found.supported, found.text) == (Status.OK, 0, b"head_dim is 64")


@pytest.mark.parametrize(
    "changes",
    [
        {"k_stride_0": 0, "v_stride_0": 0},  # one text for all images
        {"q_stride_1": 64, "q_stride_2": 256, "out_stride_1": 64, "out_stride_2": 256},  # tokens before heads
        {"batch": 1, "q_stride_0": 3, "out_stride_0": -7},  # of one image, the stride says nothing
        {"nk": 1, "k_stride_2": 1, "v_stride_2": -1},
        {"nq": 10**9, "out_stride_1": 2**38, "out_stride_0": 2**40},  # more than 2^31 elements
        {"bias": NOWHERE, "bias_dtype": 2, "bias_stride_2": 77, "bias_stride_3": 1},
        {"bias": NOWHERE, "bias_dtype": 0, "bias_stride_2": 1, "bias_stride_3": 33},
        {"key_mask": NOWHERE + 1, "key_mask_stride": 0},
        {"key_lengths": NOWHERE, "lse": NOWHERE, "flags": 3},
        {"nk": 0, "k": None, "v": None},  # all rows are zeros
    ],
    ids=lambda value: " ".join(value),
)
def test_unusual_things_that_are_well(forward, stand_in, args, changes):
    assert forward(changed(args, **changes)) == (Status.OK, "")
    assert stand_in.launches == 1


@pytest.mark.parametrize("changes", [{"nq": 0}, {"batch": 0}, {"nq": 0, "nk": 0}])
def test_nothing_to_compute_is_well_and_launches_nothing(forward, plan, stand_in, args, changes):
    empty = changed(args, **changes, q=None, out=None)
    assert forward(empty) == (Status.OK, "")
    status, found, _ = plan(empty)
    assert (status, found.supported, found.workspace_bytes) == (Status.OK, 1, 0)
    assert (stand_in.launches, stand_in.plans) == (0, 0)


def test_a_plan_needs_no_tensors(plan, args):
    status, found, _ = plan(changed(args, q=None, k=None, v=None, out=None))
    assert (status, found.supported) == (Status.OK, 1)


@pytest.mark.parametrize(
    ("changes", "status", "words"),
    [
        ({}, Status.WORKSPACE_TOO_SMALL, "of 0 bytes: this needs 1000 bytes"),
        ({"workspace": NOWHERE, "workspace_bytes": 999}, Status.WORKSPACE_TOO_SMALL, "of 999 bytes: this needs 1000"),
        ({"workspace": None, "workspace_bytes": 1000}, Status.WORKSPACE_TOO_SMALL, "this needs 1000"),
        ({"workspace": NOWHERE + 8, "workspace_bytes": 1000}, Status.INVALID_ARGUMENT, "multiple of 16"),
        ({"workspace": NOWHERE, "workspace_bytes": 1000}, Status.OK, ""),
    ],
)
def test_the_workspace_must_be_there_and_large_enough(forward, stand_in, args, changes, status, words):
    stand_in.workspace_bytes = 1000
    answer, said = forward(changed(args, **changes))
    assert answer == status
    assert words in said
    assert stand_in.launches == (status == Status.OK)


@pytest.mark.parametrize("change", [{"size": 280}, {"size": 0}, {"abi": ABI_VERSION + 1}, {"abi": 0}])
def test_a_struct_of_another_version_is_told_so_and_not_read(forward, plan, library, args, change):
    other = changed(args, **change, heads=-1, q=None)
    for status, said in (forward(other), plan(other)[::2]):
        assert status == Status.ABI_MISMATCH
        assert said.startswith(
            f"args has {other.size} bytes of version {other.abi}, and this library (0.1.0) takes 320"
        )
    struct = AttentionPlanStruct()
    for name, value in change.items():
        setattr(struct, name, value)
    assert library.attention_plan(ctypes.byref(args), 0, ctypes.byref(struct)) == Status.ABI_MISMATCH
    device = DeviceStruct()
    device.size = 8
    assert library.device(0, ctypes.byref(device)) == Status.ABI_MISMATCH


def test_null_structs_are_told_so(library, args):
    nothing = AttentionPlanStruct()
    for status in (
        library.attention_forward(None, 0, None),
        library.attention_plan(None, 0, ctypes.byref(nothing)),
        library.attention_plan(ctypes.byref(args), 0, None),
        library.device(0, None),
        library.driver(None, None),
    ):
        assert status == Status.INVALID_ARGUMENT
        assert "is null" in library.last_error()


@pytest.mark.parametrize(
    ("state", "status", "words"),
    [
        ({"driver_version": 0}, Status.NO_DEVICE, "there is no NVIDIA driver here"),
        (
            {"driver_version": 12020, "count_error": 35},
            Status.DRIVER_TOO_OLD,
            "for CUDA 12.2, and this library needs 12.9",
        ),
        ({"count_error": 100}, Status.NO_DEVICE, "the NVIDIA driver (CUDA 13.0) has no device"),
        ({"device_count": 0}, Status.NO_DEVICE, "has no device to use"),
        ({"count_error": 999}, Status.LAUNCH_FAILED, "something (CUDA error 999)"),
    ],
)
def test_no_driver_an_old_one_and_one_without_devices_are_told_apart(
    forward, library, stand_in, args, state, status, words
):
    for name, value in state.items():
        setattr(stand_in, name, value)
    version, devices = ctypes.c_int32(-1), ctypes.c_int32(-1)
    assert library.driver(ctypes.byref(version), ctypes.byref(devices)) == status
    assert words in library.last_error()
    assert version.value == stand_in.driver_version
    answer, said = forward(args, device=63)  # which no test has found before
    assert answer == status
    assert words in said


def test_a_device_that_is_not_there(forward, library, stand_in, args):
    assert forward(args, device=-1) == (Status.INVALID_ARGUMENT, "device is -1: give 0 or more")
    stand_in.device_count = 2
    assert forward(args, device=5) == (Status.NO_DEVICE, "device is 5, and there are 2: give 0 to 1")
    struct = DeviceStruct()
    assert library.device(100, ctypes.byref(struct)) == Status.NO_DEVICE


def test_the_device_must_be_the_current_one(forward, stand_in, args):
    stand_in.current_device = 1
    status, said = forward(args)
    assert status == Status.INVALID_ARGUMENT
    assert said == "device is 0, and the thread's current device is 1: make it the current one first"


def test_a_device_tells_about_itself(library, stand_in):
    stand_in.device_count = 8
    struct = DeviceStruct()
    assert library.device(7, ctypes.byref(struct)) == Status.OK
    assert (struct.major, struct.minor, struct.multiprocessors, struct.shared_bytes) == (8, 9, 46, 101376)
    assert struct.name == b"Paper Card 7"
    stand_in.name_error = 101
    assert library.device(7, ctypes.byref(struct)) == Status.NO_DEVICE


# Each device is found once in a process, so every capability has an ordinal of its own.
@pytest.mark.parametrize(
    ("ordinal", "capability", "loaded"),
    [
        (10, (7, 5), 75),
        (11, (8, 0), 80),
        (12, (8, 7), 86),
        (13, (8, 9), 89),
        (14, (9, 0), 90),
        (15, (12, 0), 120),
        (16, (12, 1), 120),
        (17, (13, 0), 120),  # by its driver's compiler, from PTX
        (20, (7, 0), None),
        (21, (6, 1), None),
        (22, (9, 1), None),
        (18, (10, 0), 100),
        (19, (10, 3), 100),
        (24, (11, 0), None),
    ],
)
def test_the_code_that_a_card_can_load_is_chosen(forward, plan, stand_in, args, ordinal, capability, loaded):
    stand_in.device_count, stand_in.current_device = 64, ordinal
    stand_in.major, stand_in.minor = capability
    status, said = forward(args, device=ordinal)
    _, found, _ = plan(args, device=ordinal)
    if loaded is None:
        assert status == Status.UNSUPPORTED
        assert "compute capability {}.{}: this library has only sm_75".format(*capability) in said
        assert found.text.decode() == said
        assert stand_in.launches == 0
    else:
        assert (status, stand_in.architecture) == (Status.OK, loaded)


def test_a_device_is_asked_once(forward, stand_in, args):
    stand_in.device_count, stand_in.current_device = 64, 30
    for _ in range(3):
        assert forward(args, device=30)[0] == Status.OK
    assert stand_in.attribute_calls == 1


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (700, Status.LAUNCH_FAILED, "paper d64: an illegal memory access was encountered (CUDA error 700)"),
        (209, Status.UNSUPPORTED, "this library has sm_75 sm_80"),
        (222, Status.UNSUPPORTED, "(CUDA error 222)"),
        (35, Status.DRIVER_TOO_OLD, "update the driver"),
    ],
)
def test_what_cuda_says_to_a_launch_is_passed_on(forward, stand_in, args, error, status, words):
    stand_in.launch_error = error
    answer, said = forward(args)
    assert answer == status
    assert words in said


NUMBERS = st.sampled_from([0, 1, 2, 8, 63, 64, 4096, -1, 2**31 - 1, 2**31, 2**62, 2**63 - 1, -(2**63)])
STRIDES = [f"{name}_stride_{axis}" for name in ("q", "k", "v", "out") for axis in range(3)]
SIZES = [
    "batch",
    "heads",
    "kv_heads",
    "nq",
    "nk",
    "head_dim",
    "key_mask_stride",
    *(f"bias_stride_{i}" for i in range(4)),
]


@given(changes=st.dictionaries(st.sampled_from(SIZES + STRIDES), NUMBERS, max_size=6), masked=st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_the_numbers_are_it_ends_with_a_status_and_its_words(forward, stand_in, args, changes, masked):
    stand_in.launches = 0
    pointers = {"bias": NOWHERE, "key_mask": NOWHERE} if masked else {}
    status, said = forward(changed(args, **changes, **pointers))
    assert status in {Status.OK, Status.INVALID_ARGUMENT, Status.UNSUPPORTED}
    assert bool(said) == (status != Status.OK)
    assert stand_in.launches <= (status == Status.OK)


def test_errors_belong_to_their_thread_and_end_with_the_next_success(library, forward, args):
    assert forward(changed(args, nq=-5))[0] == Status.INVALID_ARGUMENT
    said = []
    other = threading.Thread(target=lambda: said.append(library.last_error()))
    other.start()
    other.join()
    assert said == [""]
    assert "nq is -5" in library.last_error()
    assert forward(args) == (Status.OK, "")


@pytest.mark.requires_command("nm", "sudo apt-get install binutils")
def test_only_what_the_headers_declare_is_exported(stand_in_path, root):
    listed = subprocess.run(["nm", "-D", "--defined-only", stand_in_path], check=True, capture_output=True, text=True)
    exported = {line.split()[-1] for line in listed.stdout.splitlines()}
    headers = [path.read_text("utf-8") for path in (root / "kernels/csrc").glob("*api.h")]
    declared = set(re.findall(r"^MZT_API .*?(mzt_\w+)\(", "".join(headers), re.MULTILINE))
    assert len(declared) == 18
    assert exported == declared | {"mzt_stand_in"}
