"""What an error says: that memory has run short, that the device is lost, or something else."""

# Of the allocator, the driver, cuBLAS, Metal, Level Zero: no class is shared.
_GPU_MEMORY = ("out of memory", "ALLOC_FAILED", "OUT_OF_DEVICE_MEMORY", "OUT_OF_RESOURCES")
_RAM = "DefaultCPUAllocator"
# Errors after which every call of the process fails: only a new one has a working device.
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
    """Whether the device's memory has run short, so that less of it may do."""
    from mezzotint.memory.accounting import DeviceOutOfMemory

    if isinstance(error, DeviceOutOfMemory):
        return True
    return isinstance(error, RuntimeError) and any(mark in str(error) for mark in _GPU_MEMORY) and not is_lost(error)


def is_ram_shortage(error: BaseException) -> bool:
    """Whether the machine's own memory has run short."""
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and _RAM in str(error))


def is_lost(error: BaseException) -> bool:
    """Whether no call to the device can work any more in this process."""
    return isinstance(error, RuntimeError) and any(mark in str(error) for mark in _LOST)
