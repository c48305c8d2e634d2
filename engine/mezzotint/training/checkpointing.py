"""Checkpointing of a denoiser's blocks: their activations are computed again in the backward pass instead of kept.

Gradients are the same to the bit in every mode, because the same operations run again with the same random numbers
(Chen et al., arXiv 1604.06174).

- `blocks`: every block keeps only its inputs.
- `sqrt`: about sqrt(L) segments of the L blocks keep only their inputs; in the backward pass a segment runs again block
  by block, so one forward pass more than with `blocks` is computed.
- `selective`: of transformers, attention and feed-forward are computed again, and what is between them is kept; of
  U-Nets, all blocks but those of the lowest resolution are computed again.
"""

import functools
import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from mezzotint.families.family import Network
from mezzotint.memory.blocks import blocks_of
from mezzotint.training.block_chains import Chain, chains_of
from mezzotint.training.offloading import Offloading
from mezzotint.training_protocol import Checkpointing

_UNITS = re.compile(r"attn\d*|attention|ff|ff_context|feed_forward|mlp|txt_mlp|img_mlp")
_Forward = Callable[..., Any]


def apply_checkpointing(
    network: Network, mode: Checkpointing, offloading: Offloading | None = None
) -> Callable[[], None]:
    """Checkpoint the network's blocks from now on, what they keep offloaded or not; returns what undoes it.

    Reversible networks keep no activations of their blocks anyway.
    """
    installed = _Installed(offloading)
    if getattr(network, "is_reversible", False):
        return installed.remove
    if mode == "sqrt":
        installed.replace(network, _Segmented(network, installed))
    elif mode != "none":
        for name in _checkpointed(network, mode):
            installed.checkpoint(network.get_submodule(name))
    return installed.remove


def segment_lengths(blocks: int) -> list[int]:
    """Lengths of about sqrt(blocks) segments, as equal as possible."""
    count = max(1, round(math.sqrt(blocks)))
    return [blocks * (place + 1) // count - blocks * place // count for place in range(count)]


def _checkpointed(network: nn.Module, mode: Checkpointing) -> Iterator[str]:
    """Names of the modules that are computed again."""
    names = blocks_of(network)
    if mode == "blocks":
        yield from names
    elif hasattr(network, "down_blocks") and hasattr(network, "mid_block"):
        yield from (name for name in names if name.startswith(_high_resolution(network)))
    else:
        for name in names:
            units = [unit for unit, _ in network.get_submodule(name).named_children() if _UNITS.fullmatch(unit)]
            whole = not any("attn" not in unit and "attention" not in unit for unit in units)  # no feed-forward
            yield from [name] if whole else [f"{name}.{unit}" for unit in units]


def _high_resolution(network: Any) -> tuple[str, ...]:  # noqa: ANN401
    """Prefixes of a U-Net's stages but those of its lowest resolution."""
    stages = len(network.down_blocks)
    return (
        *(f"down_blocks.{place}." for place in range(stages - 1)),
        *(f"up_blocks.{place}." for place in range(1, stages)),
    )


def _again(offloading: Offloading | None, forward: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
    """Run a module, and again in the backward pass."""
    if not torch.is_grad_enabled():
        return forward(*args, **kwargs)

    run = functools.partial(_with_names, forward, len(args), tuple(kwargs))
    # Only positional tensors are saved as autograd saves them, and so freed where this is inside another checkpoint.
    # Only they are offloaded: inside, checkpoint's own hooks take what is saved.
    with nullcontext() if offloading is None else offloading.saving():
        return checkpoint(run, *args, *kwargs.values(), use_reentrant=False)


def _with_names(forward: _Forward, count: int, names: Sequence[str], *values: Any) -> Any:  # noqa: ANN401
    """Call with all but `count` values by name."""
    return forward(*values[:count], **dict(zip(names, values[count:], strict=True)))


class _Installed:
    """Forward passes of modules that were replaced."""

    def __init__(self, offloading: Offloading | None) -> None:
        self.offloading = offloading
        self._before: list[tuple[nn.Module, _Forward | None]] = []

    def replace(self, module: nn.Module, forward: _Forward) -> None:
        self._before.append((module, module.__dict__.get("forward")))
        module.forward = forward

    def checkpoint(self, module: nn.Module) -> None:
        self.replace(module, functools.partial(_again, self.offloading, module.forward))

    def remove(self) -> None:
        while self._before:
            module, forward = self._before.pop()
            del module.__dict__["forward"]
            if forward is not None:
                module.forward = forward


class _Segmented:
    """The forward pass of a network whose chains of blocks run as segments; other blocks are checkpointed alone.

    The chains are found in a first forward pass without gradients.
    """

    def __init__(self, network: nn.Module, installed: _Installed) -> None:
        self._network, self._forward, self._installed = network, network.forward, installed
        self._is_found = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        if torch.is_grad_enabled() and not self._is_found:
            names = blocks_of(self._network)
            self._install(names, chains_of(self._network, names, lambda: self._forward(*args, **kwargs)))
            self._is_found = True
        return self._forward(*args, **kwargs)

    def _install(self, names: Sequence[str], chains: Sequence[Chain]) -> None:
        chained = {name for chain in chains for name in chain.blocks}
        for name in names:
            if name not in chained:
                self._installed.checkpoint(self._network.get_submodule(name))
        for chain in chains:
            first = 0
            for length in segment_lengths(len(chain.blocks)):
                segment = _Segment(self._network, chain.part(first, length), self._installed.offloading)
                for place, module in enumerate(segment.modules):
                    self._installed.replace(module, functools.partial(segment.called, place))
                first += length


class _Segment:
    """Consecutive blocks that run as one: when the first is called; the others only pass on the result."""

    def __init__(self, network: nn.Module, chain: Chain, offloading: Offloading | None) -> None:
        self.modules = [network.get_submodule(name) for name in chain.blocks]
        self._forwards = [module.forward for module in self.modules]
        self._chain, self._offloading, self._result = chain, offloading, None

    def called(self, place: int, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        """The forward pass of block `place`."""
        if not torch.is_grad_enabled():
            return self._forwards[place](*args, **kwargs)
        if place == 0:
            self._result = _again(self._offloading, self._run, *args, **kwargs)
        if place + 1 < len(self.modules):
            return _without_numbers(self._result)
        result, self._result = self._result, None
        return result

    def _run(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        result = _again(None, self._forwards[0], *args, **kwargs)
        for place, forward in enumerate(self._forwards[1:]):
            args, kwargs = self._chain.passed_on(place, result, args, kwargs)
            result = _again(None, forward, *args, **kwargs)
        return result


def _without_numbers(result: Any) -> Any:  # noqa: ANN401
    """What blocks inside a segment return: of the same shapes, but whoever computes with it gets an error."""
    if isinstance(result, torch.Tensor):
        return torch.empty(result.shape, dtype=result.dtype, device="meta")
    return type(result)(_without_numbers(each) for each in result)
