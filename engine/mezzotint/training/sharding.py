"""How the work and the memory of a training are spread over devices, with torch's own classes.

Each process computes the gradients of its share of a batch. `none`: DistributedDataParallel averages them, everything
else is on each device. The rest is ZeRO (arXiv 1910.02054): `optimizer` (1) splits the optimizer's state, by
ZeroRedundancyOptimizer; `gradients` (2) also the gradients and factors, by FSDP2; `parameters` (3) also the frozen
network, whose blocks are gathered only while they run.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from mezzotint.errors import UsageError
from mezzotint.families.family import Network
from mezzotint.memory.blocks import blocks_of
from mezzotint.training.adapters.adapter import Adapter
from mezzotint.training.distributed import Processes, whole
from mezzotint.training.optimizer_state import optimizer_state, restore_optimizer
from mezzotint.training.optimizers import build_of, build_optimizer, options_of
from mezzotint.training_protocol import OptimizerName, Shard

State = tuple[dict[str, Tensor], dict[str, Any]]
_ZERO_1 = ("adamw", "adamw-8bit", "adamw-8bit-paged", "adafactor", "lion")  # treat each parameter on its own
_ZERO_2 = ("adamw",)  # treat each value on its own


class OneDevice:
    """Everything on one device."""

    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter

    def run(self, compute: Callable[[], Tensor]) -> Tensor:
        """The losses that `compute` returns."""
        return compute()

    def exchanging(self, *, is_last: bool) -> AbstractContextManager[object]:
        """Context manager for a pass forward and back: in the last of a step the processes exchange gradients."""
        del is_last
        return nullcontext()

    def gathered(self) -> AbstractContextManager[object]:
        """Context manager: the factors are whole on every device."""
        return nullcontext()

    def optimizer(self, name: OptimizerName, rate: float) -> torch.optim.Optimizer:
        """The optimizer of the factors."""
        return build_optimizer(name, self._adapter.groups(), rate)

    def state(self, optimizer: torch.optim.Optimizer) -> State:
        """The optimizer's whole state, in the first process."""
        return optimizer_state(optimizer)

    def restore(self, optimizer: torch.optim.Optimizer, state: State) -> None:
        """Restore an optimizer from its whole state."""
        restore_optimizer(optimizer, *state)

    def set(self, parameter: Tensor, value: Tensor) -> None:
        """Give a parameter its whole value."""
        parameter.data.copy_(value)


class _Watched(nn.Module):
    """A forward pass, as the module that torch's classes wrap: it owns the factors."""

    def __init__(self, factors: nn.Module) -> None:
        super().__init__()
        self.factors = factors

    def forward(self, compute: Callable[[], Tensor]) -> Tensor:
        return compute()


def replicated(module: nn.Module, *, some_unused: bool = False) -> nn.parallel.DistributedDataParallel:
    """What computes a loss, given as a function without arguments, and averages the module's gradients over processes.

    Whatever else the function uses stays out, with its buffers. `some_unused`: losses may not use all parameters.
    """
    return nn.parallel.DistributedDataParallel(_Watched(module), find_unused_parameters=some_unused)


class Replicated(OneDevice):
    """The factors on every device, by DistributedDataParallel; their optimizer's state split or not."""

    def __init__(self, adapter: Adapter, *, splits_state: bool) -> None:
        super().__init__(adapter)
        self._module = replicated(adapter.module)
        self._splits_state = splits_state

    def run(self, compute: Callable[[], Tensor]) -> Tensor:
        """The losses, of a pass that torch watches."""
        return self._module(compute)  # type: ignore[no-any-return]

    def exchanging(self, *, is_last: bool) -> AbstractContextManager[object]:
        """Context manager for a pass forward and back."""
        return nullcontext() if is_last else self._module.no_sync()

    def optimizer(self, name: OptimizerName, rate: float) -> torch.optim.Optimizer:
        """The optimizer, which steps its part of the factors and fetches the rest."""
        if not self._splits_state:
            return super().optimizer(name, rate)
        from torch.distributed.optim import ZeroRedundancyOptimizer

        def build(groups: list[dict[str, Any]], lr: float) -> torch.optim.Optimizer:
            return build_of(name, groups, lr)

        return ZeroRedundancyOptimizer(options_of(self._adapter.groups()), build, lr=rate)  # type: ignore[arg-type]

    def state(self, optimizer: torch.optim.Optimizer) -> State:
        """The optimizer's whole state, in the first process."""
        if self._splits_state:
            import torch.distributed as dist

            optimizer.consolidate_state_dict(to=0)  # type: ignore[attr-defined]
            if dist.get_rank() != 0:
                return {}, {}
        return super().state(optimizer)


class Sharded(OneDevice):
    """Factors, gradients and state split over the devices by FSDP2, and the frozen network as well if it is given."""

    def __init__(self, adapter: Adapter, network: Network | None, device: torch.device) -> None:
        import torch.distributed as dist
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard

        super().__init__(adapter)
        mesh = init_device_mesh(device.type, (dist.get_world_size(),))
        self._module = fully_shard(_Watched(adapter.module), mesh=mesh)
        if network is not None:
            for name in blocks_of(network):
                fully_shard(network.get_submodule(name), mesh=mesh)
            fully_shard(network, mesh=mesh)

    def run(self, compute: Callable[[], Tensor]) -> Tensor:
        """The losses, of a pass that torch watches."""
        return self._module(compute)  # type: ignore[operator, no-any-return]

    @contextmanager
    def exchanging(self, *, is_last: bool) -> Iterator[None]:
        """Context manager for a pass forward and back."""
        self._module.set_requires_gradient_sync(is_last)
        yield

    @contextmanager
    def gathered(self) -> Iterator[None]:
        """Context manager: the factors are whole on every device."""
        self._module.unshard()
        try:
            yield
        finally:
            self._module.reshard()

    def state(self, optimizer: torch.optim.Optimizer) -> State:
        """The optimizer's whole state, in the first process."""
        tensors, numbers = super().state(optimizer)
        return {name: whole(each) for name, each in tensors.items()}, numbers

    def restore(self, optimizer: torch.optim.Optimizer, state: State) -> None:
        """Restore this device's part."""
        restore_optimizer(optimizer, *state, place=_split_like)

    def set(self, parameter: Tensor, value: Tensor) -> None:
        """Give a parameter its part of a value."""
        parameter.data.copy_(_split_like(value, parameter))


def spread(shard: Shard, processes: Processes, adapter: Adapter, network: Network, device: torch.device) -> OneDevice:
    """How a training is spread over its processes."""
    if processes.count == 1:
        return OneDevice(adapter)
    if shard in ("none", "optimizer"):
        return Replicated(adapter, splits_state=shard == "optimizer")
    return Sharded(adapter, network if shard == "parameters" else None, device)


def check_sharding(
    shard: Shard,
    processes: int,
    *,
    batch: int,
    optimizer: OptimizerName,
    dtype: str,
    quantized: bool,
    trains_text: bool = False,
) -> None:
    """Raise UsageError for what cannot be spread over this many processes."""
    if processes > 1 and trains_text:
        raise UsageError("text encoders and embeddings are trained on one device: leave --devices out")
    if processes > batch:
        raise UsageError(f"a batch of {batch} cannot be shared by {processes} devices: --batch {processes} or more")
    if shard == "none":
        return
    if processes == 1:
        raise UsageError(f"--shard {shard} needs several devices: --devices 0,1")
    usable = _ZERO_1 if shard == "optimizer" else _ZERO_2
    if optimizer not in usable:
        raise UsageError(f"--shard {shard} cannot split the state of {optimizer}: use {' or '.join(usable)}")
    if shard != "optimizer" and dtype == "float16":
        raise UsageError(f"--shard {shard} cannot train in float16: use --dtype bfloat16 or --shard optimizer")
    if shard == "parameters" and quantized:
        raise UsageError("--shard parameters cannot split quantized weights: use --shard gradients")


def _split_like(value: Tensor, parameter: Tensor) -> Tensor:
    """A whole tensor, split as a parameter is."""
    from torch.distributed.tensor import DTensor, distribute_tensor

    if not isinstance(parameter, DTensor):
        return value
    return distribute_tensor(value.to(parameter.device), parameter.device_mesh, parameter.placements)
