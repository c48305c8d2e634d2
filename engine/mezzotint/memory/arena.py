"""The arena: device memory for weights, allocated in segments, every byte counted."""

import torch
from torch import Tensor

from mezzotint.gpu import gpu
from mezzotint.memory.accounting import ByteLedger, DeviceOutOfMemory, rounded, uncounted
from mezzotint.memory.shortage import is_device_shortage

ALIGNMENT = 64  # bytes: at least the widest load of any kernel, and a CPU's cache line


class Segment:
    """Contiguous memory at a fixed address, until it is released."""

    def __init__(self, memory: Tensor, counted: int) -> None:
        self._memory: Tensor | None = memory
        self.counted = counted

    @property
    def memory(self) -> Tensor:
        """The bytes, `(n,)` of uint8; raises RuntimeError after release."""
        if self._memory is None:
            raise RuntimeError("a segment is used after it was released")
        return self._memory

    def release(self) -> None:
        """Release the memory."""
        self._memory = None


class DeviceArena:
    """Allocates segments on one device, under the cap of a ledger that it may share with activations."""

    def __init__(self, device: torch.device, ledger: ByteLedger) -> None:
        self.device, self.ledger = device, ledger
        self._in_use = 0

    @property
    def in_use(self) -> int:
        """Bytes of all current segments."""
        return self._in_use

    def allocate(self, size: int) -> Segment:
        """Allocate a segment at an aligned address; raises DeviceOutOfMemory if there is no room."""
        counted = rounded(size)
        self.ledger.take(counted)
        try:
            memory = self._aligned(size)
        except BaseException:
            self.ledger.give(counted)
            raise
        self._in_use += counted
        return Segment(memory, counted)

    def free(self, segment: Segment) -> None:
        """Free a segment, which must no longer be in use."""
        segment.release()
        self._in_use -= segment.counted
        self.ledger.give(segment.counted)

    def trim(self) -> None:
        """Return cached memory to the driver, so that other sizes find contiguous room."""
        found = gpu(self.device.type)
        if found is not None:
            found.empty_cache()

    def _aligned(self, size: int) -> Tensor:
        # Not an inference tensor, because weights are also filled outside of inference mode.
        with uncounted(), torch.inference_mode(False):
            try:
                memory = torch.empty(size, dtype=torch.uint8, device=self.device)
                if memory.data_ptr() % ALIGNMENT:
                    memory = torch.empty(size + ALIGNMENT, dtype=torch.uint8, device=self.device)
                    memory = memory[-memory.data_ptr() % ALIGNMENT :][:size]
            except RuntimeError as error:
                if self.device.type != "cpu" and not is_device_shortage(error):
                    raise
                raise DeviceOutOfMemory(requested=size, in_use=self._in_use, cap=self.ledger.cap) from None
        return memory
