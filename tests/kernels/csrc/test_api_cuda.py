"""What the library asks of CUDA's runtime, and what becomes of the answers (tests/plugins/launch_build.py)."""

import ctypes
import threading

import pytest
from launch_cases import (
    OPERATIONS,
    STREAM,
    WELL,
    ask_again,
    fail_each_launch,
    fail_to_ask,
    fail_to_raise,
    queue_all,
    two_alike,
)
from stub_cuda import CARDS

from mezzotint_kernels.abi import DeviceStruct, Status

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

EVERY = list(OPERATIONS)
RAISING = [name for name, operation in OPERATIONS.items() if operation.raises]
# 17, 4 and 2 of attention, 2 and 2 of its backward, 8 passes in 2 formats, 25 products, 4 block-scaled, 38 of rows,
# 14 of linear attention, 24 of block-scaled rows, 8 of GroupNorm
KERNELS = 156
ARCHITECTURES = "sm_75 sm_80 sm_86 sm_89 sm_90a sm_100 sm_120 compute_120 sm_120f"
REFUSED = [
    (1, Status.LAUNCH_FAILED, "invalid argument (CUDA error 1)"),
    (2, Status.LAUNCH_FAILED, "out of memory (CUDA error 2)"),
    (98, Status.LAUNCH_FAILED, "invalid device function (CUDA error 98)"),
    (100, Status.NO_DEVICE, "no CUDA-capable device is detected (CUDA error 100)"),
    (
        209,
        Status.UNSUPPORTED,
        f"no kernel image is available for execution on the device (CUDA error 209); this library has {ARCHITECTURES}",
    ),
]


@pytest.fixture(params=EVERY)
def operation(request):
    return OPERATIONS[request.param]


@pytest.fixture
def raising():
    return OPERATIONS["wide attention"]


def device_of(cuda, ordinal=0):
    """What the library tells of a device."""
    found = DeviceStruct()
    return Status(cuda.library.device(ordinal, ctypes.byref(found))), found


def driver_of(cuda):
    version, devices = ctypes.c_int32(-1), ctypes.c_int32(-1)
    status = Status(cuda.library.driver(ctypes.byref(version), ctypes.byref(devices)))
    return status, version.value, devices.value


def test_every_kernel_is_registered_when_the_library_is_loaded_and_nothing_is_asked(cuda):
    assert cuda.kernels == KERNELS
    assert cuda.calls == []


def test_cuda_is_asked_for_what_is_needed_and_for_nothing_twice(cuda, operation):
    assert ask_again(cuda, operation) == []


def test_each_kernel_asks_for_shared_memory_of_its_own(cuda):
    assert queue_all(cuda) == []


def test_a_launch_that_fails_is_told_and_leaves_nothing_behind(cuda, operation):
    assert fail_each_launch(cuda, operation) == []


@pytest.mark.parametrize("name", RAISING)
def test_shared_memory_that_is_refused_is_told_and_asked_for_again(cuda, name):
    assert fail_to_raise(cuda, OPERATIONS[name]) == []


@pytest.mark.parametrize(("error", "status", "words"), REFUSED)
def test_cuda_s_errors_become_statuses_and_words(cuda, operation, error, status, words):
    two_alike(cuda)
    with cuda.failing("cudaLaunchKernel", error):
        assert operation.queue(cuda, 0, STREAM) == (status, f"{operation.text}: {words}")


def test_a_driver_that_turns_out_too_old_is_told(cuda, operation):
    two_alike(cuda)
    cuda.driver(12090)
    with cuda.failing("cudaLaunchKernel", 35):
        status, said = operation.queue(cuda, 0, STREAM)
    assert status == Status.DRIVER_TOO_OLD
    assert said == "the NVIDIA driver is for CUDA 12.9, and this library needs 13.0: update the driver"


def test_an_error_that_stays_is_told_by_every_call_after_it(cuda, operation):
    two_alike(cuda)
    words = "an illegal memory access was encountered (CUDA error 700)"
    with cuda.failing("cudaLaunchKernel", 700, sticky=True):
        assert operation.queue(cuda, 0, STREAM) == (Status.LAUNCH_FAILED, f"{operation.text}: {words}")
        assert operation.queue(cuda, 0, STREAM) == (Status.LAUNCH_FAILED, f"the current device: {words}")
    assert cuda.launches == []
    assert operation.queue(cuda, 0, STREAM) == WELL


@pytest.mark.parametrize(
    ("name", "passes"), [("cudaGetDeviceCount", 0), *(("cudaDeviceGetAttribute", number) for number in range(4))]
)
def test_a_device_that_could_not_be_asked_is_asked_again(cuda, operation, name, passes):
    with cuda.failing(name, 2, passes=passes):
        status, said = operation.queue(cuda, 0, STREAM)
    assert (status, cuda.launches) == (Status.LAUNCH_FAILED, [])
    assert said.endswith(": out of memory (CUDA error 2)")
    assert operation.queue(cuda, 0, STREAM) == WELL


def test_nothing_is_launched_on_a_device_that_does_not_say_what_it_is(cuda):
    assert fail_to_ask(cuda) == []


def test_a_device_is_asked_once_for_what_it_is(cuda, operation):
    for _ in range(3):
        assert operation.queue(cuda, 0, STREAM) == WELL
    assert cuda.asked.count("cudaDeviceGetAttribute") == 4
    assert cuda.asked.count("cudaGetDeviceCount") == 1


@pytest.mark.parametrize("passes", [0, 1])
def test_where_the_current_device_is_unknown_nothing_is_launched(cuda, raising, passes):
    two_alike(cuda)
    with cuda.failing("cudaGetDevice", 2, passes=passes):
        status, said = raising.queue(cuda, 0, STREAM)
    assert status == Status.LAUNCH_FAILED
    assert said.endswith(": out of memory (CUDA error 2)")
    assert cuda.launches == []


def test_only_the_current_device_is_queued_on_and_it_stays_so(cuda, operation):
    two_alike(cuda)
    cuda.use(1)
    status, said = operation.queue(cuda, 0, STREAM)
    assert (status, cuda.launches, cuda.used) == (Status.INVALID_ARGUMENT, [], 1)
    assert said == "device is 0, and the thread's current device is 1: make it the current one first"
    assert operation.queue(cuda, 1, STREAM) == WELL
    assert [launch.device for launch in cuda.launches] == [1] * operation.launches
    assert cuda.used == 1
    assert "cudaSetDevice" not in cuda.asked


@pytest.mark.parametrize("stream", [None, 1, 2, STREAM, 2**64 - 16])
def test_the_stream_is_the_one_that_was_given(cuda, operation, stream):
    assert operation.queue(cuda, 0, stream) == WELL
    assert [launch.stream for launch in cuda.launches] == [stream] * operation.launches


def test_threads_queue_on_devices_of_their_own(cuda, operation):
    two_alike(cuda)
    said = []

    def work(device):
        cuda.use(device)
        said.extend(operation.queue(cuda, device, STREAM + device) for _ in range(3))

    threads = [threading.Thread(target=work, args=(device,)) for device in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said == [WELL] * 6
    assert all(launch.stream == STREAM + launch.device for launch in cuda.launches)
    assert sum(launch.device for launch in cuda.launches) == 3 * operation.launches


def test_a_device_is_told_as_cuda_has_it(cuda):
    cuda.insert(CARDS[75], CARDS[90])
    status, found = device_of(cuda, 1)
    assert status == Status.OK
    assert (found.major, found.minor, found.multiprocessors, found.shared_bytes) == (9, 0, 132, 232448)
    assert found.name == b"Paper Card 1"
    assert driver_of(cuda) == (Status.OK, 13000, 2)


def test_what_is_not_there_is_told_and_nothing_is_launched(cuda, operation):
    assert device_of(cuda, 1)[0] == Status.NO_DEVICE
    assert "device is 1, and there are 1" in cuda.library.last_error()
    cuda.insert()
    assert driver_of(cuda) == (Status.NO_DEVICE, 13000, 0)
    assert operation.queue(cuda, 0, STREAM)[0] == Status.NO_DEVICE
    cuda.driver(12090)
    assert driver_of(cuda)[:2] == (Status.DRIVER_TOO_OLD, 12090)
    assert operation.queue(cuda, 0, STREAM)[0] == Status.DRIVER_TOO_OLD
    cuda.driver(0)
    assert driver_of(cuda) == (Status.NO_DEVICE, 0, 0)
    status, said = operation.queue(cuda, 0, STREAM)
    assert (status, said) == (
        Status.NO_DEVICE,
        "there is no NVIDIA driver here: install one, or run without the CUDA kernels",
    )
    assert cuda.launches == []
    cuda.driver(13000)
    cuda.insert(CARDS[80])
    assert operation.queue(cuda, 0, STREAM) == WELL, "a driver may be there later"


def test_a_name_that_cannot_be_asked_for_is_told(cuda):
    with cuda.failing("cudaGetDeviceProperties", 2):
        assert device_of(cuda)[0] == Status.LAUNCH_FAILED
    assert cuda.library.last_error() == "the device's name: out of memory (CUDA error 2)"
    assert device_of(cuda)[1].name == b"Paper Card 0"
