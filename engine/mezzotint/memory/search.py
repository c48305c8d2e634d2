"""The fastest way to carry a task out within limits: exact, and quick because bounds cut most of it off.

Searched are: guidance in one pass or two; where weights wait; which networks stay on the device in phases in which
they do not work; how many blocks of each are resident, and through how many slots the others pass.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mezzotint.memory.costs import Layout
from mezzotint.memory.phases import Part
from mezzotint.memory.problem import Frontier, Hosts, Limits, Precision, Problem
from mezzotint.protocol import GuidancePasses


@dataclass(frozen=True, slots=True)
class Placed:
    """A network's part of a solution."""

    part: Part
    layout: Layout
    present: tuple[int, ...]  # phases in which it is on the device
    arrivals: int


@dataclass(frozen=True, slots=True)
class Solution:
    """One way to carry the task out."""

    seconds: float
    guidance: GuidancePasses
    hosts: Hosts
    tile: int
    precision: Precision
    placed: tuple[Placed, ...]


@dataclass(frozen=True, slots=True)
class Stay:
    """One way for a network to come and go."""

    present: tuple[int, ...]
    arrivals: int
    frontier: Frontier
    bound: float  # no layout that fits alone is faster


def fastest(problem: Problem, precision: Precision, tile: int, limits: Limits) -> Solution | None:
    """The solution of least time; None where nothing fits."""
    best: Solution | None = None
    for guidance in problem.guidances:
        for hosts in problem.all_hosts(precision, limits):
            rooms = _rooms(problem, guidance, tile, problem.vram(precision, hosts, limits))
            if min(rooms) < 0:
                continue
            found = _fastest(problem, precision, tile, guidance, hosts, rooms, best)
            best = found or best
    return best and _relaxed(problem, best, limits)


def _rooms(problem: Problem, guidance: GuidancePasses, tile: int, vram: int) -> tuple[int, ...]:
    return tuple(vram - problem.fixed_bytes - live for live in problem.activations(guidance, tile))


def _fastest(
    problem: Problem,
    precision: Precision,
    tile: int,
    guidance: GuidancePasses,
    hosts: Hosts,
    rooms: tuple[int, ...],
    best: Solution | None,
) -> Solution | None:
    """Faster than the best so far, or None."""
    parts = problem.parts(guidance, tile)
    stays = [list(_stays(problem, part, precision, hosts, rooms)) for part in parts]
    combinations = sorted(itertools.product(*stays), key=_bound)
    found: Solution | None = None
    for chosen in combinations:
        least = best.seconds if best else None
        if least is not None and _bound(chosen) >= least:
            break
        seconds, layouts = assign(chosen, rooms, least)
        if layouts is not None:
            pairs = zip(parts, chosen, layouts, strict=True)
            placed = tuple(Placed(part, layout, stay.present, stay.arrivals) for part, stay, layout in pairs)
            best = found = Solution(seconds, guidance, hosts, tile, precision, placed)
    return found


def _bound(chosen: Sequence[Stay]) -> float:
    return sum(stay.bound for stay in chosen)


def _stays(problem: Problem, part: Part, precision: Precision, hosts: Hosts, rooms: tuple[int, ...]) -> Iterator[Stay]:
    for present, arrivals in presences(problem, part):
        whole = part.component.role == "text" and len(present) > len(part.phases)
        frontier = problem.frontier(part, precision.of(part), hosts.of(part), arrivals, whole=whole)
        index = frontier.within(min(rooms[phase] for phase in present))
        if index >= 0:
            yield Stay(present, arrivals, frontier, frontier.seconds[index])


def presences(problem: Problem, part: Part) -> Iterator[tuple[tuple[int, ...], int]]:
    """Ways to come and go: the phases, and how often the network arrives.

    It is there only where it works; from picture to picture; or for good, and then its arrival is no part of the job.
    """
    last = len(problem.phases) - 1
    if part.component.role == "text":
        yield (0,), 1
    else:
        runs = sum(phase - 1 not in part.phases for phase in part.phases)
        yield part.phases, runs * problem.task.count
        yield tuple(range(1, last + 1)), 1
    yield tuple(range(last + 1)), 0


def assign(stays: Sequence[Stay], rooms: Sequence[int], below: float | None) -> tuple[float, tuple[Layout, ...] | None]:
    """The layouts of least time of networks that come and go so; none that takes less than `below`: None."""
    order = sorted(range(len(stays)), key=lambda index: len(stays[index].frontier.bytes))
    ordered = [stays[index] for index in order]
    rest = [0.0]
    for stay in reversed(ordered):
        rest.append(rest[-1] + stay.bound)
    search = _Assignment(ordered, rest[::-1], float("inf") if below is None else below)
    search.descend(0, list(rooms), 0.0, ())
    if search.found is None:
        return search.least, None
    layouts: list[Layout | None] = [None] * len(stays)
    for index, stay, entry in zip(order, ordered, search.found, strict=True):
        layouts[index] = stay.frontier.layouts[entry]
    return search.least, tuple(layout for layout in layouts if layout is not None)


class _Assignment:
    """A descent through the networks, the one of fewest layouts first; bounds cut branches off."""

    def __init__(self, stays: Sequence[Stay], rest: Sequence[float], below: float) -> None:
        self._stays, self._rest, self.least = stays, rest, below
        self.found: tuple[int, ...] | None = None

    def descend(self, depth: int, rooms: list[int], seconds: float, entries: tuple[int, ...]) -> None:
        """Try the layouts of the network at this depth, the fastest first."""
        if depth == len(self._stays):
            if seconds < self.least:
                self.least, self.found = seconds, entries
            return
        stay = self._stays[depth]
        frontier = stay.frontier
        rest = self._rest[depth + 1]
        for entry in range(frontier.within(min(rooms[phase] for phase in stay.present)), -1, -1):
            now = seconds + frontier.seconds[entry]
            if now + rest >= self.least:
                return  # the next are slower
            left = list(rooms)
            for phase in stay.present:
                left[phase] -= frontier.bytes[entry]
            self.descend(depth + 1, left, now, (*entries, entry))
            if depth == len(self._stays) - 1:
                return


def _relaxed(problem: Problem, solution: Solution, limits: Limits) -> Solution:
    """The same with less page-locked memory, where that takes no longer: what never moves need not be."""
    if problem.machine.one_memory:
        return solution
    for hosts in (Hosts("ram", "ram"), Hosts("pinned", "ram"), Hosts("ram", "pinned")):
        if problem.host_bytes(solution.precision, hosts) > limits.ram:
            continue
        if problem.pinned_bytes(solution.precision, hosts) > limits.pinned:
            continue
        seconds = sum(
            problem.seconds(p.part, solution.precision.of(p.part), p.layout, hosts.of(p.part), p.arrivals)
            for p in solution.placed
        )
        if seconds <= solution.seconds:
            return Solution(seconds, solution.guidance, hosts, solution.tile, solution.precision, solution.placed)
    return solution


def least(problem: Problem, precision: Precision, tile: int) -> Solution:
    """The solution of least device memory: everything streamed from disk that can be."""
    guidance, hosts = problem.guidances[-1], Hosts("disk", "disk")
    placed = []
    for part in problem.parts(guidance, tile):
        layout = min(problem.layouts(part, precision.of(part)), key=lambda way: way.device_bytes)
        present, arrivals = next(presences(problem, part))
        placed.append(Placed(part, layout, present, arrivals))
    seconds = sum(problem.seconds(p.part, precision.of(p.part), p.layout, hosts.of(p.part), p.arrivals) for p in placed)
    return Solution(seconds, guidance, hosts, tile, precision, tuple(placed))
