"""Exact branch-and-bound search for the fastest plan of a task within limits.

The search covers: guidance in one pass or two; host tiers; which networks stay on the device in phases in which they do
not work; the number of resident blocks and slots of each. Text encoders run once per job and stay on the device longer
only if everything does, because networks used in every step have priority.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mezzotint.memory.planning.costs import Layout
from mezzotint.memory.planning.phases import NetworkUse, phase_runs
from mezzotint.memory.planning.problem import Frontier, HostTiers, Limits, Precision, Problem
from mezzotint.protocol import GuidancePasses

_ROUNDING = 1e-9  # seconds: rounding differences of reordered sums are smaller


@dataclass(frozen=True, slots=True)
class Placed:
    """A network's placement in a solution."""

    part: NetworkUse
    layout: Layout
    present: tuple[int, ...]  # phases in which it is on the device
    arrivals: int


@dataclass(frozen=True, slots=True)
class Solution:
    """One way to run the task."""

    seconds: float
    guidance: GuidancePasses
    hosts: HostTiers
    tile: int
    precision: Precision
    placed: tuple[Placed, ...]


@dataclass(frozen=True, slots=True)
class PresenceOption:
    """One option for when a network is on the device."""

    key: str  # of the network
    present: tuple[int, ...]
    arrivals: int
    frontier: Frontier
    bound: float  # lower bound: the fastest layout that fits alone


def fastest(
    problem: Problem, precision: Precision, tile: int, limits: Limits, below: float = math.inf
) -> Solution | None:
    """Return the fastest solution; None if nothing fits, or nothing is faster than `below`."""
    best: Solution | None = None
    for guidance in problem.guidance_modes:
        for hosts in problem.all_hosts(precision, limits):
            rooms = _rooms(problem, guidance, tile, problem.vram(precision, hosts, limits))
            if min(rooms) >= 0:
                limit = best.seconds if best else below
                best = _fastest(problem, precision, tile, guidance, hosts, rooms, limit) or best
        if best is not None and all(not each.arrivals and not each.layout.slots for each in best.placed):
            break  # with everything loaded, the preferred guidance mode is best
    return best


def _rooms(problem: Problem, guidance: GuidancePasses, tile: int, vram: int) -> tuple[int, ...]:
    return tuple(vram - problem.fixed_bytes - live for live in problem.activations(guidance, tile))


def _fastest(
    problem: Problem,
    precision: Precision,
    tile: int,
    guidance: GuidancePasses,
    hosts: HostTiers,
    rooms: tuple[int, ...],
    below: float,
) -> Solution | None:
    """Return the fastest solution for these settings that takes less than `below`, or None."""
    parts = problem.parts(guidance, tile)
    whole = _everything(problem, precision, tile, guidance, hosts)
    if sum(placed.layout.device_bytes for placed in whole.placed) <= min(rooms):
        return whole if whole.seconds < below else None  # nothing is copied, so this is the fastest
    options = [list(_feasible_options(problem, part, precision, hosts, rooms)) for part in parts]
    assigner = LayoutAssigner(rooms)
    found: Solution | None = None
    first = tuple(each[0] for each in options if each)  # on the device only while they work: a bound on all others
    for chosen in (first, *sorted(itertools.product(*options), key=_bound)):
        if len(chosen) < len(parts) or (chosen is not first and _bound(chosen) >= below):
            break
        seconds, layouts = assigner.assign(chosen, below)
        if layouts is not None:
            below = seconds
            pairs = zip(parts, chosen, layouts, strict=True)
            placed = tuple(Placed(part, layout, option.present, option.arrivals) for part, option, layout in pairs)
            found = Solution(seconds, guidance, hosts, tile, precision, placed)
    return found


def _everything(
    problem: Problem, precision: Precision, tile: int, guidance: GuidancePasses, hosts: HostTiers
) -> Solution:
    """The solution with all networks fully and permanently on the device."""
    always = tuple(range(len(problem.phases)))
    parts = problem.parts(guidance, tile)
    placed = tuple(Placed(part, problem.layouts(part, precision.of(part))[0], always, 0) for part in parts)
    seconds = sum(problem.resident_seconds(part, precision.of(part)) for part in parts)
    return Solution(seconds, guidance, hosts, tile, precision, placed)


def _bound(chosen: Sequence[PresenceOption]) -> float:
    return sum(option.bound for option in chosen)


def _feasible_options(
    problem: Problem, part: NetworkUse, precision: Precision, hosts: HostTiers, rooms: tuple[int, ...]
) -> Iterator[PresenceOption]:
    for present, arrivals in presence_options(problem, part):
        frontier = problem.frontier(part, precision.of(part), hosts, arrivals)
        index = frontier.within(min(rooms[phase] for phase in present))
        if index >= 0:
            yield PresenceOption(part.key, present, arrivals, frontier, frontier.seconds[index])


def presence_options(problem: Problem, part: NetworkUse) -> Iterator[tuple[tuple[int, ...], int]]:
    """Options for when a network is on the device: the phases, and how often it arrives.

    Only in phases in which it works; during the whole job after encoding; or permanently, without arrivals in the job.
    """
    last = len(problem.phases) - 1
    if part.component.role == "text":
        yield (0,), 1
        return
    runs = sum(phase - 1 not in part.phases for phase in part.phases)
    yield part.phases, runs * phase_runs(problem.task)
    yield tuple(range(1, last + 1)), 1
    yield tuple(range(last + 1)), 0


class LayoutAssigner:
    """Assigns layouts to networks; only those on the device at the same time compete for room."""

    def __init__(self, rooms: Sequence[int]) -> None:
        self._rooms = rooms
        self._known: dict[tuple[tuple[str, tuple[int, ...]], ...], _Known] = {}

    def assign(self, options: Sequence[PresenceOption], below: float) -> tuple[float, tuple[Layout, ...] | None]:
        """Return the least time and layouts for these options; layouts are None if it is not less than `below`."""
        seconds, left = 0.0, _bound(options)
        layouts: dict[int, Layout] = {}
        for group in _groups(options):
            members = [options[index] for index in group]
            left -= _bound(members)
            found = self._group(members, below - seconds - left)
            if found.layouts is None:
                return math.inf, None
            seconds += found.seconds
            layouts.update(zip(group, found.layouts, strict=True))
        if seconds >= below:
            return math.inf, None
        return seconds, tuple(layouts[index] for index in range(len(options)))

    def _group(self, options: Sequence[PresenceOption], below: float) -> "_Known":
        """Search a group of options; reuses a cached optimum, or a cached failure with an equal or higher bound."""
        below += _ROUNDING
        key = tuple((option.key, option.present) for option in options)
        known = self._known.get(key)
        if known is None or (known.layouts is None and known.seconds < below):
            known = self._known[key] = _assigned(options, self._rooms, below)
        return known


@dataclass(frozen=True, slots=True)
class _Known:
    """The least time and its layouts; without layouts, a lower bound on the time."""

    seconds: float
    layouts: tuple[Layout, ...] | None


def _groups(options: Sequence[PresenceOption]) -> list[list[int]]:
    """Indices of options grouped by shared phases, directly or transitively."""
    groups: list[tuple[set[int], list[int]]] = []
    for index, option in enumerate(options):
        phases, members = set(option.present), [index]
        apart = []
        for other_phases, other in groups:
            if phases.isdisjoint(other_phases):
                apart.append((other_phases, other))
            else:
                phases, members = phases | other_phases, [*other, *members]
        groups = [*apart, (phases, members)]
    return [members for _, members in groups]


def _assigned(options: Sequence[PresenceOption], rooms: Sequence[int], below: float) -> _Known:
    order = sorted(range(len(options)), key=lambda index: len(options[index].frontier.bytes))
    search = _Assignment([options[index] for index in order], below)
    search.descend(0, list(rooms), 0.0, ())
    if search.found is None:
        return _Known(below, None)
    entries = dict(zip(order, search.found, strict=True))
    layouts = tuple(option.frontier.layouts[entries[index]] for index, option in enumerate(options))
    return _Known(search.best_seconds, layouts)


class _Assignment:
    """Depth-first branch and bound over the networks, in the given order."""

    def __init__(self, options: Sequence[PresenceOption], below: float) -> None:
        self._options, self.best_seconds = options, below
        self._rest = [sum(option.bound for option in options[depth:]) for depth in range(len(options) + 1)]
        self.found: tuple[int, ...] | None = None

    def descend(self, depth: int, rooms: list[int], seconds: float, entries: tuple[int, ...]) -> None:
        """Try the layouts of the network at this depth, fastest first."""
        if depth == len(self._options):
            self.best_seconds, self.found = seconds, entries  # only improvements get here
            return
        option = self._options[depth]
        frontier, is_last = option.frontier, depth == len(self._options) - 1
        for entry in range(frontier.within(min([rooms[phase] for phase in option.present])), -1, -1):
            now = seconds + frontier.seconds[entry]
            if now + self._rest[depth + 1] >= self.best_seconds:
                return  # the remaining layouts are slower
            left = list(rooms)
            for phase in option.present:
                left[phase] -= frontier.bytes[entry]
            if now + self._bound(depth + 1, left) < self.best_seconds:
                self.descend(depth + 1, left, now, (*entries, entry))
            if is_last:
                return

    def _bound(self, depth: int, rooms: list[int]) -> float:
        """Lower bound on the time of the remaining networks, each with all the room to itself."""
        total = 0.0
        for option in self._options[depth:]:
            entry = option.frontier.within(min([rooms[phase] for phase in option.present]))
            if entry < 0:
                return math.inf
            total += option.frontier.seconds[entry]
        return total


def smallest_solution(problem: Problem, precision: Precision, tile: int) -> Solution:
    """Return the solution with the least device memory, streaming everything from disk that can be."""
    guidance, hosts = problem.leanest, problem.smallest_hosts(precision)
    placed = []
    for part in problem.parts(guidance, tile):
        layout = min(problem.layouts(part, precision.of(part)), key=lambda each: each.device_bytes)
        present, arrivals = next(presence_options(problem, part))
        placed.append(Placed(part, layout, present, arrivals))
    seconds = sum(problem.seconds(p.part, precision.of(p.part), p.layout, hosts, p.arrivals) for p in placed)
    return Solution(seconds, guidance, hosts, tile, precision, tuple(placed))
