"""The frozen denoiser of a training, of which some blocks stay in RAM: each is on the device only while it is used.

A block is computed forward, computed again in the backward pass, because it is checkpointed, and right after that its
gradients are. Its slot must hold its weights until then. Autograd goes back through blocks in the reverse order of the
forward pass; so once another block begins, everything that needs the weights of the one before has been queued.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from mezzotint.families.family import Network
from mezzotint.memory.device import Device
from mezzotint.memory.device_state import Act
from mezzotint.memory.pinning import CudaLocker
from mezzotint.memory.planning.costs import SLOTS
from mezzotint.memory.streaming import StreamedNetwork


class Turns:
    """Tells blocks that they are about to be used, and that they were, once another begins."""

    def __init__(self) -> None:
        self._current: nn.Module | None = None
        self._after: Act = _nothing

    def watch(self, module: nn.Module, before: Act, after: Act) -> Act:
        """Watch the forward pass of a module, which checkpointing calls again: it must be installed after this."""
        forward, had = module.forward, "forward" in module.__dict__

        def begin(_: object = None) -> None:
            self._begin(module, before, after)

        def run(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            begin()
            result = forward(*args, **kwargs)
            for each in tree_leaves(result):
                if isinstance(each, Tensor) and each.requires_grad:
                    # Before its gradient goes on, because for some layers nothing is saved that would run this again.
                    each.register_hook(begin)  # type: ignore[no-untyped-call]
            return result

        def end() -> None:
            del module.__dict__["forward"]
            if had:
                module.forward = forward

        module.forward = run
        return end

    def _begin(self, module: nn.Module, before: Act, after: Act) -> None:
        if self._current is not module:
            self._after()
            self._current, self._after = None, _nothing
            before()
            self._current, self._after = module, after


@contextmanager
def streamed_base(
    network: Network, blocks: Sequence[str], streamed: int, device: Device, *, pin_bytes: int = 0
) -> Iterator[StreamedNetwork]:
    """Context manager: the network, which is in RAM, computes on a device with this many of its blocks streamed.

    `blocks` in execution order; they are to be checkpointed inside the context. `pin_bytes` of RAM may be page-locked.
    """
    base = StreamedNetwork(
        network,
        blocks,
        resident=max(0, len(blocks) - streamed),
        slots=min(SLOTS),
        copier=device.copier,
        arena=device.arena,
        watch=Turns().watch,
    )
    try:
        if pin_bytes and device.device.type == "cuda":
            base.pin(CudaLocker(), pin_bytes)
        base.enter()
        base.ready()
        yield base
    finally:
        _synchronize(device.device)
        base.unpin()


def _nothing() -> None:
    """Before any block was used."""


def _synchronize(device: torch.device) -> None:
    """Wait until nothing is computed any more with what is about to be freed."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
