"""Convert a solution to the public Plan."""

from collections.abc import Mapping

from mezzotint.memory.machine.speeds import LOCK_RATE
from mezzotint.memory.planning.page_locks import Moving, allotted
from mezzotint.memory.planning.phases import NetworkUse
from mezzotint.memory.planning.problem import Problem
from mezzotint.memory.planning.search import Placed, Solution
from mezzotint.protocol import MemoryPolicy, Plan, PlannedComponent, PlannedPhase


def outlined(problem: Problem, solution: Solution, *, fits: bool, policy: MemoryPolicy) -> Plan:
    """Return the plan, without reasons and smallest requirements."""
    phases = tuple(_phase(problem, solution, index) for index in range(len(problem.phases)))
    peak = max(phase.peak_bytes for phase in phases)
    machine, locked = problem.machine, _locked(problem, solution)
    on_device = peak if machine.one_memory else 0
    return Plan(
        fits=fits,
        memory=policy,
        vram_bytes=machine.vram_bytes,
        ram_bytes=machine.ram_bytes,
        peak_vram_bytes=peak,
        peak_ram_bytes=problem.host_bytes(solution.precision, solution.hosts) + on_device,
        pinned_bytes=sum(locked.values()),
        components=tuple(_component(problem, solution, placed, locked) for placed in solution.placed),
        phases=phases,
        guidance=solution.guidance,
        vae_tile=solution.tile,
        quantization=solution.precision.denoiser,
        text_quantization=solution.precision.text,
        seconds=sum(phase.seconds for phase in phases),
        seconds_loading=_loading(problem, solution, sum(locked.values())),
        seconds_resident=sum(phase.seconds_resident for phase in phases),
        smallest_vram_bytes=0,
        smallest_ram_bytes=0,
        reasons=(),
    )


def _locked(problem: Problem, solution: Solution) -> Mapping[str, int]:
    """Page-locked bytes of each network, allotted first to what is copied most often."""
    moving = []
    for placed in solution.placed:
        if solution.hosts.of(placed.part) == "ram":
            moving.append(Moving(placed.part.key, placed.layout.streamed_bytes, placed.part.passes))
            moving.append(
                Moving(placed.part.key, placed.layout.resident_bytes if placed.arrivals else 0, placed.arrivals)
            )
    return allotted(moving, problem.machine.pin_bytes)


def _loading(problem: Problem, solution: Solution, locked: int) -> float:
    """Seconds of loading before the first phase; arrivals within phases are counted there."""
    read, coming = 0, 0.0
    for placed in solution.placed:
        if solution.hosts.of(placed.part) == "ram":
            read += problem.total(placed.part, solution.precision.of(placed.part))
        if not placed.arrivals:
            coming += problem.copy_rates(placed.part, solution.hosts).seconds(placed.layout.resident_bytes)
    return read / problem.machine.disk_rate + locked / LOCK_RATE + coming


def _component(problem: Problem, solution: Solution, placed: Placed, locked: Mapping[str, int]) -> PlannedComponent:
    part, layout = placed.part, placed.layout
    scheme = solution.precision.of(part)
    return PlannedComponent(
        model=part.model.id,
        name=part.component.name,
        quantization=scheme,
        bytes=problem.total(part, scheme),
        blocks=len(part.component.blocks),
        resident_blocks=layout.resident,
        slots=layout.slots,
        device_bytes=layout.device_bytes,
        host=solution.hosts.of(part),
        phases=tuple(problem.phases[index] for index in placed.present),
        pinned_bytes=locked.get(part.key, 0),
    )


def _phase(problem: Problem, solution: Solution, index: int) -> PlannedPhase:
    weights = sum(placed.layout.device_bytes for placed in solution.placed if index in placed.present)
    live = problem.activations(solution.guidance, solution.tile)[index]
    return PlannedPhase(
        name=problem.phases[index],
        weights_bytes=weights,
        activation_bytes=live,
        peak_bytes=problem.fixed_bytes + weights + live,
        seconds=sum(_seconds(problem, solution, placed, index) for placed in solution.placed),
        seconds_resident=sum(
            _resident_seconds(problem, solution, part, index)
            for part in problem.parts(problem.guidance_modes[0], solution.tile)
        ),
    )


def _seconds(problem: Problem, solution: Solution, placed: Placed, index: int) -> float:
    """Seconds of a network's passes in a phase; its arrivals count in the first phase in which it works."""
    part, scheme = placed.part, solution.precision.of(placed.part)
    if index not in part.phases:
        return 0.0
    arrivals = placed.arrivals if index == part.phases[0] else 0
    here = NetworkUse(part.key, part.model, part.component, tuple(work for work in part.works if work.phase == index))
    return problem.seconds(here, scheme, placed.layout, solution.hosts, arrivals)


def _resident_seconds(problem: Problem, solution: Solution, part: NetworkUse, index: int) -> float:
    scheme = solution.precision.of(part)
    return sum(work.passes * problem.computing(part, scheme, work) for work in part.works if work.phase == index)
