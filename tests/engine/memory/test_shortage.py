"""What an error says about memory and the device."""

import pytest
import torch

from mezzotint.memory.accounting import DeviceOutOfMemory
from mezzotint.memory.shortage import is_device_shortage, is_lost, is_ram_shortage


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        RuntimeError("CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate"),
        RuntimeError("MPS backend out of memory (MPS allocated: 20 GB)"),
        RuntimeError("level_zero backend failed with error: 39 (UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)"),
        DeviceOutOfMemory(requested=3, in_use=1, cap=2),
    ],
)
def test_the_device_is_full(error):
    assert (is_device_shortage(error), is_ram_shortage(error), is_lost(error)) == (True, False, False)


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes")]
)
def test_the_machine_is_full(error):
    assert (is_device_shortage(error), is_ram_shortage(error), is_lost(error)) == (False, True, False)


@pytest.mark.parametrize(
    "text",
    [
        "CUDA error: an illegal memory access was encountered",
        "device-side assert triggered",
        "level_zero backend failed with error: 20 (UR_RESULT_ERROR_DEVICE_LOST)",
    ],
)
def test_the_device_is_lost(text):
    assert is_lost(RuntimeError(text)) and not is_device_shortage(RuntimeError(f"{text}; out of memory"))


@pytest.mark.parametrize(
    "error", [RuntimeError("mat1 and mat2 shapes"), ValueError("out of memory"), OSError(28, "no space")]
)
def test_something_else(error):
    assert not is_device_shortage(error) and not is_ram_shortage(error) and not is_lost(error)
