"""Claims about efficient architectures, each computed anew: operations are counted in real layers, not derived."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode

from mezzotint.attention.reference import attention_reference
from mezzotint.attention.sdpa import attention_sdpa
from mezzotint.families.architectures.feed_forwards import (
    FEED_FORWARDS,
    dense_convolution,
    depthwise_separable,
    shuffled_groups,
    spatially_separable,
)
from mezzotint.memory.footprints.live_memory import counted

_WIDTH, _SIDE = 256, 32
_NEAR = 0.02  # relative: biases and activations are not in the formulas


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A claim, and what was found."""

    name: str
    claimed: str
    claimed_value: float
    found_value: float
    remark: str = ""
    at_least: bool = False

    @property
    def holds(self) -> bool:
        """Whether what was found is what was claimed."""
        if self.at_least:
            return self.found_value >= self.claimed_value
        return abs(self.found_value - self.claimed_value) <= _NEAR * abs(self.claimed_value)


def claims() -> Iterator[Claim]:
    """Compute all claims, in the order of the literature they come from."""
    yield from _representation()
    yield from _convolutions()
    yield from _blocks()
    yield from _exact_attention()


def _representation() -> Iterator[Claim]:
    convolution, factor = dense_convolution(_WIDTH), 8
    pixels = _operations(convolution, _image(_WIDTH, 8 * _SIDE))
    latents = _operations(convolution, _image(_WIDTH, 8 * _SIDE // factor))
    yield Claim(
        name="latents, convolutions",
        claimed="1 / f^2 of the work on pixels, f = 8",
        claimed_value=1 / factor**2,
        found_value=latents / pixels,
    )
    yield Claim(
        name="latents, attention scores",
        claimed="1 / f^2 of the work on pixels, f = 8",
        claimed_value=1 / factor**2,
        found_value=_scores(_SIDE**2, _WIDTH) / _scores((factor * _SIDE) ** 2, _WIDTH),
        remark="1 / f^4: latents save attention more than the formula says",
    )
    halved = _operations(convolution, _image(_WIDTH, 2 * _SIDE)) / _operations(convolution, _image(_WIDTH, _SIDE))
    yield Claim(
        name="half the resolution, convolutions", claimed="4 times less work", claimed_value=4.0, found_value=halved
    )
    yield Claim(
        name="half the resolution, attention scores",
        claimed="16 times less work",
        claimed_value=16.0,
        found_value=_scores(4 * _SIDE**2, _WIDTH) / _scores(_SIDE**2, _WIDTH),
    )
    yield Claim(
        name="2x2 merging with doubled width, attention scores",
        claimed="up to 16 times less work",
        claimed_value=16.0,
        found_value=_scores(4 * _SIDE**2, _WIDTH) / _scores(_SIDE**2, 2 * _WIDTH),
        remark="8: the width counts, too; 16 with constant width",
    )
    wide = _operations(nn.Linear(2 * _WIDTH, 2 * _WIDTH), _tokens(_SIDE**2, 2 * _WIDTH))
    yield Claim(
        name="2x2 merging with doubled width, linear layers",
        claimed="less work",
        claimed_value=4.0,
        found_value=_operations(nn.Linear(_WIDTH, _WIDTH), _tokens(4 * _SIDE**2, _WIDTH)) / wide,
        remark="the same work: a quarter of the tokens, four times the weights",
    )


def _convolutions() -> Iterator[Claim]:
    image = _image(_WIDTH, _SIDE)
    dense = _operations(dense_convolution(_WIDTH), image)
    separable = _operations(depthwise_separable(_WIDTH), image) / dense
    yield Claim(
        name="depthwise-separable 3x3",
        claimed="1 / C + 1 / k^2 of the work",
        claimed_value=1 / _WIDTH + 1 / 9,
        found_value=separable,
    )
    saved = 1 - _operations(depthwise_separable(64), _image(64, _SIDE)) / _operations(
        dense_convolution(64), _image(64, _SIDE)
    )
    yield Claim(
        name="depthwise-separable 3x3, 64 channels",
        claimed="more than 85 % saved",
        claimed_value=0.85,
        found_value=saved,
        at_least=True,
    )
    yield Claim(
        name="grouped 3x3, 4 groups",
        claimed="1 / g of the work",
        claimed_value=1 / 4,
        found_value=_operations(shuffled_groups(_WIDTH), image) / dense,
    )
    yield Claim(
        name="spatially separable 3x3",
        claimed="2 / k of the work",
        claimed_value=2 / 3,
        found_value=_operations(spatially_separable(_WIDTH), image) / dense,
    )


def _blocks() -> Iterator[Claim]:
    dense = _operations(dense_convolution(_WIDTH), _image(_WIDTH, _SIDE))
    bottleneck, mbconv = (_block(kind, _WIDTH) / dense for kind in ("bottleneck", "mbconv"))
    reduction, expansion = 4, 4
    yield Claim(
        name="bottleneck, r = 4",
        claimed="2 t / k^2 + t / C of the work",
        claimed_value=2 * expansion / 9 + expansion / _WIDTH,
        found_value=bottleneck,
        remark="that is MBConv's; a bottleneck needs 2 / (r k^2) + 1 / r^2",
    )
    yield Claim(
        name="bottleneck, r = 4, corrected",
        claimed="2 / (r k^2) + 1 / r^2 of the work",
        claimed_value=2 / (reduction * 9) + 1 / reduction**2,
        found_value=bottleneck,
    )
    yield Claim(
        name="MBConv, t = 4",
        claimed="2 t / k^2 + t / C of the work",
        claimed_value=2 * expansion / 9 + expansion / _WIDTH,
        found_value=mbconv,
    )


def _exact_attention() -> Iterator[Claim]:
    few, many = (_peak(lambda q, k, v: attention_reference(q, k, v)[0], count) for count in (1024, 2048))
    yield Claim(
        name="memory of attention that keeps scores",
        claimed="4 times for twice the tokens",
        claimed_value=4.0,
        found_value=many / few,
    )
    few, many = (_peak(attention_sdpa, count) for count in (1024, 2048))
    yield Claim(
        name="memory of tiled attention",
        claimed="2 times for twice the tokens",
        claimed_value=2.0,
        found_value=many / few,
    )
    q, k, v = _random(256)
    apart = (attention_sdpa(q, k, v) != attention_reference(q, k, v)[0]).float().mean()
    yield Claim(
        name="tiled attention is bitwise identical to softmax attention",
        claimed="0 of the numbers differ",
        claimed_value=0.0,
        found_value=float(apart),
        remark="exact up to rounding: sums are added in another order",
    )


def _operations(module: nn.Module, example: tuple[int, ...], *more: Any) -> float:  # noqa: ANN401
    """FLOPs of a module on an input of this shape; nothing is computed."""
    with FakeTensorMode(allow_non_fake_inputs=True), counted() as memory:
        module(torch.empty(example), *more)
    return memory.operations


def _block(kind: Any, width: int) -> float:  # noqa: ANN401
    return _operations(FEED_FORWARDS[kind](nn.Identity(), width), (1, _SIDE * _SIDE, width), (_SIDE, _SIDE))


def _image(channels: int, side: int) -> tuple[int, ...]:
    return 1, channels, side, side


def _tokens(count: int, width: int) -> tuple[int, ...]:
    return 1, count, width


def _scores(tokens: int, width: int) -> float:
    """FLOPs of one head of attention."""
    with FakeTensorMode(), counted() as memory:
        q = torch.empty(1, 1, tokens, width)
        attention_sdpa(q, q, q)
    return memory.operations


def _peak(attend: Callable[[Tensor, Tensor, Tensor], Tensor], tokens: int) -> int:
    q, k, v = _random(tokens)
    with counted() as memory:
        attend(q, k, v)
    return memory.peak


def _random(tokens: int) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(1, 1, tokens, 32, generator=generator) for _ in range(3))
    return q, k, v
