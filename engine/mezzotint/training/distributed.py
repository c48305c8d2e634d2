"""The processes of a training on several devices, one on each, started by Mezzotint or by torchrun."""

import gc
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
from torch import Tensor

from mezzotint.errors import ProcessLost, UsageError

_PATIENCE = timedelta(days=1)  # the others wait while the first encodes; one that ends is noticed at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Processes:
    """This process among those of a training; every method but `is_first` and `share` must be called by all."""

    rank: int = 0
    local_rank: int = 0  # on this machine
    count: int = 1

    @classmethod
    def of_environment(cls, environment: Mapping[str, str] = os.environ) -> "Processes":
        """What torchrun's environment variables say; without them there is one process."""
        names = {"rank": "RANK", "local_rank": "LOCAL_RANK", "count": "WORLD_SIZE"}
        if not all(environment.get(name, "").isdecimal() for name in names.values()):
            return cls()
        return cls(**{field: int(environment[name]) for field, name in names.items()})

    @property
    def is_first(self) -> bool:
        """Whether this process writes files and reports progress."""
        return self.rank == 0

    @contextmanager
    def joined(self, device: torch.device) -> Iterator[None]:
        """Context manager: the processes can reach one another. Raises ProcessLost if one of them ends meanwhile."""
        if self.count == 1:
            yield
            return
        import torch.distributed as dist

        if not dist.is_available():
            raise UsageError("this build of torch has no distributed training; train on one device")
        if device.type != "cpu":
            torch.get_device_module(device).set_device(device)
        try:
            dist.init_process_group(
                _backend(device),
                init_method=os.environ.get("MEZZOTINT_MEETING"),  # of our launcher; torchrun has an address
                timeout=_PATIENCE,
                rank=self.rank,
                world_size=self.count,
            )
            yield
        except RuntimeError as error:
            if _is_lost(error):
                raise ProcessLost(f"process {self.rank} of {self.count} has lost the others: {_line(error)}") from error
            raise
        finally:
            if dist.is_initialized():
                # What torch keeps of the group in reference cycles would end after the interpreter, and abort it.
                gc.collect()
                dist.destroy_process_group()

    def share(self, places: list[int], turn: int) -> list[int]:
        """This process's part of a batch; the processes take turns at what cannot be divided evenly."""
        return places[(self.rank + turn) % self.count :: self.count]

    def total(self, value: float) -> float:
        """The sum over all processes."""
        if self.count == 1:
            return value
        import torch.distributed as dist

        found = torch.tensor(value, dtype=torch.float64)
        dist.all_reduce(found)
        return float(found)

    def decided(self, *flags: bool) -> tuple[bool, ...]:
        """The first process's flags."""
        if self.count == 1:
            return flags
        import torch.distributed as dist

        found = torch.tensor(flags, dtype=torch.uint8)
        dist.broadcast(found, 0)
        return tuple(map(bool, found.tolist()))

    def given(self, value: Any) -> Any:  # noqa: ANN401  # whatever the first process has
        """The first process's value, on the CPU."""
        if self.count == 1:
            return value
        import torch.distributed as dist

        held = [value]
        dist.broadcast_object_list(held, 0, device=torch.device("cpu"))
        return held[0]

    def wait(self) -> None:
        """Wait until all processes are here."""
        self.total(0.0)

    @contextmanager
    def after_the_first(self) -> Iterator[None]:
        """Context manager: the first process goes in alone, then the others, who find what it has written."""
        if not self.is_first:
            self.wait()
        yield
        if self.is_first:
            self.wait()


ALONE = Processes()


def local(tensor: Tensor) -> Tensor:
    """The part of a tensor that is on this device."""
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor


def whole(tensor: Tensor) -> Tensor:
    """A tensor with the parts from all devices; to be called by all processes."""
    return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor


def _backend(device: torch.device) -> str:
    """gloo for tensors on the CPU, and what the device's vendor has for those on the device."""
    import torch.distributed as dist

    if device.type == "cpu":
        return "gloo"
    own = dist.get_default_backend_for_device(device.type)
    return f"cpu:gloo,{device.type}:{own if dist.is_backend_available(own) else 'gloo'}"


def _is_lost(error: RuntimeError) -> bool:
    import torch.distributed as dist

    return isinstance(error, dist.DistError) or "gloo" in str(error)


def _line(error: RuntimeError) -> str:
    return str(error).strip().partition("\n")[0][:200]
