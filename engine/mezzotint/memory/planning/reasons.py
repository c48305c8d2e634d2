"""Explain a plan in plain sentences."""

from collections.abc import Iterator, Sequence

from mezzotint.checkpoints.plain_text import size, size_at_least
from mezzotint.memory.planning.costs import total_bytes
from mezzotint.memory.planning.phases import seen_positions, tiled
from mezzotint.memory.planning.problem import Precision, Problem
from mezzotint.memory.planning.search import Solution
from mezzotint.protocol import Plan

_WORTH_TELLING = 1.0  # seconds
_CLOSE = 0.005  # fraction of the time below which plans count as equally fast


def reasons_of(problem: Problem, solution: Solution, plan: Plan, *, capacity_fits: bool) -> tuple[str, ...]:
    """Explain the plan, or what is missing if it does not fit."""
    if plan.fits:
        told = [_sentence(problem, solution, plan), *_details(problem, solution, plan), *_savings(problem)]
    else:
        told = list(_refusal(problem, plan, capacity_fits=capacity_fits))
    return (*told, *_certainty(problem, solution), *problem.machine.notes)


def _sentence(problem: Problem, solution: Solution, plan: Plan) -> str:
    need, have = size(everything(problem)), size(plan.vram_bytes)
    moving = any(placed.arrivals for placed in solution.placed)
    begun = f"needs {need} with everything loaded; you have {have}"
    denoisers = [p.part.component.name for p in solution.placed if p.part.component.role == "denoiser"]
    choices = list(_choices(problem, plan, denoisers))
    if not choices:
        return (
            f"{begun}: models are swapped in and out{_slower(plan)}" if moving else f"{begun}: everything stays loaded"
        )
    return f"{begun}: will use {', '.join(choices)}{_slower(plan)}"


def _choices(problem: Problem, plan: Plan, denoisers: Sequence[str]) -> Iterator[str]:
    if plan.quantization != "none":
        yield f"{plan.quantization} for {_listed(denoisers)}"
    if plan.text_quantization != "none":
        yield f"{plan.text_quantization} for the text encoders"
    for part in plan.components:
        if part.slots:
            yield f"{part.resident_blocks} of {part.blocks} blocks of {part.name} resident"
    if plan.vae_tile:
        yield f"VAE in tiles of {plan.vae_tile}"
    if plan.guidance != problem.guidance_modes[0]:
        yield "guidance in one pass" if plan.guidance == "batched" else "guidance in two passes"


def _listed(names: Sequence[str]) -> str:
    return " and ".join(dict.fromkeys(names))


def _slower(plan: Plan) -> str:
    if plan.seconds_resident <= 0:
        return ""
    more = plan.seconds / plan.seconds_resident - 1
    return ": no slower" if more < _CLOSE else f": about +{more:.0%} time".replace("%", " %")


def _details(problem: Problem, solution: Solution, plan: Plan) -> Iterator[str]:
    peak = max(plan.phases, key=lambda phase: phase.peak_bytes)
    used = f"{size(plan.peak_vram_bytes)}, in the phase {peak.name!r}"
    yield f"the peak is {used}; RAM {size(plan.peak_ram_bytes)}"
    read = [part.name for part in plan.components if part.host == "disk"]
    if read and not problem.machine.one_memory:
        yield f"RAM is too small: {_listed(read)} {'is' if len(set(read)) == 1 else 'are'} read from disk when needed"
    for number, stage in enumerate(problem.task.stages, 1):
        if (count := tiled(stage, stage.tile)[1]) > 1:
            yield f"stage {number} has {count} passes per step, of tiles of {stage.tile}x{stage.tile}, one at a time"
    leaving = [placed.part.component.name for placed in solution.placed if placed.arrivals]
    if leaving:
        yield f"on the device only while needed: {_listed(leaving)}"
    if plan.pinned_bytes:
        yield f"{size(plan.pinned_bytes)} of RAM is page-locked, so that copies overlap with computing"
    if plan.seconds_loading >= _WORTH_TELLING:
        quantizing = {plan.quantization, plan.text_quantization} != {"none"}
        more = ", plus quantizing what is not stored quantized" if quantizing else ""
        yield f"loading takes about {plan.seconds_loading:.0f} s{more}; nothing if the models are already loaded"


def _savings(problem: Problem) -> Iterator[str]:
    """Say what options that trade fidelity for speed save, once for stages alike."""
    stages = problem.task.stages
    told = (each for s in stages for each in s.savings.reasons(s.model.denoiser.work, seen_positions(s)))
    yield from dict.fromkeys(told)


def _certainty(problem: Problem, solution: Solution) -> Iterator[str]:
    """Say which times were measured, and what estimates are based on."""
    machine, known = problem.machine, problem.calibration
    works = [p.part for p in solution.placed if p.part.component.role == "denoiser"]
    measured = all(known.has_timed(p.model.family, "denoiser", solution.precision.of(p)) for p in works)
    if measured and (machine.link_measured or machine.one_memory):
        yield "step times were measured on this device"
    elif measured:
        yield f"step times were measured on this device; copy times are estimates for {machine.expected_of}"
    elif machine.link_measured:
        yield f"copy times were measured on this device; step times are estimates for {machine.architecture}"
    elif machine.expected_of:
        yield f"times are estimates for {machine.expected_of}, not measured"


def _refusal(problem: Problem, plan: Plan, *, capacity_fits: bool) -> Iterator[str]:
    machine = problem.machine
    if capacity_fits:
        yield (
            f"needs at least {size(plan.peak_vram_bytes)} of device memory and {size(plan.peak_ram_bytes)} of RAM; "
            f"only {size(machine.free_vram_bytes)} of {size(plan.vram_bytes)} and "
            f"{size(machine.free_ram_bytes)} of {size(plan.ram_bytes)} are free now: close other programs"
        )
        return
    yield (
        f"does not fit in {size(plan.vram_bytes)} of device memory and {size(plan.ram_bytes)} of RAM; "
        f"needs at least {size_at_least(plan.smallest_vram_bytes)} and {size_at_least(plan.smallest_ram_bytes)}"
    )
    if plan.memory != "lowest":
        yield "a smaller size or --memory lowest needs less"


def everything(problem: Problem) -> int:
    """Peak memory in 16 bits with all networks resident and no tiling."""
    full = Precision("none", "none")
    parts = problem.parts("batched", 0)
    weights = sum(total_bytes(part.component, full.of(part), problem.task.dtype) for part in parts)
    return problem.fixed_bytes + weights + max(problem.activations(problem.guidance_modes[0], 0))
