"""Choose a format for each layer: the moves to smaller formats that lose least for what they save, as many as needed.

The order of the moves does not depend on the target, so a larger target never has a larger error: its moves are the
first of those of a smaller one. Among formats of about the same size, speed counts: twice as fast is worth 16 times
the error.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mezzotint.conversion.auto.layers import Candidate, MeasuredLayer

_ABOUT_THE_SAME = 1.05  # ratio of sizes
_SPEED_POWER = 4  # being s times as fast is worth s to this power times the error


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One layer's change to its next smaller format."""

    layer: str
    candidate: Candidate
    saved: int  # bytes
    cost: float  # by which the weighted squared error grows


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """The format of each layer."""

    layers: tuple[MeasuredLayer, ...]
    chosen: Mapping[str, Candidate]  # by layer
    other_work: float = 0.0  # operations of layers that stay in 16 bits

    @property
    def bytes(self) -> int:
        """Bytes of these layers' weights."""
        return sum(each.bytes for each in self.chosen.values())

    @property
    def saved(self) -> dict[str, int]:
        """Bytes that each layer takes less than in 16 bits."""
        return {layer.name: layer.candidates[0].bytes - self.chosen[layer.name].bytes for layer in self.layers}

    @property
    def error(self) -> float:
        """Expected change of the network's output relative to its norm: the layers' errors are taken as independent."""
        return math.sqrt(sum(layer.change(self.chosen[layer.name]) ** 2 for layer in self.layers))

    @property
    def seconds(self) -> float:
        """Expected time of the layers' products relative to 16 bits."""
        whole = self.other_work + sum(layer.work for layer in self.layers)
        if not whole:
            return 1.0
        working = sum(layer.work / self.chosen[layer.name].speed for layer in self.layers)
        return (self.other_work + working) / whole


def moves_of(layers: Sequence[MeasuredLayer]) -> tuple[Move, ...]:
    """All moves, the cheapest for each saved byte first; those of a layer in the order of its sizes."""
    moves = [move for layer in layers for move in _moves(layer)]
    return tuple(sorted(moves, key=lambda move: move.cost / move.saved))


def mix_after(layers: Sequence[MeasuredLayer], moves: Sequence[Move], other_work: float = 0.0) -> Mix:
    """The mix after these moves; without any, all in 16 bits."""
    chosen = {layer.name: layer.candidates[0] for layer in layers}
    chosen |= {move.layer: move.candidate for move in moves}
    return Mix(layers=tuple(layers), chosen=chosen, other_work=other_work)


def choose_mix(layers: Sequence[MeasuredLayer], fits: Callable[[Mix], bool], other_work: float = 0.0) -> Mix | None:
    """The mix after as few moves as fit; None if not even all do.

    `fits`: more moves never fit worse. `other_work`: operations of the network's other layers.
    """
    moves = moves_of(layers)
    if not fits(mix_after(layers, moves)):
        return None
    low, high = 0, len(moves)  # `high` moves fit
    while low < high:
        middle = (low + high) // 2
        if fits(mix_after(layers, moves[:middle])):
            high = middle
        else:
            low = middle + 1
    return mix_after(layers, moves[:high], other_work)


def _moves(layer: MeasuredLayer) -> list[Move]:
    chain = _hull(layer, _sorted_by_error(layer, _worthwhile(layer)))
    return [
        Move(
            layer=layer.name,
            candidate=after,
            saved=before.bytes - after.bytes,
            cost=_cost(layer, after) - _cost(layer, before),
        )
        for before, after in itertools.pairwise(chain)
    ]


def _cost(layer: MeasuredLayer, candidate: Candidate) -> float:
    return (layer.change(candidate) / candidate.speed**_SPEED_POWER) ** 2


def _worthwhile(layer: MeasuredLayer) -> list[Candidate]:
    """Candidates smaller than 16 bits, the largest first, each of which costs less than any smaller one.

    Of those of about the same size the cheapest, but also the smallest of all.
    """
    kept: list[Candidate] = []
    smaller = [each for each in layer.candidates[1:] if each.bytes < layer.candidates[0].bytes]
    for each in sorted(smaller, key=lambda each: (each.bytes, _cost(layer, each))):
        if not kept or _cost(layer, each) < _cost(layer, kept[-1]):
            kept.append(each)
    sizes = itertools.pairwise([each.bytes for each in kept] + [math.inf])
    apart = [larger > _ABOUT_THE_SAME * own for own, larger in sizes]
    return [each for each, is_apart in zip(kept, apart, strict=True) if is_apart or each is kept[0]][::-1]


def _sorted_by_error(layer: MeasuredLayer, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The 16-bit candidate, and those after it without any whose error is above that of a smaller one."""
    kept: list[Candidate] = []
    for each in reversed(candidates):
        if not kept or each.error <= kept[-1].error:
            kept.append(each)
    return [layer.candidates[0], *kept[::-1]]


def _hull(layer: MeasuredLayer, chain: Sequence[Candidate]) -> list[Candidate]:
    """The lower convex hull of cost over saved bytes, so that each move is dearer than the one before it."""
    hull: list[Candidate] = []
    for each in chain:
        while len(hull) > 1 and _slope(layer, hull[-2], hull[-1]) >= _slope(layer, hull[-2], each):
            hull.pop()
        hull.append(each)
    return hull


def _slope(layer: MeasuredLayer, before: Candidate, after: Candidate) -> float:
    return (_cost(layer, after) - _cost(layer, before)) / (before.bytes - after.bytes)
