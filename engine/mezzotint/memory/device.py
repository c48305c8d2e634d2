"""The device as carrying out a plan needs it: memory under a cap, ways of copying, the most in use."""

from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from typing import Any

import torch

from mezzotint.memory.accounting import ByteAccount, ByteLedger, Refuse, Workspace
from mezzotint.memory.arena import DeviceArena
from mezzotint.memory.copying import Copier, DirectCopier, StreamCopier, Streams


class Device:
    """One device, for as long as an engine uses it; `close` ends its thread."""

    def __init__(
        self,
        device: torch.device,
        *,
        arena: DeviceArena,
        copier: Copier,
        background: Copier,
        account: ByteAccount | None = None,
        reader: Executor | None = None,
    ) -> None:
        self.device, self.arena, self.copier, self.background = device, arena, copier, background
        self.account = account
        self._reader = reader

    @property
    def ledger(self) -> ByteLedger:
        """What counts."""
        return self.arena.ledger

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Inside, what operations make counts, on a simulated device."""
        with nullcontext() if self.account is None else self.account:
            yield

    def peak_bytes(self) -> int:
        """The most that was in use since the last reset: weights, slots, activations."""
        if self.device.type == "cuda":
            return torch.cuda.max_memory_allocated(self.device)
        return self.ledger.peak

    def reset_peak(self) -> None:
        """Begin anew, as at the start of a phase."""
        self.ledger.reset_peak()
        if self.device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(self.device)

    def close(self) -> None:
        """End the thread that reads."""
        if self._reader is not None:
            self._reader.shutdown(wait=False, cancel_futures=True)


def open_device(
    device: torch.device,
    *,
    cap: int | None = None,
    simulated: bool = False,
    workspace: Mapping[str, Workspace] | None = None,
    reading: bool = True,
    refuse: Refuse | None = None,
    streams: Streams | None = None,
) -> Device:
    """A device with at most `cap` bytes for weights and, where it is simulated, for activations too.

    `reading`: have a thread read what lies on disk, while the device computes.
    """
    arena = DeviceArena(device, ByteLedger(cap, refuse))
    account = ByteAccount(arena.ledger, workspace) if simulated else None
    reader = ThreadPoolExecutor(1, thread_name_prefix="weights") if reading else None
    if device.type == "cuda":
        cuda: Any = torch.cuda if streams is None else streams
        return Device(
            device,
            arena=arena,
            copier=StreamCopier(device, cuda, reader=reader),
            background=StreamCopier(device, cuda, reader=reader),
            account=account,
            reader=reader,
        )
    copier = DirectCopier(reader)
    return Device(device, arena=arena, copier=copier, background=copier, account=account, reader=reader)
