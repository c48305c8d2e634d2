"""The memory plan of a job: made before anything is loaded, compared with measurements afterwards."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Protocol, cast

import torch

from mezzotint import paths
from mezzotint.checkpoints.plain_text import size_at_least
from mezzotint.checkpoints.weight_file import with_trunks
from mezzotint.errors import OutOfMemory
from mezzotint.families.footprints import footprint_of
from mezzotint.gpu import gpu
from mezzotint.memory.footprints.footprint import ModelFootprint
from mezzotint.memory.machine.calibration import Calibration, exact_calibration, load_calibration, store_calibration
from mezzotint.memory.machine.facts import MachineFacts
from mezzotint.memory.machine.probe import measured_rates, sample_file
from mezzotint.memory.machine.rates import measured_disk, measured_link
from mezzotint.memory.machine.step_times import learned_steps
from mezzotint.memory.planning.batching import largest_batch
from mezzotint.memory.planning.denoise_tiles import first_possible, with_tiles
from mezzotint.memory.planning.phases import network_uses
from mezzotint.memory.planning.problem import Problem
from mezzotint.memory.planning.savings import Savings
from mezzotint.memory.planning.task import DType, StageTask, Task
from mezzotint.protocol import DeviceInfo, Dtype, FileUsed, GenerateRequest, PhaseMemory, Plan, PlannedComponent
from mezzotint.stages.controls import with_further
from mezzotint.stages.images.enlarged import upscaling_bytes
from mezzotint.stages.setup import CascadeSetup, StageSetup

_ROOM = 0.7  # of free RAM: a model that needs no more is loaded without a plan


class Facts(Protocol):
    """Probes the machine."""

    def __call__(
        self, device: str, *, vram_limit: int | None, ram_limit: int | None, calibration: Calibration | None = None
    ) -> MachineFacts:
        """Total and currently free memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPlan:
    """A plan and the inputs it was computed from."""

    plan: Plan
    task: Task
    machine: MachineFacts
    calibration: Calibration
    choice: int = 0  # which of the setups is planned

    @property
    def together(self) -> int:
        """Number of images denoised at once."""
        return min(stage.batch for stage in self.task.stages)

    @property
    def is_tight(self) -> bool:
        """Whether the plan streams, tiles or quantizes anything."""
        found = self.plan
        whole = all(part.resident_blocks >= part.blocks for part in found.components)
        return not whole or found.vae_tile > 0 or found.quantization != "none"

    @property
    def clipped(self) -> tuple[str, ...]:
        """Notes about limits above the memory that exists."""
        return tuple(note for note in self.machine.notes if note.startswith("the limit of"))

    def on_disk(self, model: str) -> frozenset[str]:
        """The components of a model whose weights stay in their files."""
        return frozenset(part.name for part in self.plan.components if part.model == model and part.host == "disk")

    def hottest_first(self) -> tuple[PlannedComponent, ...]:
        """The components, those that run most often in the job first."""
        parts = network_uses(self.task, self.plan.guidance, self.plan.vae_tile)
        passes = {(part.model.id, part.component.name): part.passes for part in parts}
        return tuple(sorted(self.plan.components, key=lambda part: -passes.get((part.model, part.name), 0)))

    def learn(
        self, measured: Sequence[PhaseMemory], folder: Path, steps: Mapping[int, Sequence[float]] = MappingProxyType({})
    ) -> None:
        """Store the measurements of this job for later plans on this device; `steps`: seconds by stage from 0."""
        if self.machine.simulated:
            return
        calibration, device = self.calibration, gpu(self.machine.device)
        if device is not None and device.measures:
            calibration = self._with_peaks(calibration, measured)
        for stage, seconds in steps.items():
            calibration = learned_steps(Problem(self.task, self.machine, calibration), self.plan, stage + 1, seconds)
        if calibration != self.calibration:
            store_calibration(folder, self.machine.device_name, calibration)

    def _with_peaks(self, calibration: Calibration, measured: Sequence[PhaseMemory]) -> Calibration:
        planned = {phase.name: phase for phase in self.plan.phases}
        for number, stage in enumerate(self.task.stages, 1):
            found = next((each for each in measured if each.name == f"stage {number}"), None)
            if found is not None:
                phase, network = planned[found.name], stage.model.denoiser
                factor = calibration.factor(stage.model.family, network.role, network.class_name)
                calibration = calibration.learned(
                    stage.model.family,
                    network.role,
                    live_bytes=phase.activation_bytes / factor,
                    measured_bytes=found.measured_bytes - phase.weights_bytes,
                    held_bytes=None if found.held_bytes is None else found.held_bytes - phase.weights_bytes,
                )
        return calibration


def plan_job(
    request: GenerateRequest,
    setups: Sequence[CascadeSetup],
    steps: Sequence[int],
    device: DeviceInfo,
    dtype: Dtype,
    *,
    facts: Facts,
    on_trace: Callable[[str, float], None],
    together: int = 1,
    guests: int = 0,
) -> JobPlan | None:
    """Return the plan, or None if everything fits and is best loaded directly where it runs.

    `setups`: the same but for the size of tiles; the first that the machine has memory for is planned. `together`: how
    many images to denoise at once if memory allows; `guests`: bytes for networks that run beside the decoder.
    Raises OutOfMemory, with the numbers, if no plan fits.
    """
    limits, setup = (request.vram_limit_bytes, request.ram_limit_bytes), setups[0]
    machine = facts(device.id, vram_limit=limits[0], ram_limit=limits[1])
    if (
        machine.one_memory
        and limits == (None, None)
        and _has_room(setup, machine, copies=2 if _has_loras(request, setup) else 1)
    ):
        return None
    calibration = load_calibration(paths.cache_folder(), machine.device_name)
    if not machine.one_memory:
        calibration = _with_rates(calibration, machine, setup)
        machine = facts(device.id, vram_limit=limits[0], ram_limit=limits[1], calibration=calibration)
    task = _task(request, setup, steps, dtype, on_trace, guests)
    if machine.simulated:
        calibration = exact_calibration(stage.model.family for stage in task.stages)
    tasks = [with_tiles(task, [stage.tile for stage in each.stages]) for each in setups]
    choice = first_possible(tasks, machine, calibration, request.memory)
    task, found = largest_batch(tasks[choice], machine, calibration, request.memory, together)
    _check(found)
    return JobPlan(plan=found, task=task, machine=machine, calibration=calibration, choice=choice)


def _with_rates(calibration: Calibration, machine: MachineFacts, setup: CascadeSetup) -> Calibration:
    """Add this card's and disk's transfer rates, measured the first time a device is seen."""
    sample = sample_file(_files(setup))
    known = measured_rates(
        calibration, lambda: measured_link(machine.device), lambda: None if sample is None else measured_disk(sample)
    )
    if known != calibration:
        store_calibration(paths.cache_folder(), machine.device_name, known)
    return known


def _has_room(setup: CascadeSetup, machine: MachineFacts, *, copies: int) -> bool:
    """Whether all weights fit well into free RAM, within this process's and its device's limits."""
    weights = copies * sum(path.stat().st_size for path in _files(setup))
    return weights <= _ROOM * min(machine.free_ram_bytes - machine.process_bytes, machine.free_vram_bytes)


def _has_loras(request: GenerateRequest, setup: CascadeSetup) -> bool:
    """Whether LoRAs are used, which are merged into copies of the weights."""
    asked = bool(request.loras) or any(stage.loras for stage in request.cascade.stages)
    return asked or any(control.lora is not None for stage in setup.stages for control in stage.controls)


def _files(setup: CascadeSetup) -> set[Path]:
    """All weight files, and those that they build on."""
    files = {path for stage in setup.stages for part in stage.sources.components.values() for path in part.files}
    return set(with_trunks(files))


def _task(
    request: GenerateRequest,
    setup: CascadeSetup,
    steps: Sequence[int],
    dtype: Dtype,
    on_trace: Callable[[str, float], None],
    guests: int,
) -> Task:
    known: dict[str, ModelFootprint] = {}
    stages = []
    for stage, count in zip(setup.stages, steps, strict=True):
        identity = stage_identity(stage)
        if identity not in known:
            cache = paths.cache_folder() / "footprints"
            known[identity] = footprint_of(stage.sources, model_id=identity, cache=cache, on_progress=on_trace)
        scales = stage.sampling.guidance_scale, stage.sampling.true_cfg_scale
        guided = stage.family.has_halves(stage.sources, *scales)
        task = StageTask(
            model=known[identity],
            width=stage.width,
            height=stage.height,
            steps=count,
            guided=guided,
            references=stage.references,
            savings=Savings(
                family=stage.family.name,
                tokens=stage.sampling.tokens,
                sparse_attention=stage.sampling.sparse_attention,
                deep_shrink=stage.sampling.deep_shrink,
                step_cache=stage.sampling.step_cache,
            ),
            tile=stage.tile,
            latent_channels=stage.sources.latent_channels,
        )
        stages.append(with_further(task, stage.sources, stage.controls, len(stage.regions)))
    return Task(
        stages=tuple(stages),
        count=request.count,
        quantization=request.quantization,
        text_quantization=request.text_quantization,
        dtype=cast(DType, dtype),  # resolved by now
        vae_tile=request.vae_tile,
        upscaling=max(guests, upscaling_bytes(_upscalers(setup), getattr(torch, dtype))),
    )


def _upscalers(setup: CascadeSetup) -> list[FileUsed]:
    found = (setup.init_upscaler, *(transition.upscaler_file for transition in setup.transitions))
    return [file for file in found if file is not None]


def stage_identity(stage: StageSetup) -> str:
    """Identifies a model together with the weights it has in a stage."""
    checkpoint = stage.found.checkpoint
    weights = [] if stage.weights is None else [stage.weights.name]
    parts = ["/".join(checkpoint.parts[name].parts[-2:]) for name in sorted(checkpoint.chosen)]
    patches = [source.patch for source in stage.sources.components.values() if source.patch is not None]
    parts += [f"{patch.file.name} ({patch.scale:g})" for patch in patches]
    return " with ".join((stage.found.info.id, *weights, *parts))


def _check(found: Plan) -> None:
    if found.fits:
        return
    reason = found.reasons[0].partition(";")[0] if found.reasons else "no plan fits"
    raise OutOfMemory(
        f"{reason}; the minimum is {size_at_least(found.smallest_vram_bytes)} of device memory with "
        f"{size_at_least(found.smallest_ram_bytes)} of RAM: make a smaller image, or raise the limits"
    )
