"""Memory plans without a job: how given models would fit a given machine."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mezzotint.control_protocol import ControlImage
from mezzotint.errors import UnknownModel, UsageError
from mezzotint.memory.footprints.footprint import ModelFootprint
from mezzotint.memory.footprints.shipped import is_shipped, shipped, shipped_names
from mezzotint.memory.machine.facts import MachineFacts
from mezzotint.protocol import ModelRef, Plan, PlanRequest, Sampling

if TYPE_CHECKING:
    from mezzotint.catalog import Catalog
    from mezzotint.catalog.catalog import FoundModel
    from mezzotint.families.family import ModelSources
    from mezzotint.memory.machine.calibration import Calibration
    from mezzotint.memory.planning.task import StageTask
    from mezzotint.stages.controls import FittedControls

    MakeCatalog = Callable[[], Catalog]


def planned(request: PlanRequest, make_catalog: "MakeCatalog", notify: Callable[[str], None] = lambda _: None) -> Plan:
    """Return the plan for a request; torch is not needed if models and memory are given by name and number.

    `notify` receives remarks about the machine for the user. Raises UnknownModel or ModelRefused.
    """
    from mezzotint.memory.machine.calibration import Calibration
    from mezzotint.memory.machine.probe import usual_dtype
    from mezzotint.memory.planning.advice import advised
    from mezzotint.memory.planning.denoise_tiles import with_chosen_tiles
    from mezzotint.memory.planning.planner import plan
    from mezzotint.memory.planning.savings import Savings
    from mezzotint.memory.planning.task import task_of

    machine, calibration = _machine(request, notify)
    fitted = _fitted(request, make_catalog()) if request.controls else []
    footprints = [one.footprint for one in fitted] or _footprints(request.models, make_catalog)
    task = task_of(
        footprints,
        width=request.width,
        height=request.height,
        steps=request.steps,
        quantization=request.quantization,
        text_quantization=request.text_quantization,
        dtype=usual_dtype(machine),
        references=_shown(footprints, request.references),
        savings=Savings(
            tokens=request.tokens,
            sparse_attention=request.sparse_attention,
            deep_shrink=request.deep_shrink,
            step_cache=request.step_cache,
        ),
    )
    if fitted:
        task = replace(task, stages=tuple(map(_with_further, task.stages, fitted)))
    known = calibration or Calibration()
    task = with_chosen_tiles(task, request.denoise_tile, machine, known, request.memory)
    made = plan(task, machine, calibration, request.memory)
    if not request.advise:
        return made
    advice = advised(task, request, made, lambda other: plan(other, machine, calibration, request.memory))
    return replace(made, advice=advice)


def _shown(models: Sequence[ModelFootprint], sizes: tuple[tuple[int, int], ...]) -> list[list[tuple[int, int]]]:
    """Sizes of the reference images as each model receives them; raises UsageError if none takes any."""
    if not sizes:
        return [[] for _ in models]
    from mezzotint.families.known import FLOW_FAMILIES

    taking = {family.name: family for family in FLOW_FAMILIES if family.spec.references}
    if not any(model.family in taking for model in models):
        raise UsageError(f"{', '.join(model.id for model in models)} takes no reference images: leave --reference out")
    return [
        [taking[model.family].reference_size(*size, model.width * model.height) for size in sizes]
        if model.family in taking
        else []
        for model in models
    ]


def _machine(request: PlanRequest, notify: Callable[[str], None]) -> "tuple[MachineFacts, Calibration | None]":
    from mezzotint.memory.machine.cards import known_card
    from mezzotint.memory.machine.probe import ordinary_machine

    if request.vram_bytes is None:
        machine, calibration = this_machine(request.ram_bytes)
        if machine.device == "cpu":
            notify("this machine has no GPU: planned for its CPU and RAM (for a card: --vram 8GB)")
        return machine, calibration
    card = None if request.card is None else known_card(request.card)
    return ordinary_machine(request.vram_bytes, request.ram_bytes or this_ram(), card), None


def this_ram() -> int:
    """Bytes of RAM available to a process on this machine."""
    from mezzotint.memory.machine.probe import machine_facts

    return machine_facts("cpu").ram_bytes


def this_machine(ram_limit: int | None) -> "tuple[MachineFacts, Calibration]":
    """This machine with its best device, and that device's calibration."""
    from mezzotint import paths
    from mezzotint.machine import devices
    from mezzotint.memory.machine.calibration import load_calibration
    from mezzotint.memory.machine.probe import machine_facts

    device = devices()[0].id
    calibration = load_calibration(paths.cache_folder(), machine_facts(device).device_name)
    return machine_facts(device, ram_limit=ram_limit, calibration=calibration), calibration


def _footprints(models: tuple[str, ...], make_catalog: "MakeCatalog") -> list[ModelFootprint]:
    """Known model names need no catalog; a model of the catalog is inspected file by file."""
    catalog: Catalog | None = None
    found = []
    for name in models:
        if is_shipped(name):
            found.append(shipped(name))
            continue
        catalog = catalog or make_catalog()
        model = _found(name, catalog)
        found.append(_footprint(_sources(model), model.info.id))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fitted:
    """A model with control networks."""

    footprint: ModelFootprint
    controls: "FittedControls"


def _fitted(request: PlanRequest, catalog: "Catalog") -> list[_Fitted]:
    """The models of the catalog with the control networks that fit; raises UsageError or ModelRefused for others."""
    from mezzotint.stages.controls import ControlFitting

    try:
        controls = [ControlImage().parse(word) for word in request.controls]
    except ValueError as error:
        raise UsageError(f"control: {error}") from None
    fitting = ControlFitting([replace(one, model=catalog.control(one.model)) for one in controls])
    sampling = Sampling(deep_shrink=request.deep_shrink, step_cache=request.step_cache)
    found = []
    for name in request.models:
        model = _found(name, catalog)
        defaults = model.detected.defaults
        size = (request.width or defaults.width, request.height or defaults.height)
        fitted = fitting.fit(_sources(model), model.info.id, sampling, size)
        found.append(_Fitted(footprint=_footprint(fitted.sources, model.info.id), controls=fitted))
    fitting.check_used()
    return found


def _with_further(stage: "StageTask", fitted: _Fitted) -> "StageTask":
    from mezzotint.stages.controls import with_further

    return with_further(stage, fitted.controls.sources, fitted.controls.controls)


def _found(name: str, catalog: "Catalog") -> "FoundModel":
    try:
        return catalog.find(ModelRef(id=name))
    except UnknownModel as error:
        raise UnknownModel(
            f"{error}; models that can be planned without a download: {', '.join(shipped_names())}"
        ) from None


def _sources(model: "FoundModel") -> "ModelSources":
    from mezzotint.families.model_sources import sources_of

    return sources_of(model.checkpoint, model.detected)


def _footprint(sources: "ModelSources", model_id: str) -> ModelFootprint:
    from mezzotint import paths
    from mezzotint.families.footprints import footprint_of

    return footprint_of(sources, model_id=model_id, cache=paths.cache_folder() / "footprints")
