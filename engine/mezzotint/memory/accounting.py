"""Accounting of device memory under a hard cap.

Weights and slots are counted when the arena allocates them. On a simulated device a dispatch mode also counts every
storage that operations allocate: the CPU then behaves like a GPU with that much memory, to the byte.
"""

import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch.utils import _python_dispatch
from torch.utils._pytree import tree_leaves

from mezzotint.errors import OutOfMemory

GRAIN = 512  # bytes: torch's CUDA allocator rounds allocations up to this
_MIB = 2**20

Refuse: TypeAlias = Callable[[int, int], bool]  # index of the request, from 0, and its bytes
Workspace: TypeAlias = Callable[[Sequence[Any], Any], int]  # bytes from an operation's arguments and result


class DeviceOutOfMemory(OutOfMemory):
    """The device is out of memory; the numbers are in bytes."""

    def __init__(self, *, requested: int, in_use: int, cap: int | None) -> None:
        limit = "" if cap is None else f" of {cap / _MIB:.1f} MiB"
        super().__init__(
            f"out of device memory: {requested / _MIB:.1f} MiB more needed, {in_use / _MIB:.1f} MiB{limit} in use; "
            "reduce the image size or raise the memory limit"
        )
        self.requested, self.in_use, self.cap = requested, in_use, cap


class ByteLedger:
    """Counts the bytes in use on a device, and their peak. `refuse` lets tests simulate allocation failures."""

    def __init__(self, cap: int | None = None, refuse: Refuse | None = None) -> None:
        self.cap = cap
        self.refuse = refuse
        self._lock = threading.RLock()  # storages are freed in any thread and inside any call
        self._in_use = self._peak = self._requests = 0

    @property
    def in_use(self) -> int:
        """Bytes in use now."""
        return self._in_use

    @property
    def peak(self) -> int:
        """Peak bytes since the last reset."""
        return self._peak

    @property
    def free(self) -> int | None:
        """Bytes left under the cap; None without a cap."""
        return None if self.cap is None else max(0, self.cap - self._in_use)

    def take(self, size: int) -> None:
        """Count an allocation; raises DeviceOutOfMemory, without counting it, if it would exceed the cap."""
        with self._lock:
            number, self._requests = self._requests, self._requests + 1
            refused = self.refuse is not None and self.refuse(number, size)
            if refused or (self.cap is not None and self._in_use + size > self.cap):
                raise DeviceOutOfMemory(requested=size, in_use=self._in_use, cap=self.cap)
            self._in_use += size
            self._peak = max(self._peak, self._in_use)

    def give(self, size: int) -> None:
        """Count freed bytes."""
        with self._lock:
            self._in_use -= size

    def reset_peak(self) -> None:
        """Reset the peak to what is in use now."""
        with self._lock:
            self._peak = self._in_use


class ByteAccount(_python_dispatch.TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts every storage that operations allocate while active, until it is freed.

    Views and in-place operations reuse a storage, and weights were allocated outside. `workspace` gives the workspace
    of operations by name (`convolution`, `mm`), which counts while they run.
    """

    def __init__(self, ledger: ByteLedger, workspace: Mapping[str, Workspace] | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.ledger = ledger
        self._workspace = dict(workspace or {})
        self._counted: dict[int, weakref.ref[torch.UntypedStorage]] = {}

    def __torch_dispatch__(
        self,
        func: Any,  # noqa: ANN401  any torch operation
        types: object,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        """Run an operation and count its outputs; composite operations are decomposed first."""
        kwargs = kwargs or {}
        with self:
            made = func.decompose(*args, **kwargs)
        if made is not NotImplemented:
            return made
        made = func(*args, **kwargs)
        known = {id(storage) for storage in _storages((args, kwargs))}
        for storage in _storages(made):
            if id(storage) not in known and id(storage) not in self._counted:
                self._count(storage)
        need = self._workspace.get(func.overloadpacket.__name__)
        if need is not None:
            size = rounded(need(args, made))
            self.ledger.take(size)
            self.ledger.give(size)
        return made

    def _count(self, storage: torch.UntypedStorage) -> None:
        key, size, ledger, counted = id(storage), rounded(storage.nbytes()), self.ledger, self._counted

        def freed(_: object) -> None:
            counted.pop(key, None)
            ledger.give(size)

        if size:
            ledger.take(size)
            counted[key] = weakref.ref(storage, freed)


def uncounted() -> AbstractContextManager[None]:
    """Suspend accounting for work on the host: reading files, converting weights before they are copied."""
    manager: AbstractContextManager[None] = _python_dispatch._disable_current_modes()
    return manager


def rounded(size: int) -> int:
    """Round up to the allocator's granularity."""
    return -(-size // GRAIN) * GRAIN


def _storages(tree: object) -> Iterator[torch.UntypedStorage]:
    for leaf in tree_leaves(tree):
        if isinstance(leaf, Tensor) and not leaf.is_meta:
            yield leaf.untyped_storage()
