"""Memory that ends at an inaccessible page, for tensors that a kernel must not access out of bounds."""

import ctypes
import mmap


def guarded(size: int, kept: list[object], alignment: int = 1) -> memoryview:
    """Allocate `size` bytes; their owner is appended to `kept` and must live as long as they are used."""
    page = mmap.PAGESIZE
    length = -(-size // page) * page
    memory = mmap.mmap(-1, length + page)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    if ctypes.CDLL(None, use_errno=True).mprotect(ctypes.c_void_p(address + length), page, 0):
        raise OSError(ctypes.get_errno(), "mprotect")
    kept.append(memory)
    begin = (length - size) // alignment * alignment
    return memoryview(memory)[begin : begin + size]
