"""The memory plan of a training, before anything is loaded."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from mezzotint import paths
from mezzotint.catalog.catalog import Catalog
from mezzotint.codec import decode
from mezzotint.errors import OutOfMemory
from mezzotint.families.model_sources import sources_of
from mezzotint.jobs.training.preparing import Prepared
from mezzotint.machine import devices
from mezzotint.memory.footprints.shipped import is_shipped, shipped
from mezzotint.memory.machine.calibration import load_calibration
from mezzotint.memory.machine.cards import known_card
from mezzotint.memory.machine.facts import MachineFacts
from mezzotint.memory.machine.probe import machine_facts, ordinary_machine, usual_dtype
from mezzotint.protocol import ModelRef
from mezzotint.training.planning.known import has_8bit, known_model, model_of
from mezzotint.training.planning.planner import plan_training
from mezzotint.training.planning.task import TrainingTask
from mezzotint.training.presets import usual_preset
from mezzotint.training_protocol import BaseQuantization, TrainingLevers, TrainingPlan

_USUAL_SIDE = 1024  # pixels; what public figures are about


def plan_of(prepared: Prepared, machine: MachineFacts | None = None) -> TrainingPlan:
    """The plan for a machine, by default this one with the training's device."""
    settings, model = prepared.request.settings, prepared.model
    task = TrainingTask(
        model=model_of(
            model.sources,
            model_id=model.found.info.id,
            dtype=model.dtype,  # type: ignore[arg-type]
            cache=paths.cache_folder() / "footprints",
        ),
        resolution=prepared.values.resolution,
        rank=prepared.values.rank,
        batch=prepared.values.batch,
        accumulate=settings.accumulate,
        may_split=False,  # a batch is what decides which images are together, also when it is resumed
        checkpointing=settings.checkpointing,
        optimizer=settings.optimizer,
        quantization=settings.quantization,
        averages=settings.ema > 0,
        samples=bool(prepared.request.prompts),
        has_8bit=has_8bit(),
    )
    return plan_training(task, machine or _machine(model.device.id))


def levers_of_settings(prepared: Prepared) -> TrainingLevers:
    """What the settings say, on a CPU, where nothing needs to fit."""
    settings = prepared.request.settings
    return TrainingLevers(
        checkpointing=settings.checkpointing or "none",
        optimizer=settings.optimizer or "adamw",
        quantization=settings.quantization or "none",
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
    machine = _machine_of(vram_bytes, card, ram_bytes)
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


def _machine_of(vram_bytes: int | None, card: str | None, ram_bytes: int | None) -> MachineFacts:
    if vram_bytes is None:
        return _machine(devices()[0].id)
    ram = ram_bytes or machine_facts("cpu").ram_bytes
    return ordinary_machine(vram_bytes, ram, None if card is None else known_card(card))


def levers_of(record: Mapping[str, Any], planned: TrainingLevers) -> TrainingLevers:
    """What a training goes on with: checkpointing as planned now, and all that changes a number as it began."""
    if "levers" not in record:
        return planned
    begun = decode(TrainingLevers, record["levers"])
    return replace(begun, checkpointing=planned.checkpointing, text_on_cpu=planned.text_on_cpu)


def check_fits(plan: TrainingPlan) -> None:
    """Raise OutOfMemory if the plan does not fit."""
    if not plan.fits:
        raise OutOfMemory(f"this training {plan.summary}; {'; '.join(plan.reasons[-2:])}")


def _machine(device: str) -> MachineFacts:
    facts = machine_facts(device)
    return machine_facts(device, calibration=load_calibration(paths.cache_folder(), facts.device_name))
