"""The memory of a device that weights live in: segments taken and given back, every byte counted."""

import torch
from torch import Tensor

from mezzotint.gpu import gpu
from mezzotint.memory.accounting import ByteLedger, DeviceOutOfMemory, rounded, uncounted
from mezzotint.memory.shortage import is_device_shortage

ALIGNMENT = 64  # bytes: the widest load of any kernel, and a line of a processor's cache


class Segment:
    """A run of bytes at a fixed address, until it is given back."""

    def __init__(self, memory: Tensor, counted: int) -> None:
        self._memory: Tensor | None = memory
        self.counted = counted

    @property
    def memory(self) -> Tensor:
        """Its bytes, `(n,)` of uint8."""
        if self._memory is None:
            raise RuntimeError("a segment is used after it was given back")
        return self._memory

    @property
    def address(self) -> int:
        """The address of its first byte."""
        return self.memory.data_ptr()

    def release(self) -> None:
        """Let go of the memory."""
        self._memory = None


class DeviceArena:
    """Segments of one device, under the cap of a ledger that it may share with activations."""

    def __init__(self, device: torch.device, ledger: ByteLedger) -> None:
        self.device, self.ledger = device, ledger
        self._in_use = self._peak = 0

    @property
    def in_use(self) -> int:
        """Bytes of all segments, now."""
        return self._in_use

    @property
    def peak(self) -> int:
        """The most bytes of segments there ever were."""
        return self._peak

    def allocate(self, size: int) -> Segment:
        """Bytes at an aligned address; DeviceOutOfMemory when there is no room."""
        counted = rounded(size)
        self.ledger.take(counted)
        try:
            memory = self._aligned(size)
        except BaseException:
            self.ledger.give(counted)
            raise
        self._in_use += counted
        self._peak = max(self._peak, self._in_use)
        return Segment(memory, counted)

    def free(self, segment: Segment) -> None:
        """Give a segment back; nothing may look at it any more."""
        segment.release()
        self._in_use -= segment.counted
        self.ledger.give(segment.counted)

    def trim(self) -> None:
        """Have the driver get back what no segment needs, so that other sizes find room in one piece."""
        found = gpu(self.device.type)
        if found is not None:
            found.empty_cache()

    def _aligned(self, size: int) -> Tensor:
        # No inference tensor: weights are filled in outside of inference, too.
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
