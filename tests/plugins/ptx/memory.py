"""Global and shared memory of kernels; accesses outside of what they were given raise MemoryFault."""

from collections.abc import Iterable

import numpy as np
import torch

POISON = 0x7FFF  # content of unwritten memory: NaN in both 16-bit formats and in 32 bits
ALIGNMENT = 16  # of copies, and of matrix rows


class MemoryFault(Exception):
    """An access out of bounds, a write to read-only memory, or a misaligned access."""


class GlobalMemory:
    """Tensors at their own addresses, and nothing else. Writes reach the tensors in `give_back`."""

    def __init__(self, read: Iterable[torch.Tensor], written: Iterable[torch.Tensor]) -> None:
        self._tensors = {tensor.data_ptr(): (_bytes_of(tensor), False) for tensor in read if tensor.numel()}
        self._tensors |= {tensor.data_ptr(): (_bytes_of(tensor), True) for tensor in written if tensor.numel()}
        self._tensors = dict(sorted(self._tensors.items()))
        sizes = [len(content) for content, _ in self._tensors.values()]
        self._starts = np.array([0, *self._tensors], np.int64)
        self._sizes = np.array([0, *sizes], np.int64)
        self._writable = np.array([False, *(writable for _, writable in self._tensors.values())])
        self._places = np.cumsum([0, 0, *sizes])[:-1]
        self._bytes = np.concatenate([np.zeros(0, np.uint8), *(content for content, _ in self._tensors.values())])

    def load(self, addresses: np.ndarray, size: int) -> np.ndarray:
        """Return `size` bytes from each address, (addresses, size)."""
        return self._bytes[self._find(addresses, size, writing=False)[:, None] + np.arange(size)]

    def store(self, addresses: np.ndarray, values: np.ndarray) -> None:
        """Write rows of bytes, (addresses, size)."""
        size = values.shape[1]
        self._bytes[self._find(addresses, size, writing=True)[:, None] + np.arange(size)] = values

    def add(self, addresses: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Add rows of numbers, (addresses, count), one after the other; return what was there before all of them."""
        size = values.shape[1] * values.itemsize
        places, own = np.unique(self._find(addresses, size, writing=True), return_inverse=True)
        rows = places[:, None] + np.arange(size)
        before = self._bytes[rows].view(values.dtype)
        sums = before.copy()
        np.add.at(sums, own.ravel(), values)
        self._bytes[rows] = sums.view(np.uint8)
        return before[own.ravel()]

    def give_back(self) -> None:
        """Copy what was written to the tensors."""
        for (content, writable), place in zip(self._tensors.values(), self._places[1:], strict=True):
            if writable:
                content[:] = self._bytes[place : place + len(content)]

    def _find(self, addresses: np.ndarray, size: int, *, writing: bool) -> np.ndarray:
        which = np.searchsorted(self._starts, addresses, side="right") - 1
        within = addresses - self._starts[which]
        wrong = (within + size > self._sizes[which]) | (addresses % size != 0)
        if writing:
            wrong |= ~self._writable[which]
        if wrong.any():
            what = "written" if writing else "read"
            raise MemoryFault(f"{size} bytes of global memory cannot be {what} at {int(addresses[wrong][0]):#x}")
        return self._places[which] + within


class SharedMemory:
    """Shared memory of all blocks, with pending asynchronous copies."""

    def __init__(self, blocks: int, threads: int, size: int) -> None:
        self._size = size
        self._bytes = np.full(blocks * -(-size // 2), POISON, np.uint16).view(np.uint8)
        self._begin = np.arange(blocks * threads) // threads * (-(-size // 2) * 2)
        self._committed = np.zeros(blocks * threads, np.int64)  # groups committed per thread
        self._pending: list[_Copies] = []

    def load(self, lanes: np.ndarray, addresses: np.ndarray, size: int) -> np.ndarray:
        """Return `size` bytes from each address, (addresses, size)."""
        return self._bytes[self._find(lanes, addresses, size)[:, None] + np.arange(size)]

    def store(self, lanes: np.ndarray, addresses: np.ndarray, values: np.ndarray) -> None:
        """Write rows of bytes, (addresses, size)."""
        size = values.shape[1]
        self._bytes[self._find(lanes, addresses, size)[:, None] + np.arange(size)] = values

    @property
    def copies_on_their_way(self) -> int:
        """Pending copies of all threads."""
        return sum(len(copies.lanes) for copies in self._pending)

    def begin_copies(self, lanes: np.ndarray, addresses: np.ndarray, values: np.ndarray) -> None:
        """Start copies of rows of bytes that arrive when their group is waited for; until then there is poison."""
        places = self._find(lanes, addresses, values.shape[1])
        self._put(places, np.full(values.shape[1] // 2, POISON, np.uint16).view(np.uint8))
        self._pending.append(_Copies(lanes, places, values, self._committed[lanes]))

    def commit(self, lanes: np.ndarray) -> None:
        """Commit a group of these threads' copies since their last one."""
        self._committed[lanes] += 1

    def wait(self, lanes: np.ndarray, pending: int) -> None:
        """Complete all but the newest `pending` groups of these threads."""
        waits = np.zeros(len(self._committed), bool)
        waits[lanes] = True
        left = []
        for copies in self._pending:
            done = waits[copies.lanes] & (copies.groups < self._committed[copies.lanes] - pending)
            self._put(copies.places[done], copies.values[done])
            if not done.all():
                left.append(copies.some(~done))
        self._pending = left

    def _put(self, places: np.ndarray, values: np.ndarray) -> None:
        self._bytes[places[:, None] + np.arange(values.shape[-1])] = values

    def _find(self, lanes: np.ndarray, addresses: np.ndarray, size: int) -> np.ndarray:
        wrong = (addresses < 0) | (addresses + size > self._size) | (addresses % size != 0)
        if wrong.any():
            raise MemoryFault(f"{size} bytes of shared memory are not there at {int(addresses[wrong][0])}")
        return self._begin[lanes] + addresses


class _Copies:
    """The copies started by one instruction."""

    def __init__(self, lanes: np.ndarray, places: np.ndarray, values: np.ndarray, groups: np.ndarray) -> None:
        self.lanes, self.places, self.values, self.groups = lanes, places, values, groups

    def some(self, which: np.ndarray) -> "_Copies":
        return _Copies(self.lanes[which], self.places[which], self.values[which], self.groups[which])


def _bytes_of(tensor: torch.Tensor) -> np.ndarray:
    """Return the bytes from a tensor's first to its last element, including gaps."""
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    flat = tensor.as_strided((last + 1,), (1,))
    return flat.view(torch.uint8).numpy()
