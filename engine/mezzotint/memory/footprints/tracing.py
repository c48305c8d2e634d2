"""Trace the live memory and work of a network's forward pass, without weights, at a few sizes."""

import contextlib
import functools
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from mezzotint.memory.blocks import blocks_of, order_of
from mezzotint.memory.footprints.fitting import Point, fit
from mezzotint.memory.footprints.footprint import ScalingLaw
from mezzotint.memory.footprints.forward_calls import TOKEN_COUNTS, Call, is_text, known_call, longest, sides_of
from mezzotint.memory.footprints.live_memory import counted
from mezzotint.memory.fp32_parameters import keep_in_fp32
from mezzotint.quantization.layers import QuantizedLayer

HALF = torch.bfloat16  # 16 bits, with the same code paths as float16 except for its overflow guards


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """The result of tracing."""

    live: ScalingLaw
    work: ScalingLaw
    order: tuple[str, ...]  # executed blocks, in execution order


def trace(
    network: nn.Module,
    class_name: str,
    tokens: int,
    on_progress: Callable[[float], None] = lambda _: None,
    *,
    call: Call | None = None,
) -> Traced:
    """Trace a network without weights, which is unusable afterwards; `on_progress` receives the fraction done.

    `call`: how to call the network; None: as known for its class.
    """
    asked = call or functools.partial(known_call, class_name)
    order: list[str] = []
    live, work = [], []
    with faked(network):
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


def _sizes(network: nn.Module, class_name: str, tokens: int) -> list[tuple[int, int]]:
    """Sizes and batches to trace: few, because tracing is slow, but enough to separate what the batch shares."""
    if not is_text(class_name):
        small, middle, large = sides_of(network)
        return [(small, 1), (large, 1), (middle, 2), (large, 2)]
    most = longest(network, class_name)
    wanted = (tokens * 3 // 4, tokens, tokens * 5 // 4) if tokens else TOKEN_COUNTS
    lengths = wanted if max(wanted) <= most else (most // 2, most * 3 // 4, most)
    return [(length, batch) for length in lengths for batch in (1, 2)]


@contextlib.contextmanager
def faked(network: nn.Module, numbers: torch.dtype = HALF) -> Iterator[None]:
    """Replace the network's parameters by fake tensors of this dtype and trace inside the context.

    Quantized layers keep the dtypes of their formats.
    """
    network.requires_grad_(False).eval()
    with _quiet(), FakeTensorMode(allow_non_fake_inputs=True):
        for lead, module in network.named_modules():
            for name, parameter in module._parameters.items():
                if parameter is not None:
                    wide = keep_in_fp32(type(network).__name__, f"{lead}.{name}")
                    shape = _like(parameter, torch.float32 if wide else numbers)
                    module._parameters[name] = nn.Parameter(shape, requires_grad=False)
            for name, buffer in module._buffers.items():
                if buffer is not None:
                    stored = isinstance(module, QuantizedLayer) and name != "bias"
                    module._buffers[name] = _like(buffer, buffer.dtype if stored else numbers)
        yield


def _like(tensor: torch.Tensor, numbers: torch.dtype = HALF) -> torch.Tensor:
    dtype = numbers if tensor.is_floating_point() else tensor.dtype
    return torch.empty(tensor.shape, dtype=dtype, device="cpu")


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence warnings of the libraries that are irrelevant to tracing."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)
