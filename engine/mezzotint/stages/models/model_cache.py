"""What an engine keeps between jobs: models in RAM, and their networks on the device."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch

from mezzotint.checkpoints.weight_file import with_trunks
from mezzotint.families.family import LoadedModel, ModelSources
from mezzotint.memory.blocks import blocks_of
from mezzotint.memory.device import open_device
from mezzotint.memory.host import Source
from mezzotint.memory.pinning import CudaLocker
from mezzotint.memory.residency import Residency
from mezzotint.protocol import DeviceInfo, Dtype, PlannedComponent
from mezzotint.stages.job_plan import JobPlan, stage_identity
from mezzotint.stages.models.loaded_models import LoadedModels, share
from mezzotint.stages.models.placement import Placement, network_key
from mezzotint.stages.models.precision import Schemes, choices_of
from mezzotint.stages.models.recovery import Recovery
from mezzotint.stages.setup import CascadeSetup, StageSetup

_ROOM = 0.5  # of the machine's RAM, for models of this and earlier jobs
_RUN = 2**20  # bytes of slack for the last pages of page-locked runs


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """The models of a job and the form to load them in."""

    setup: CascadeSetup
    device: DeviceInfo
    dtype: Dtype
    schemes: Schemes
    job_plan: JobPlan | None = None


class ModelCache:
    """Caches loaded models and their residency on the device."""

    def __init__(self) -> None:
        self._warm = LoadedModels()
        self._residency: Residency | None = None
        self._terms: tuple[object, ...] = ()

    def models_for(self, wanted: ModelRequest) -> list[LoadedModel]:
        """One LoadedModel per stage, the same for equal models; those of earlier jobs are kept while there is room."""
        models = [self._model_for(stage, wanted) for stage in wanted.setup.stages]
        for model in models:
            model.passes = "batched" if wanted.job_plan is None else wanted.job_plan.plan.guidance
            model.at_once = 0
            model.vae_tile = 0 if wanted.job_plan is None else wanted.job_plan.plan.vae_tile
        self._forget(self._warm.trim(_room(wanted.job_plan), models))
        for other in self._warm.models:
            if other.loras is not None and all(other is not model for model in models):
                other.loras.let_go()  # LoRAs are on the device, whichever model is in use
        for model in models:
            share(model, self._warm.models)
        return models

    def placement(self, models: Sequence[LoadedModel], job_plan: JobPlan | None, recovery: Recovery) -> Placement:
        """The placement of loaded models during a job."""
        free_others = partial(self._free_others, models)
        if job_plan is None:
            return Placement(models, recovery=recovery, free_other_models=free_others)
        residency = self._residency_for(job_plan, models[0].device)
        wanted: dict[str, int] = {}
        for part in job_plan.hottest_first():
            for model in models:
                if model.identity == part.model and part.name in model.networks:
                    _arrange(residency, model, part)
                    wanted[network_key(model, part.name)] = _to_lock(part)
        for model in models:
            for name in model.networks:
                if network_key(model, name) not in residency:
                    _arrange(residency, model, _whole(model, name))
        if models[0].device.type == "cuda":
            residency.lock(wanted, job_plan.machine.pin_bytes, CudaLocker())
        return Placement(
            models, recovery=recovery, residency=residency, plan=job_plan.plan, free_other_models=free_others
        )

    def sources(self, model: LoadedModel, component: str) -> Mapping[str, Source]:
        """The sources of a network's weights by name, except for weights that always stay in it."""
        if self._residency is not None and (key := network_key(model, component)) in self._residency:
            return {weight.name: weight.source for weight in self._residency[key].weights}
        return model.on_disk.get(component, {})

    def _free_others(self, models: Sequence[LoadedModel]) -> None:
        self._forget(self._warm.trim(0, models))

    def drop(self, models: Iterable[LoadedModel]) -> None:
        """Drop models that no longer match their files."""
        self._forget(self._warm.drop(models))

    def close(self) -> None:
        """Release everything."""
        self._warm.clear()
        if self._residency is not None:
            self._residency.clear()
            self._residency.device.close()
        self._residency = None

    def _model_for(self, stage: StageSetup, wanted: ModelRequest) -> LoadedModel:
        stamps, identity = _stamps(stage.sources), stage_identity(stage)
        from_disk = frozenset() if wanted.job_plan is None else wanted.job_plan.on_disk(identity)
        home = None if wanted.job_plan is None else torch.device("cpu")
        where = (wanted.device.id, wanted.dtype, wanted.schemes, home, from_disk)
        make = partial(
            LoadedModel,
            sources=stage.sources,
            device=torch.device(wanted.device.id),
            home=home,
            identity=identity,
            stamps=stamps,
            from_disk=from_disk,
            dtype=getattr(torch, wanted.dtype),
            quantization=choices_of(wanted.schemes, stage.sources, stage.family.denoiser_component),
        )
        return self._warm.take((stage.found.info.path, identity, *where, *stamps.items()), make)

    def _residency_for(self, job_plan: JobPlan, device: torch.device) -> Residency:
        """The residency for the device as the plan sees it; rebuilt if the memory limit changes."""
        machine = job_plan.machine
        cap = machine.vram_bytes - machine.context_bytes
        terms = (str(device), cap)
        if self._residency is None or terms != self._terms:
            if self._residency is not None:
                self._residency.clear()
                self._residency.device.close()
            self._residency, self._terms = (
                Residency(open_device(device, cap=cap, simulated=machine.simulated, reading=not machine.simulated)),
                terms,
            )
        return self._residency

    def _forget(self, gone: Iterable[LoadedModel]) -> None:
        if self._residency is None:
            return
        kept = {network_key(model, name) for model in self._warm.models for name in model.networks}
        for model in gone:
            for name in model.networks:
                if network_key(model, name) not in kept:
                    self._residency.remove(network_key(model, name))


def _arrange(residency: Residency, model: LoadedModel, part: PlannedComponent) -> None:
    """Arrange a network as planned; it stays on the device if it is already arranged so."""
    key, slots = network_key(model, part.name), max(1, part.slots)
    network = model.networks[part.name]
    blocks = blocks_of(network)
    whole = part.resident_blocks >= part.blocks  # plans give no block count for networks that are never streamed
    resident = len(blocks) if whole else min(part.resident_blocks, len(blocks))
    if key not in residency:
        residency.add(key, network, blocks, resident=resident, slots=slots, disk=model.on_disk.get(part.name))
    elif (residency[key].resident, residency[key].slots) != (resident, slots):
        residency.evict({key})  # another plan, or more blocks became resident than planned
        residency[key].arrange(resident, slots)


def _to_lock(part: PlannedComponent) -> int:
    """Bytes of RAM to page-lock: weights are aligned to 64 bytes, and runs of them to whole pages."""
    return part.pinned_bytes + part.pinned_bytes // 64 + _RUN if part.pinned_bytes else 0


def _whole(model: LoadedModel, name: str) -> PlannedComponent:
    """A placeholder entry for a network outside the plan."""
    return PlannedComponent(
        model=model.identity,
        name=name,
        quantization="none",
        bytes=0,
        blocks=0,
        resident_blocks=0,
        slots=1,
        device_bytes=0,
        host="ram",
        phases=(),
    )


def _room(job_plan: JobPlan | None) -> int:
    """Bytes of RAM for the weights of all cached models."""
    if job_plan is not None:
        return int(job_plan.machine.ram_bytes * _ROOM)
    import psutil

    return int(psutil.virtual_memory().total * _ROOM)


def _stamps(sources: ModelSources) -> dict[Path, tuple[tuple[int, int], ...]]:
    """Size and mtime of each file and of those it builds on, so that weights of a replaced file are not reused."""
    files = {path for source in sources.components.values() for path in source.files}
    files |= {source.patch.file for source in sources.components.values() if source.patch is not None}
    stats = {path: [each.stat() for each in with_trunks([path])] for path in files}
    return {path: tuple((stat.st_size, stat.st_mtime_ns) for stat in each) for path, each in stats.items()}
