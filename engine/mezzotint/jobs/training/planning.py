"""The memory plan of a training, before anything is loaded."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from mezzotint import paths
from mezzotint.catalog.catalog import Catalog
from mezzotint.codec import decode
from mezzotint.errors import OutOfMemory
from mezzotint.families.model_sources import sources_of
from mezzotint.jobs.training.preparing import Prepared, TrainedModel
from mezzotint.jobs.training.preparing import model_of as trained_model
from mezzotint.machine import devices
from mezzotint.memory.footprints.shipped import is_shipped, shipped
from mezzotint.memory.machine.calibration import load_calibration
from mezzotint.memory.machine.cards import known_card
from mezzotint.memory.machine.facts import MachineFacts
from mezzotint.memory.machine.probe import machine_facts, ordinary_machine, usual_dtype
from mezzotint.protocol import ModelRef
from mezzotint.training.planning.known import has_8bit, known_model, model_of
from mezzotint.training.planning.planner import MODES, plan_training
from mezzotint.training.planning.task import TrainingTask
from mezzotint.training.presets import Resolved, distilling, preset_of, resolved, usual_preset
from mezzotint.training_protocol import BaseQuantization, TrainingLevers, TrainingPlan, TrainingRequest

_USUAL_SIDE = 1024  # pixels; what public figures are about


def plan_of(prepared: Prepared, machine: MachineFacts | None = None) -> TrainingPlan:
    """The plan for a machine, by default this one with the training's device."""
    task = task_of(prepared.request, prepared.model, prepared.values)
    return plan_training(task, machine or machine_of(prepared.model.device.id))


def plan_before(request: TrainingRequest, catalog: Catalog) -> TrainingPlan:
    """The plan of a request, without its images; on a CPU, where nothing is chosen, with what the settings say.

    Raises UsageError for a model that cannot be trained.
    """
    model, settings = trained_model(request, catalog), request.settings
    preset = preset_of(model.sources)
    preset = distilling(preset, model.sources, settings) if settings.distill else preset
    task = task_of(request, model, resolved(settings, preset, images=1, side=model.side))
    if model.device.id == "cpu":
        task = replace(
            task,
            checkpointing=settings.checkpointing or "none",
            optimizer=settings.optimizer or "adamw",
            quantization=settings.quantization or "none",
        )
    return plan_training(task, machine_of(model.device.id))


def task_of(request: TrainingRequest, model: TrainedModel, values: Resolved) -> TrainingTask:
    """A training, as planning sees it."""
    settings = request.settings
    return TrainingTask(
        model=model_of(
            model.sources,
            model_id=model.found.info.id,
            dtype=model.dtype,  # type: ignore[arg-type]
            cache=paths.cache_folder() / "footprints",
        ),
        resolution=values.resolution,
        rank=values.rank,
        batch=values.batch,
        accumulate=settings.accumulate,
        may_split=False,  # a batch is what decides which images are together, also when it is resumed
        checkpointing=settings.checkpointing,
        optimizer=settings.optimizer,
        quantization=settings.quantization,
        offload_activations=settings.offload_activations,
        stream_blocks=0 if settings.shard == "parameters" else settings.stream_blocks,
        averages=settings.ema > 0,
        samples=bool(request.prompts),
        has_8bit=has_8bit(),
    )


def levers_of_settings(prepared: Prepared) -> TrainingLevers:
    """What the settings say, on a CPU, where nothing needs to fit."""
    settings = prepared.request.settings
    needs_blocks = settings.stream_blocks or settings.offload_activations
    return TrainingLevers(
        checkpointing=settings.checkpointing or ("blocks" if needs_blocks else "none"),
        optimizer=settings.optimizer or "adamw",
        quantization=settings.quantization or "none",
        offload_activations=bool(settings.offload_activations),
        stream_blocks=settings.stream_blocks or 0,
        batch=prepared.values.batch,
        accumulate=settings.accumulate,
    )


def plan_for(
    name: str,
    make_catalog: Callable[[], Catalog],
    *,
    resolution: int | None = None,
    quantization: BaseQuantization | None = None,
    vram_bytes: int | None = None,
    card: str | None = None,
    ram_bytes: int | None = None,
) -> TrainingPlan:
    """The plan for a model by name, id or path, with its usual settings, on this machine or a hypothetical one."""
    machine = _hypothetical(vram_bytes, card, ram_bytes)
    dtype = usual_dtype(machine)
    found = known_model(shipped(name), dtype) if is_shipped(name) else None
    if found is None:
        model = make_catalog().find(ModelRef(id=name))
        sources = sources_of(model.checkpoint, model.detected)
        found = model_of(sources, model_id=model.info.id, dtype=dtype, cache=paths.cache_folder() / "footprints")
    footprint = found.footprint
    preset = usual_preset(footprint.family, footprint.denoiser.bytes("none"))
    return plan_training(
        TrainingTask(
            model=found,
            resolution=resolution or min(max(footprint.width, footprint.height), _USUAL_SIDE),
            rank=preset.rank,
            batch=preset.batch,
            quantization=quantization,
        ),
        machine,
    )


def _hypothetical(vram_bytes: int | None, card: str | None, ram_bytes: int | None) -> MachineFacts:
    if vram_bytes is None:
        return machine_of(devices()[0].id)
    ram = ram_bytes or machine_facts("cpu").ram_bytes
    return ordinary_machine(vram_bytes, ram, None if card is None else known_card(card))


def levers_of(record: Mapping[str, Any], planned: TrainingLevers) -> TrainingLevers:
    """What a training goes on with: what it was run with last, and what needs less if that is planned now."""
    if "levers" not in record:
        return planned
    last = decode(TrainingLevers, record["levers"])
    return replace(
        last,
        checkpointing=max(last.checkpointing, planned.checkpointing, key=MODES.index),
        offload_activations=last.offload_activations or planned.offload_activations,
        stream_blocks=max(last.stream_blocks, planned.stream_blocks),
        text_on_cpu=last.text_on_cpu or planned.text_on_cpu,
    )


def check_fits(plan: TrainingPlan) -> None:
    """Raise OutOfMemory if the plan does not fit."""
    if not plan.fits:
        raise OutOfMemory(f"this training {plan.summary}; {'; '.join(plan.reasons[-2:])}")


def machine_of(device: str) -> MachineFacts:
    """What is known of a device and its machine."""
    facts = machine_facts(device)
    return machine_facts(device, calibration=load_calibration(paths.cache_folder(), facts.device_name))
