"""A device as used to execute plans: memory under a cap, copiers, peak usage."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from typing import Any

import torch

from mezzotint.gpu import gpu
from mezzotint.memory.accounting import ByteAccount, ByteLedger, Refuse, Workspace
from mezzotint.memory.arena import DeviceArena
from mezzotint.memory.copying import Copier, DirectCopier, StreamCopier, Streams
from mezzotint.memory.machine.probe import is_wsl
from mezzotint.memory.machine.rates import THREADS

_LITTLE = 50  # spare memory above 1 / _LITTLE of the peak makes the held peak meaningless


class Device:
    """A device used by an engine; `close` ends its threads."""

    def __init__(
        self,
        device: torch.device,
        *,
        arena: DeviceArena,
        copier: Copier,
        background: Copier,
        account: ByteAccount | None = None,
        readers: Sequence[Executor] = (),
        spills: bool = False,
    ) -> None:
        """`spills`: whether the driver silently moves what does not fit to RAM, as on Windows."""
        self.device, self.arena, self.copier, self.background = device, arena, copier, background
        self._gpu, self._index = gpu(device.type), device.index or 0
        self.account = account
        self._spills = spills
        self._spare = 0  # bytes that the allocator held unused at the last reset
        self._readers = tuple(readers)

    @property
    def ledger(self) -> ByteLedger:
        """The device's ledger."""
        return self.arena.ledger

    @property
    def measures(self) -> bool:
        """Whether the peak includes activations, as on GPUs that report it and on simulated devices."""
        return (self._gpu is not None and self._gpu.measures) or self.account is not None

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count activations inside the context, on a simulated device."""
        with nullcontext() if self.account is None else self.account:
            yield

    def peak_bytes(self) -> int:
        """Peak bytes in use since the last reset: weights, slots, activations."""
        if self._gpu is not None and self._gpu.measures:
            return self._gpu.peak_bytes(self._index)
        return self.ledger.peak

    def held_bytes(self) -> int | None:
        """Peak bytes reserved by torch's allocator since the last reset; None if that is not meaningful."""
        if self.device.type != "cuda" or self._spare > self.peak_bytes() // _LITTLE:
            return None
        return torch.cuda.max_memory_reserved(self.device)

    def taken_by_others(self) -> int:
        """Bytes under the cap that other programs use now."""
        if self._gpu is None or self.ledger.free is None:
            return 0
        held = self._gpu.free_bytes(self._index) + self._gpu.held_bytes(self._index)
        return max(0, self.ledger.free - (held - self.ledger.in_use))

    def limit(self) -> None:
        """Limit torch's allocator to the cap and, where the driver spills to RAM, to what is free now."""
        if self._gpu is None or self.ledger.cap is None:
            return
        ours = self.ledger.cap - (self.taken_by_others() if self._spills else 0)
        self._gpu.limit(max(0.0, min(1.0, ours / self._gpu.total_bytes(self._index))), self._index)

    def reset_peak(self) -> None:
        """Reset the peaks, as at the start of a phase."""
        self.ledger.reset_peak()
        if self._gpu is not None:
            self._gpu.reset_peak(self._index)
        if self.device.type == "cuda":
            self._spare = torch.cuda.memory_reserved(self.device) - torch.cuda.memory_allocated(self.device)

    def close(self) -> None:
        """Stop the reader threads."""
        for reader in self._readers:
            reader.shutdown(wait=False, cancel_futures=True)


def open_device(
    device: torch.device,
    *,
    cap: int | None = None,
    simulated: bool = False,
    workspace: Mapping[str, Workspace] | None = None,
    reading: bool = True,
    refuse: Refuse | None = None,
    streams: Streams | None = None,
    spills: bool | None = None,
) -> Device:
    """Open a device with at most `cap` bytes for weights and, if simulated, activations.

    `reading`: read files in threads while the device computes, with separate threads for streaming and for background
    loads, so that the former never wait for the latter. `spills`: whether the driver moves what does not fit to RAM;
    None: true on Windows and WSL.
    """
    arena = DeviceArena(device, ByteLedger(cap, refuse))
    readers = [_readers() if reading else () for _ in range(2)]
    copier, background = (_copier(device, streams, *each) for each in readers)
    return Device(
        device,
        arena=arena,
        copier=copier,
        background=background,
        account=ByteAccount(arena.ledger, workspace) if simulated else None,
        readers=[reader for each in readers for reader in each],
        spills=sys.platform == "win32" or is_wsl() if spills is None else spills,
    )


def _readers() -> tuple[Executor, Executor]:
    """A thread that loads block after block, and threads that read parts of files for it."""
    return (
        ThreadPoolExecutor(1, thread_name_prefix="weights"),
        ThreadPoolExecutor(THREADS, thread_name_prefix="files"),
    )


def _copier(
    device: torch.device, streams: Streams | None, reader: Executor | None = None, threads: Executor | None = None
) -> Copier:
    found = gpu(device.type)
    if found is None or not found.has_streams:
        return DirectCopier(reader, threads=threads)
    cuda: Any = torch.cuda if streams is None else streams
    return StreamCopier(device, cuda, reader=reader, threads=threads)
