"""Stream a 16-bit network of FLUX.1's shape to a GPU that may hold 8 GB of it, at several copy rates.

Weights are random. The bound is max(Tc, (1 - r) W / B): compute time, or the time to copy what is not resident.
Copies can be throttled to the rate of an ordinary link: after each, the copy stream idles for the difference.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from mezzotint.memory.copying import Copier, Copy, Mark, StreamCopier
from mezzotint.memory.device import open_device
from mezzotint.memory.machine.rates import measured_link
from mezzotint.memory.pinning import CudaLocker
from mezzotint.memory.streaming import StreamedNetwork

GB = 2**30
LIMIT = 8 * GB
RATES = (None, 24e9, 12e9)  # bytes per second; None: unthrottled
_BESIDE = 12 * GB // 10  # reserved from the limit: context, activations of 4608 tokens, a margin
_PASSES = 3
_DRAWN = 2**22  # random weights, repeated: drawing twelve billion would take minutes


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Sizes of the network and its input."""

    width: int = 3072
    heads: int = 24
    doubles: int = 19
    singles: int = 38
    image: int = 4096  # tokens
    words: int = 512


def measure(
    device: str, shape: Shape | None = None, *, limit: int = LIMIT, rates: Sequence[float | None] = RATES
) -> Iterator[Mapping[str, Any]]:
    """Yield a row per rate, after measuring the compute time with all weights resident."""
    shape, place = shape or Shape(), torch.device(device)
    dtype = torch.bfloat16 if place.type == "cuda" else torch.float32
    network = Flux(shape, dtype)
    x = torch.randn(1, shape.image + shape.words, shape.width).to(place, dtype)
    link = measured_link(str(place)) if place.type == "cuda" else None
    with torch.inference_mode():
        computing = _seconds(network, x, place, _all(network), None, 1)[0]
        for rate in rates:
            seconds, stays = _seconds(network, x, place, _resident(network, place, limit), rate, 2)
            total = sum(parameter.nbytes for parameter in network.parameters())
            reached = rate or (None if link is None else link.pinned)
            yield {
                "limit_bytes": limit,
                "rate": rate,
                "weights_bytes": total,
                "resident_bytes": stays,
                "compute_seconds": computing,
                "seconds": seconds,
                "bound_seconds": None if reached is None else max(computing, (total - stays) / reached),
            }


class Flux(nn.Module):
    """Two kinds of blocks, in the number and size of FLUX.1's."""

    def __init__(self, shape: Shape, dtype: torch.dtype) -> None:
        super().__init__()
        self.shape = shape
        doubles = (_Double(shape) for _ in range(shape.doubles))
        singles = (_Single(shape) for _ in range(shape.singles))
        with torch.device("meta"):
            self.blocks = nn.ModuleList([*doubles, *singles]).to(dtype)
        self.to_empty(device="cpu").requires_grad_(False)
        drawn = torch.randn(_DRAWN).mul_(0.02).to(dtype)
        for parameter in self.parameters():
            for part in torch.split(parameter.view(-1), _DRAWN):
                part.copy_(drawn[: len(part)])

    @property
    def names(self) -> tuple[str, ...]:
        """Module names of the blocks."""
        return tuple(f"blocks.{index}" for index in range(len(self.blocks)))

    def forward(self, x: Tensor) -> Tensor:
        """Apply all blocks to x `(1, n, d)`."""
        for block in self.blocks:
            x = block(x)
        return x


class _Stream(nn.Module):
    """The layers of a double block for one modality, text or image."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        d = shape.width
        self.modulation, self.qkv, self.out = nn.Linear(d, 6 * d), nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def finish(self, x: Tensor, attended: Tensor, gates: Tensor) -> Tensor:
        """Apply the output projection and the feed-forward layer after attention."""
        x = x + gates[..., : x.shape[-1]] * self.out(attended)
        down: Tensor = self.down(functional.gelu(self.up(_norm(x)), approximate="tanh"))
        return x + down


class _Double(nn.Module):
    """Double-stream block: text and image have separate weights and joint attention."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape, self.words, self.image = shape, _Stream(shape), _Stream(shape)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the block to x `(1, n, d)`, text tokens first."""
        parts = torch.split(x, [self.shape.words, self.shape.image], dim=1)
        streams = (self.words, self.image)
        gates = [stream.modulation(part[:, :1]) for stream, part in zip(streams, parts, strict=True)]
        joined = torch.cat([stream.qkv(_norm(part)) for stream, part in zip(streams, parts, strict=True)], dim=1)
        attended = torch.split(_attend(joined, self.shape.heads), [part.shape[1] for part in parts], dim=1)
        each = zip(streams, parts, attended, gates, strict=True)
        return torch.cat([stream.finish(part, seen, gate) for stream, part, seen, gate in each], dim=1)


class _Single(nn.Module):
    """Single-stream block: attention in parallel with the feed-forward layer."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        d = shape.width
        self.heads = shape.heads
        self.modulation, self.first, self.second = nn.Linear(d, 3 * d), nn.Linear(d, 7 * d), nn.Linear(5 * d, d)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the block to x `(1, n, d)`."""
        d = x.shape[-1]
        gate: Tensor = self.modulation(x[:, :1])[..., :d]
        qkv, inner = torch.split(self.first(_norm(x)), [3 * d, 4 * d], dim=-1)
        second: Tensor = self.second(torch.cat([_attend(qkv, self.heads), functional.gelu(inner)], dim=-1))
        return x + gate * second


class ThrottledCopier(StreamCopier):
    """Copier limited to a rate; `idle(seconds)` makes the current stream wait."""

    rate: float
    link: float
    idle: Callable[[float], None]

    def _queue(self, copies: Sequence[Copy], after: Mark) -> Any:  # noqa: ANN401  an event
        super()._queue(copies, after)
        count = sum(copy.target.nbytes for copy in copies)
        with self._streams.stream(self._stream):
            self.idle(max(0.0, count / self.rate - count / self.link))
            event = self._streams.Event()
            event.record(self._stream)
        return event


def _norm(x: Tensor) -> Tensor:
    return functional.layer_norm(x, x.shape[-1:])


def _attend(qkv: Tensor, heads: int) -> Tensor:
    q, k, v = (part.view(*part.shape[:-1], heads, -1).transpose(1, 2) for part in qkv.chunk(3, dim=-1))
    return functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(-2)


def _all(network: Flux) -> int:
    return len(network.blocks)


def _resident(network: Flux, place: torch.device, limit: int) -> int:
    """Return how many blocks fit next to two slots."""
    device = open_device(place, reading=False)
    streamed = _streamed(network, 0, 2, device.copier, device.arena)
    room = limit - min(_BESIDE, limit // 4)
    fitting = [count for count in range(len(network.blocks)) if streamed.bytes(count) <= room]
    device.close()
    return max(fitting, default=0)


def _streamed(network: Flux, resident: int, slots: int, copier: Copier, arena: Any) -> StreamedNetwork:  # noqa: ANN401
    return StreamedNetwork(network, network.names, resident=resident, slots=slots, copier=copier, arena=arena)


def _seconds(
    network: Flux, x: Tensor, place: torch.device, resident: int, rate: float | None, slots: int
) -> tuple[float, int]:
    """Return the least time of a pass over a few passes, and the bytes of resident blocks."""
    device = open_device(place, reading=False)
    copier = device.copier if rate is None or place.type != "cuda" else _throttled(place, rate)
    streamed = _streamed(network, resident, slots, copier, device.arena)
    if place.type == "cuda":
        streamed.pin(CudaLocker(), sum(parameter.nbytes for parameter in network.parameters()))
    streamed.enter()
    streamed.ready()
    stays = streamed.arrangement().resident
    kept = sum(parameter.nbytes for name in stays for parameter in network.get_submodule(name).parameters())
    times = [_timed(network, x, place) for _ in range(_PASSES + 1)][1:]
    streamed.unpin()
    device.close()
    return min(times), kept


def _timed(network: Flux, x: Tensor, place: torch.device) -> float:
    _wait(place)
    begun = time.perf_counter()
    network(x)
    _wait(place)
    return time.perf_counter() - begun


def _wait(place: torch.device) -> None:
    if place.type == "cuda":
        torch.cuda.synchronize(place)


def _throttled(place: torch.device, rate: float) -> ThrottledCopier:
    link = measured_link(str(place))
    cycles = _cycles_per_second(place)
    streams: Any = torch.cuda
    copier = ThrottledCopier(place, streams)
    copier.rate, copier.link = rate, rate if link is None else link.pinned
    copier.idle = lambda seconds: streams._sleep(int(seconds * cycles))
    return copier


def _cycles_per_second(place: torch.device) -> float:
    count, streams = 200_000_000, cast(Any, torch.cuda)
    _wait(place)
    begun = time.perf_counter()
    streams._sleep(count)
    _wait(place)
    return count / (time.perf_counter() - begun)
