"""Backward passes of reversible blocks without their activations: inputs are reconstructed from outputs.

What autograd would save of a unit (F or G) is dropped. When the backward pass first needs something of it, the unit
runs again on its input, which is at hand: what it gives is subtracted from the stream that it was added to, and what
autograd saves is what the backward pass takes. So only the last streams are kept, whatever the depth.

Unlike a torch.autograd.Function, which has to be told its inputs, this also serves weights that are not the blocks'
own, such as those of LoRAs in hooks, and torch.autograd.grad.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks

Change: TypeAlias = Callable[[Tensor], Tensor]
Dropped: TypeAlias = tuple[int, int]  # the number of a unit, and of a tensor that autograd would save of it


class Streams:
    """One forward pass of two streams, and its backward pass. `draws`: units draw random numbers."""

    def __init__(self, *, draws: bool = False) -> None:
        self._draws = draws
        self._units: list[_Unit] = []
        self._ends: list[Tensor] = []  # both streams, after all units that were not reversed yet
        self._left = 0

    def add(self, stream: Tensor, change: Change, other: Tensor) -> Tensor:
        """Return a stream plus a function of the other; the streams take turns, the first begins."""
        unit = _Unit(
            change=change,
            is_differentiable=other.requires_grad,
            surroundings=_Surroundings.of(other, draws=self._draws),
        )
        self._units.append(unit)
        with saved_tensors_hooks(partial(self._drop, len(self._units) - 1), self._saved):
            changed = change(other)
        return stream + changed

    def finish(self, first: Tensor, second: Tensor) -> None:
        """Keep both streams after the last unit."""
        self._ends, self._left = [first.detach(), second.detach()], len(self._units)

    def _drop(self, number: int, _: Tensor) -> Dropped:
        unit = self._units[number]
        unit.dropped += 1
        return number, unit.dropped - 1

    def _saved(self, dropped: Dropped) -> Tensor:
        number, place = dropped
        while self._left > number:
            self._left -= 1
            self._reverse(self._left)
        found = self._units[number].saved.pop(place, None)
        if found is None:
            raise RuntimeError("a backward pass through reversible blocks can be run once: retain_graph has no effect")
        return found

    def _reverse(self, number: int) -> None:
        """Take back a unit, and keep for its backward pass what was dropped."""
        unit, to = self._units[number], number % 2
        other = self._ends[1 - to].detach().requires_grad_(unit.is_differentiable)
        keep = saved_tensors_hooks(unit.keep, lambda tensor: tensor)
        with unit.surroundings.again(), torch.set_grad_enabled(unit.dropped > 0), keep:
            self._ends[to] = self._ends[to] - unit.change(other).detach()
        if len(unit.saved) != unit.dropped:
            raise RuntimeError(f"a block saved {unit.dropped} tensors at first, and {len(unit.saved)} when run again")


@dataclass(slots=True, kw_only=True)
class _Unit:
    """A function of one stream, and what its backward pass needs."""

    change: Change
    is_differentiable: bool
    surroundings: "_Surroundings"
    dropped: int = 0
    saved: dict[int, Tensor] = field(default_factory=dict)

    def keep(self, tensor: Tensor) -> None:
        """Keep the next tensor."""
        self.saved[len(self.saved)] = tensor.detach()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Surroundings:
    """What a unit's result depends on besides its input: autocast, and the state of the random generators."""

    device: torch.device
    autocast: torch.dtype | None
    states: tuple[Tensor, ...]  # the CPU's, then the device's; empty if nothing is drawn

    @classmethod
    def of(cls, tensor: Tensor, *, draws: bool) -> "_Surroundings":
        """Those of now."""
        device, kind = tensor.device, tensor.device.type
        own = () if kind == "cpu" else (torch.get_device_module(device).get_rng_state(device),) if draws else ()
        return cls(
            device=device,
            autocast=torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else None,
            states=(torch.get_rng_state(), *own) if draws else (),
        )

    @contextmanager
    def again(self) -> Iterator[None]:
        """Context manager: as it was."""
        kind = self.device.type
        devices = [] if kind == "cpu" or not self.states else [self.device]
        with (
            torch.random.fork_rng(devices, enabled=bool(self.states), device_type=kind if devices else "cuda"),
            torch.autocast(kind, self.autocast, enabled=self.autocast is not None),
        ):
            if self.states:
                torch.set_rng_state(self.states[0])
            if devices:
                torch.get_device_module(self.device).set_rng_state(self.states[1], self.device)
            yield
