"""Plan a job's use of memory: precision, residency, tiles and host tiers, with numbers and reasons.

Lexicographic order: it fits the device; it fits RAM and the page-lock budget; quality; time. What affects pixels
(precision, tiles) depends only on the machine's capacity and estimated speed, never on free memory or measured times;
everything else is chosen within free memory by the best known times. More memory never gives a lower precision, nor a
slower plan of the same precision: a precision is accepted if it takes at most a fixed multiple of the time that the
fastest precision takes with everything loaded (or hardly longer than itself with everything loaded), and that bound
does not depend on memory.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from mezzotint.memory.footprints.footprint import Scheme
from mezzotint.memory.machine.calibration import Calibration
from mezzotint.memory.machine.facts import MachineFacts
from mezzotint.memory.planning.costs import has_scheme
from mezzotint.memory.planning.outline import outlined
from mezzotint.memory.planning.phases import tile_choices
from mezzotint.memory.planning.problem import Limits, Precision, Problem
from mezzotint.memory.planning.reasons import reasons_of
from mezzotint.memory.planning.search import Solution, fastest, smallest_solution
from mezzotint.memory.planning.task import Task
from mezzotint.protocol import MemoryPolicy, Plan, Quantization

DEVICE_HEADROOM = 10  # 1 / DEVICE_HEADROOM of a GPU is left to the desktop and other programs
_RAM_HEADROOM = 8
# How much longer a better precision may take than the fastest one with everything loaded.
MAX_SLOWDOWN = {"auto": 2.0, "balanced": 1.25}
_HARDLY_MORE = 1.1  # a precision within this multiple of its own time with everything loaded is always accepted

_DENOISERS: dict[MemoryPolicy, tuple[Scheme, ...]] = {
    "auto": ("none", "int8", "int4-lowrank"),
    "balanced": ("none", "int8", "int4-lowrank"),
    "fast": ("none", "int8"),
    "lowest": ("int8", "int4-lowrank", "int4"),
}
_TEXTS: dict[MemoryPolicy, tuple[Scheme, ...]] = {
    "auto": ("none", "int8"),
    "balanced": ("none", "int8"),
    "fast": ("none", "int8"),
    "lowest": ("int8", "int4"),
}


@dataclass(frozen=True, slots=True)
class Choice:
    """The settings that affect pixels, and a cap on device memory."""

    precision: Precision
    tile: int
    cap: int


def plan(
    task: Task, machine: MachineFacts, calibration: Calibration | None = None, policy: MemoryPolicy = "auto"
) -> Plan:
    """Plan a task; if nothing fits, `fits` is False and the numbers are those of the smallest plan."""
    known = calibration or Calibration()
    problem = Problem(task, machine, known)
    chosen = _choice(Problem(task, machine, replace(known, times={})) if known.times else problem, policy)
    solution = None if chosen is None else _now(problem, chosen)
    smallest = _smallest(problem, policy)
    needs = _needs(problem, smallest)
    shown = solution or smallest_solution(problem, *(smallest if chosen is None else (chosen.precision, chosen.tile)))
    outline = outlined(problem, shown, fits=solution is not None, policy=policy)
    outline = replace(outline, smallest_vram_bytes=needs[0], smallest_ram_bytes=needs[1])
    return replace(outline, reasons=reasons_of(problem, shown, outline, capacity_fits=chosen is not None))


def capacity(machine: MachineFacts) -> Limits:
    """The machine's memory minus the headroom for other programs."""
    return Limits(
        machine.vram_bytes - machine.vram_bytes // DEVICE_HEADROOM,
        machine.ram_bytes - machine.ram_bytes // _RAM_HEADROOM,
        machine.pin_bytes,
    )


def _now(problem: Problem, chosen: Choice) -> Solution | None:
    machine, limits = problem.machine, capacity(problem.machine)
    now = Limits(
        min(limits.vram, machine.free_vram_bytes, chosen.cap),
        min(limits.ram, machine.free_ram_bytes),
        limits.pinned,
    )
    return fastest(problem, chosen.precision, chosen.tile, now)


def _choice(problem: Problem, policy: MemoryPolicy) -> Choice | None:
    """Return the best choice for the machine's capacity; None if nothing fits."""
    if policy == "lowest":
        return _lowest(problem)
    if policy == "fast":
        return _fastest(problem)
    return _best(problem, MAX_SLOWDOWN[policy], policy)


def _lowest(problem: Problem) -> Choice | None:
    limits = capacity(problem.machine)
    precision, tile = _smallest(problem, "lowest")
    peak = problem.smallest_peak(precision, tile)
    tile = next(side for side in tile_choices(problem.task) if problem.smallest_peak(precision, side) <= peak)
    return Choice(precision, tile, peak) if _fits(problem, precision, tile, limits) else None


def _fastest(problem: Problem) -> Choice | None:
    limits = capacity(problem.machine)
    best: Solution | None = None
    for precision in _precisions(problem, "fast"):
        for tile in tile_choices(problem.task):
            found = fastest(problem, precision, tile, limits, math.inf if best is None else best.seconds)
            best = found or best
    return None if best is None else Choice(best.precision, best.tile, limits.vram)


def _best(problem: Problem, max_slowdown: float, policy: MemoryPolicy) -> Choice | None:
    """Return the best precision that is not too slow; the lowest that fits if all are too slow."""
    limits = capacity(problem.machine)
    room = problem.most_vram(limits)
    tile = next((side for side in tile_choices(problem.task) if problem.decoding_peak(side) <= room), None)
    if tile is None:
        return None
    denoisers, texts = _denoisers(problem, policy), _texts(problem, policy)
    times = _Times(problem, tile, limits, max_slowdown * min(_in_place(problem, scheme, tile) for scheme in denoisers))
    denoiser = _first(
        denoisers,
        lambda scheme: any(times.is_quick(Precision(scheme, text)) for text in texts),
        lambda scheme: any(times.fits(Precision(scheme, text)) for text in texts),
    )
    if denoiser is None:
        return None
    text = _first(
        texts,
        lambda scheme: times.is_quick(Precision(denoiser, scheme)),
        lambda scheme: times.fits(Precision(denoiser, scheme)),
    )
    return None if text is None else Choice(Precision(denoiser, text), tile, limits.vram)


def _first(
    schemes: tuple[Scheme, ...], is_quick: Callable[[Scheme], bool], fits: Callable[[Scheme], bool]
) -> Scheme | None:
    quick = next((scheme for scheme in schemes if is_quick(scheme)), None)
    return quick or next((scheme for scheme in reversed(schemes) if fits(scheme)), None)


class _Times:
    """Best time of each precision, cached."""

    def __init__(self, problem: Problem, tile: int, limits: Limits, allowed: float) -> None:
        self._problem, self._tile, self._limits, self._allowed = problem, tile, limits, allowed
        self._found: dict[Precision, float | None] = {}

    def fits(self, precision: Precision) -> bool:
        """Whether any plan fits."""
        return _fits(self._problem, precision, self._tile, self._limits)

    def is_quick(self, precision: Precision) -> bool:
        """Whether its time is within the bound, plus the time to read the text encoders' weights once."""
        if precision not in self._found:
            found = fastest(self._problem, precision, self._tile, self._limits) if self.fits(precision) else None
            self._found[precision] = None if found is None else found.seconds
        seconds = self._found[precision]
        own = _HARDLY_MORE * _in_place(self._problem, precision.denoiser, self._tile)
        return seconds is not None and seconds <= max(self._allowed, own) + self._reading(precision)

    def _reading(self, precision: Precision) -> float:
        problem = self._problem
        texts = (part for part in problem.parts("batched", self._tile) if part.component.role == "text")
        return sum(problem.total(part, precision.text) for part in texts) / problem.rate("disk")


def _in_place(problem: Problem, denoiser: Scheme, tile: int) -> float:
    """Seconds with everything loaded, for which the text encoders' precision does not matter."""
    precision = Precision(denoiser, "none")
    return sum(
        problem.resident_seconds(part, precision.of(part)) for part in problem.parts(problem.guidance_modes[0], tile)
    )


def _fits(problem: Problem, precision: Precision, tile: int, limits: Limits) -> bool:
    peak = problem.smallest_peak(precision, tile)
    return peak <= limits.vram and problem.smallest_ram(precision, tile) <= limits.ram


def _denoisers(problem: Problem, policy: MemoryPolicy) -> tuple[Scheme, ...]:
    return _allowed_schemes(problem, problem.task.quantization, "denoiser", _DENOISERS[policy])


def _texts(problem: Problem, policy: MemoryPolicy) -> tuple[Scheme, ...]:
    return _allowed_schemes(problem, problem.task.text_quantization, "text", _TEXTS[policy])


def _allowed_schemes(
    problem: Problem, asked: Quantization, role: str, schemes: tuple[Scheme, ...]
) -> tuple[Scheme, ...]:
    if asked != "auto":
        return (asked,)
    parts = [part.component for part in problem.parts("batched", 0) if part.component.role == role]
    possible = tuple(scheme for scheme in schemes if any(has_scheme(part, scheme) for part in parts))
    return possible or ("none",)


def _precisions(problem: Problem, policy: MemoryPolicy) -> Iterator[Precision]:
    """All precisions, better ones first."""
    for denoiser in _denoisers(problem, policy):
        for text in _texts(problem, policy):
            yield Precision(denoiser, text)


def _smallest(problem: Problem, policy: MemoryPolicy) -> tuple[Precision, int]:
    """Precision and tile that need the least memory, the best among equals."""
    choices = [(precision, tile) for precision in _precisions(problem, policy) for tile in tile_choices(problem.task)]
    return min(choices, key=lambda choice: (problem.smallest_peak(*choice), problem.smallest_ram(*choice)))


def _needs(problem: Problem, smallest: tuple[Precision, int]) -> tuple[int, int]:
    """VRAM and RAM that a machine needs for it, including headroom."""
    peak, ram = problem.smallest_peak(*smallest), problem.smallest_ram(*smallest)
    return with_headroom(peak, DEVICE_HEADROOM), with_headroom(ram, _RAM_HEADROOM)


def with_headroom(need: int, divisor: int) -> int:
    """Return the smallest size that leaves `need` after subtracting the headroom."""
    return max(0, (need - 1) * divisor // (divisor - 1) + 1)
