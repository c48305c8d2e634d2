"""The planning problem, with cached layouts, Pareto frontiers, activations and limits."""

import itertools
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from mezzotint.memory.footprints.footprint import Scheme
from mezzotint.memory.machine.calibration import Calibration
from mezzotint.memory.machine.facts import MachineFacts
from mezzotint.memory.machine.speeds import scheme_speed
from mezzotint.memory.planning.costs import CopyRates, Layout, largest_block, layouts, pass_seconds, total_bytes
from mezzotint.memory.planning.page_locks import Moving, allotted
from mezzotint.memory.planning.phases import NetworkUse, Work, activations, guidance_modes, network_uses, phase_names
from mezzotint.memory.planning.task import Task
from mezzotint.memory_protocol import HostTier
from mezzotint.protocol import GuidancePasses

MARGIN = 128 * 2**20  # bytes for small uncounted allocations
_MARGIN_SIMULATED = 2**20
_TIERS: tuple[HostTier, ...] = ("ram", "disk")


@dataclass(frozen=True, slots=True)
class Precision:
    """Quantization schemes of denoisers and text encoders."""

    denoiser: Scheme
    text: Scheme

    def of(self, part: NetworkUse) -> Scheme:
        """Return the scheme of one network; autoencoders are never quantized."""
        roles: dict[str, Scheme] = {"denoiser": self.denoiser, "text": self.text}
        return roles.get(part.component.role, "none")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits in bytes."""

    vram: int
    ram: int
    pinned: int


@dataclass(frozen=True, slots=True)
class HostTiers:
    """Host tiers of text encoders and other networks, and how much of each network is page-locked."""

    text: HostTier
    others: HostTier
    locked: Mapping[str, int] = field(default_factory=dict)  # bytes by network key

    def of(self, part: NetworkUse) -> HostTier:
        """Return the tier of one network."""
        return self.text if part.component.role == "text" else self.others


@dataclass(frozen=True, slots=True)
class Frontier:
    """Pareto frontier of layouts, in order of increasing device memory and decreasing time."""

    bytes: tuple[int, ...]
    seconds: tuple[float, ...]
    layouts: tuple[Layout, ...]

    def within(self, room: int) -> int:
        """Return the index of the fastest layout within `room` bytes; -1 if none."""
        return bisect_right(self.bytes, room) - 1


class Problem:
    """A task on a machine."""

    def __init__(self, task: Task, machine: MachineFacts, calibration: Calibration) -> None:
        self.task, self.machine, self.calibration = task, machine, calibration
        self.guidance_modes = guidance_modes(task)
        self.leanest: GuidancePasses = "sequential" if "sequential" in self.guidance_modes else "batched"
        self._parts: dict[tuple[GuidancePasses, int], tuple[NetworkUse, ...]] = {}
        self._activations: dict[tuple[GuidancePasses, int], tuple[int, ...]] = {}
        self._layouts: dict[tuple[str, Scheme], tuple[Layout, ...]] = {}
        self._totals: dict[tuple[str, Scheme], int] = {}
        self._frontiers: dict[tuple[object, ...], Frontier] = {}

    @cached_property
    def phases(self) -> tuple[str, ...]:
        """Names of the phases."""
        return phase_names(self.task)

    @cached_property
    def fixed_bytes(self) -> int:
        """Bytes used on the device in every phase: context and margin."""
        return self.machine.context_bytes + (_MARGIN_SIMULATED if self.machine.one_memory else MARGIN)

    def parts(self, guidance: GuidancePasses, tile: int) -> tuple[NetworkUse, ...]:
        """Return the networks and their passes."""
        key = (guidance, tile)
        if key not in self._parts:
            self._parts[key] = network_uses(self.task, guidance, tile)
        return self._parts[key]

    def activations(self, guidance: GuidancePasses, tile: int) -> tuple[int, ...]:
        """Return the activation bytes of each phase."""
        key = (guidance, tile)
        if key not in self._activations:
            self._activations[key] = activations(self.task, guidance, tile, self.calibration)
        return self._activations[key]

    def layouts(self, part: NetworkUse, scheme: Scheme) -> tuple[Layout, ...]:
        """Return all layouts of a network; the first is fully resident."""
        key = (part.key, scheme)
        if key not in self._layouts:
            self._layouts[key] = layouts(part.component, scheme, self.task.dtype)
        return self._layouts[key]

    def total(self, part: NetworkUse, scheme: Scheme) -> int:
        """Return the bytes of a network's weights."""
        key = (part.key, scheme)
        if key not in self._totals:
            self._totals[key] = total_bytes(part.component, scheme, self.task.dtype)
        return self._totals[key]

    def frontier(self, part: NetworkUse, scheme: Scheme, hosts: HostTiers, arrivals: int) -> Frontier:
        """Return the Pareto frontier for a network that arrives on the device this often."""
        key = (part.key, part.works, scheme, self.copy_rates(part, hosts), arrivals)
        if key not in self._frontiers:
            timed = [(each, self.seconds(part, scheme, each, hosts, arrivals)) for each in self.layouts(part, scheme)]
            self._frontiers[key] = _frontier(timed)
        return self._frontiers[key]

    def seconds(self, part: NetworkUse, scheme: Scheme, layout: Layout, hosts: HostTiers, arrivals: int) -> float:
        """Return the time of all passes of a network, including its arrivals on the device."""
        copy_rates, seconds = self.copy_rates(part, hosts), 0.0
        for work in part.works:
            computing = self.computing(part, scheme, work)
            seconds += arrivals * pass_seconds(layout, computing, copy_rates, arriving=True)
            seconds += max(0, work.passes - arrivals) * pass_seconds(layout, computing, copy_rates)
            arrivals = 0  # counted in the first phase in which it works
        return seconds

    def computing(self, part: NetworkUse, scheme: Scheme, work: Work) -> float:
        """Seconds of one pass with all weights resident, bound by products, reading weights or launching kernels."""
        machine = self.machine
        denoiser = part.component.role == "denoiser"
        speedup = scheme_speed(scheme, machine.int8_speedup, machine.architecture) if denoiser else 1.0
        products = work.operations / (machine.speed * speedup)
        starting = len(part.component.blocks) * machine.launch_seconds
        factor = self.calibration.time_factor(part.model.family, part.component.role, scheme)
        return factor * max(products, self.total(part, scheme) / machine.bandwidth, starting)

    def resident_seconds(self, part: NetworkUse, scheme: Scheme) -> float:
        """Seconds of all passes with all weights resident."""
        return sum(work.passes * self.computing(part, scheme, work) for work in part.works)

    def rate(self, tier: HostTier) -> float:
        """Copy rate of weights that are not page-locked, in bytes per second."""
        pageable = min(self.machine.pageable_rate, self.machine.copy_rate)
        return pageable if tier == "ram" else min(self.machine.disk_rate, pageable)

    def copy_rates(self, part: NetworkUse, hosts: HostTiers) -> CopyRates:
        """Return the copy rates of a network."""
        return CopyRates(self.rate(hosts.of(part)), hosts.locked.get(part.key, 0), self.machine.copy_rate)

    def host_bytes(self, precision: Precision, hosts: HostTiers) -> int:
        """Bytes of RAM, without the memory of a simulated or integrated device."""
        parts = self.parts("batched", 0)
        kept = sum(self.total(part, precision.of(part)) for part in parts if hosts.of(part) != "disk")
        return self.machine.process_bytes + kept + self._staging(precision, hosts)

    def _staging(self, precision: Precision, hosts: HostTiers) -> int:
        """RAM buffers for weights that are read from disk to a GPU."""
        if self.machine.one_memory:
            return 0
        read = [part for part in self.parts("batched", 0) if hosts.of(part) == "disk"]
        return 2 * max((largest_block(p.component, precision.of(p), self.task.dtype) for p in read), default=0)

    def all_hosts(self, precision: Precision, limits: Limits) -> tuple[HostTiers, ...]:
        """Return the host tiers that fit RAM, with page locks; on a discrete GPU only the best of them."""
        fitting = [
            hosts
            for hosts in itertools.starmap(HostTiers, itertools.product(_TIERS, repeat=2))
            if self.host_bytes(precision, hosts) <= limits.ram
        ]
        if not self.machine.one_memory:  # otherwise weights kept in RAM reduce device memory
            fitting = [hosts for hosts in fitting if not any(_is_better(other, hosts) for other in fitting)]
        return tuple(each for hosts in fitting for each in self.with_locks(precision, hosts, limits.pinned))

    def with_locks(self, precision: Precision, hosts: HostTiers, budget: int) -> tuple[HostTiers, ...]:
        """Return variants with page locks up to the budget: text encoders last and, if that differs, first.

        Which weights of a network will be copied is not known yet: either may turn out to need no locks.
        """
        waiting = [part for part in self.parts("batched", 0) if hosts.of(part) == "ram"]
        groups: tuple[list[Moving], list[Moving]] = ([], [])
        for part in waiting:
            moving = Moving(part.key, self.total(part, precision.of(part)), part.passes)
            groups[part.component.role == "text"].append(moving)
        choices = [_allot_in_order(groups, budget), _allot_in_order(groups[::-1], budget)]
        return tuple(replace(hosts, locked=each) for each in choices[: 1 + (choices[0] != choices[1])])

    def vram(self, precision: Precision, hosts: HostTiers, limits: Limits) -> int:
        """Return the device memory left beside weights in RAM."""
        if not self.machine.one_memory:
            return limits.vram
        return min(limits.vram, limits.ram - self.host_bytes(precision, hosts))

    def most_vram(self, limits: Limits) -> int:
        """Return the device memory left if no weights are kept in RAM."""
        return min(limits.vram, limits.ram - self.machine.process_bytes) if self.machine.one_memory else limits.vram

    def smallest_peak(self, precision: Precision, tile: int) -> int:
        """Return the minimum of device memory over all plans."""
        guidance = self.leanest
        weights = [0] * len(self.phases)
        for part in self.parts(guidance, tile):
            least = min(layout.device_bytes for layout in self.layouts(part, precision.of(part)))
            for phase in part.phases:
                weights[phase] += least
        live = self.activations(guidance, tile)
        return self.fixed_bytes + max(map(sum, zip(weights, live, strict=True)))

    def smallest_ram(self, precision: Precision, tile: int) -> int:
        """Return the minimum of RAM over all plans."""
        on_device = self.smallest_peak(precision, tile) if self.machine.one_memory else 0
        return self.host_bytes(precision, self.smallest_hosts(precision)) + on_device

    def smallest_hosts(self, precision: Precision) -> HostTiers:
        """Host tiers with the least RAM: disk, except for networks smaller than the read buffers."""
        hosts = itertools.starmap(HostTiers, itertools.product(("disk", "ram"), repeat=2))
        return min(hosts, key=lambda one: self.host_bytes(precision, one))

    def decoding_peak(self, tile: int) -> int:
        """Return the peak of the decode phase with nothing else on the device."""
        last = len(self.phases) - 1
        parts = [part for part in self.parts("batched", tile) if last in part.phases]
        weights = sum(min(layout.device_bytes for layout in self.layouts(part, "none")) for part in parts)
        return self.fixed_bytes + weights + self.activations(self.guidance_modes[0], tile)[last]


def _allot_in_order(groups: Iterable[list[Moving]], budget: int) -> dict[str, int]:
    """Allot locked bytes, to the first group before the others."""
    locked: dict[str, int] = {}
    for group in groups:
        locked |= allotted(group, budget - sum(locked.values()))
    return locked


def _is_better(one: HostTiers, other: HostTiers) -> bool:
    """Whether no network is on a slower tier, and some are on a faster one."""
    places = [(_TIERS.index(a), _TIERS.index(b)) for a, b in ((one.text, other.text), (one.others, other.others))]
    return any(a < b for a, b in places) and all(a <= b for a, b in places)


def _frontier(timed: list[tuple[Layout, float]]) -> Frontier:
    timed.sort(key=lambda item: (item[0].device_bytes, item[1]))
    kept: list[tuple[Layout, float]] = []
    for layout, seconds in timed:
        if not kept or seconds < kept[-1][1]:
            kept.append((layout, seconds))
    return Frontier(
        tuple(layout.device_bytes for layout, _ in kept),
        tuple(seconds for _, seconds in kept),
        tuple(layout for layout, _ in kept),
    )
