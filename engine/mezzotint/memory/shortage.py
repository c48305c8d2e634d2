"""Classification of errors: out of memory, device lost, or anything else."""

# Messages of the allocator, the driver, cuBLAS, Metal, Level Zero, which share no exception class.
_GPU_MEMORY = ("out of memory", "ALLOC_FAILED", "OUT_OF_DEVICE_MEMORY", "OUT_OF_RESOURCES")
_RAM = "DefaultCPUAllocator"
# Errors after which every device call of the process fails: only a new process can use the device.
_LOST = (
    "illegal memory access",
    "device-side assert",
    "unspecified launch failure",
    "misaligned address",
    "illegal instruction",
    "uncorrectable ECC error",
    "hardware exception",
    "GPU is lost",
    "fallen off the bus",
    "DEVICE_LOST",
)


def is_device_shortage(error: BaseException) -> bool:
    """Whether the device is out of memory, so that a retry with less memory may succeed."""
    from mezzotint.memory.accounting import DeviceOutOfMemory

    if isinstance(error, DeviceOutOfMemory):
        return True
    return isinstance(error, RuntimeError) and any(mark in str(error) for mark in _GPU_MEMORY) and not is_lost(error)


def is_shortage(error: BaseException) -> bool:
    """Whether the device or the machine is out of memory."""
    return is_device_shortage(error) or is_ram_shortage(error)


def is_ram_shortage(error: BaseException) -> bool:
    """Whether the machine is out of RAM."""
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and _RAM in str(error))


def is_lost(error: BaseException) -> bool:
    """Whether the device is unusable for the rest of this process."""
    return isinstance(error, RuntimeError) and any(mark in str(error) for mark in _LOST)
