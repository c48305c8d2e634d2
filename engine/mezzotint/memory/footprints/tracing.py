"""The live memory and the work of a network's forward pass, from passes without weights at a few sizes."""

import contextlib
import functools
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from mezzotint.memory.blocks import blocks_of, order_of
from mezzotint.memory.footprints.fitting import Point, fit
from mezzotint.memory.footprints.footprint import Law
from mezzotint.memory.footprints.forward_calls import LENGTHS, Call, is_text, known_call, longest, sides_of
from mezzotint.memory.footprints.live_memory import counted
from mezzotint.memory.wide_parameters import stays_wide

HALF = torch.bfloat16  # of 16 bits, and with float16's code paths but for the guards against its overflow


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """What tracing finds out."""

    live: Law
    work: Law
    order: tuple[str, ...]  # of the blocks that a pass goes through


def trace(
    network: nn.Module,
    class_name: str,
    tokens: int,
    on_progress: Callable[[float], None] = lambda _: None,
    *,
    call: Call | None = None,
) -> Traced:
    """Trace a network that has no weights and is used up by it; `on_progress` hears the part that is done.

    `call`: how it is asked; None: as networks of its class are.
    """
    asked = call or functools.partial(known_call, class_name)
    order: list[str] = []
    live, work = [], []
    with _fake(network):
        sizes = _sizes(network, class_name, tokens)
        for index, (size, batch) in enumerate(sizes):
            run = functools.partial(asked, network, size, batch, tokens)
            with counted() as memory:
                order += order_of(network, () if order else blocks_of(network), run)
            positions = size if is_text(class_name) else size * size
            live.append(Point(positions=positions, batch=batch, value=memory.peak))
            work.append(Point(positions=positions, batch=batch, value=memory.operations))
            on_progress((index + 1) / len(sizes))
    return Traced(live=fit(live, squared=is_text(class_name)), work=fit(work), order=tuple(order))


def peak_of(network: nn.Module, class_name: str, sizes: Sequence[tuple[int, int]], tokens: int) -> list[Point]:
    """The peak of live memory at sizes and batches of one's own; the network is used up by it."""
    points = []
    with _fake(network):
        for size, batch in sizes:
            with counted() as memory:
                known_call(class_name, network, size, batch, tokens)
            positions = size if is_text(class_name) else size * size
            points.append(Point(positions=positions, batch=batch, value=memory.peak))
    return points


def _sizes(network: nn.Module, class_name: str, tokens: int) -> list[tuple[int, int]]:
    """Three sizes, alone or two at once; few of what is slow, and enough to tell apart what a batch shares."""
    if not is_text(class_name):
        small, middle, large = sides_of(network)
        return [(small, 1), (large, 1), (middle, 2), (large, 2)]
    most = longest(network, class_name)
    wanted = (tokens * 3 // 4, tokens, tokens * 5 // 4) if tokens else LENGTHS
    lengths = wanted if max(wanted) <= most else (most // 2, most * 3 // 4, most)
    return [(length, batch) for length in lengths for batch in (1, 2)]


@contextlib.contextmanager
def _fake(network: nn.Module) -> Iterator[None]:
    """Inside, the network's parameters have shapes and no memory, and so has all that comes of them."""
    network.requires_grad_(False).eval()
    with _quiet(), FakeTensorMode(allow_non_fake_inputs=True):
        for lead, module in network.named_modules():
            for name, parameter in module._parameters.items():
                if parameter is not None:
                    wide = stays_wide(type(network).__name__, f"{lead}.{name}")
                    shape = _like(parameter, torch.float32 if wide else HALF)
                    module._parameters[name] = nn.Parameter(shape, requires_grad=False)
            for name, buffer in module._buffers.items():
                if buffer is not None:
                    module._buffers[name] = _like(buffer)
        yield


def _like(tensor: torch.Tensor, numbers: torch.dtype = HALF) -> torch.Tensor:
    dtype = numbers if tensor.is_floating_point() else tensor.dtype
    return torch.empty(tensor.shape, dtype=dtype, device="cpu")


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """The libraries warn of what does not matter where nothing is calculated."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)
