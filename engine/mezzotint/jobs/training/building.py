"""The trainer of a prepared training: the denoiser and what is trained beside it, in memory."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from mezzotint import paths
from mezzotint.families.family import LoadedModel
from mezzotint.families.footprints import footprint_of
from mezzotint.families.loading.networks import load_components
from mezzotint.jobs.training.preparing import Prepared
from mezzotint.memory.device import open_device
from mezzotint.memory.machine.probe import machine_facts
from mezzotint.protocol import IsCancelled
from mezzotint.training.adapters.building import build_adapter, trains_text
from mezzotint.training.checkpointing import apply_checkpointing
from mezzotint.training.distillation import Consistency
from mezzotint.training.distributed import Processes
from mezzotint.training.encoding import CPU, Encoders
from mezzotint.training.objective import Objective, objective_of
from mezzotint.training.offloading import offloading
from mezzotint.training.streamed_base import streamed_base
from mezzotint.training.trainer import Rates, Trainer
from mezzotint.training_protocol import TrainingLevers


def build_trainer(
    prepared: Prepared,
    levers: TrainingLevers,
    model: LoadedModel,
    encoders: Encoders,
    on_bytes: Callable[[int, int], None],
    cancelled: IsCancelled,
    processes: Processes,
) -> Trainer:
    """Load the denoiser, and text encoders if captions are encoded in each step; `on_bytes`: done, and all."""
    family, settings = prepared.model.family, prepared.request.settings
    splits = settings.shard == "parameters"  # from RAM, by blocks: the whole may not fit on the device
    place = replace(model, device=CPU) if splits else model
    place = replace(place, home=CPU) if levers.stream_blocks else place  # quantized on the device, kept in RAM
    load_denoiser(place, family.denoiser_component, on_bytes, cancelled)
    if trains_text(settings):
        encoders.load_text()
    adapter = build_adapter(model, family, prepared.request, prepared.values)
    rates = Rates(
        steps=prepared.values.steps,
        peak=prepared.values.rate,
        schedule=settings.schedule,
        optimizer=levers.optimizer,
        ema=settings.ema,
        accumulate=settings.accumulate,
        seed=settings.seed,
        shard=settings.shard,
    )
    return Trainer(family, model, _objective(prepared), adapter, rates, processes)


@contextmanager
def using_levers(prepared: Prepared, levers: TrainingLevers, model: LoadedModel) -> Iterator[None]:
    """Context manager: the denoiser is checkpointed, and its blocks are streamed, as the levers say."""
    network = model.networks[prepared.model.family.denoiser_component]
    with ExitStack() as stack:
        if levers.stream_blocks:
            device = open_device(model.device)
            stack.callback(device.close)
            pin_bytes = machine_facts(prepared.model.device.id).pin_bytes
            blocks = _blocks(prepared)
            stack.enter_context(streamed_base(network, blocks, levers.stream_blocks, device, pin_bytes=pin_bytes))
        saved = offloading(model.device) if levers.offload_activations else None
        stack.callback(apply_checkpointing(network, levers.checkpointing, saved))
        yield


def _blocks(prepared: Prepared) -> list[str]:
    """Names of the denoiser's blocks, in execution order."""
    model, cache = prepared.model, paths.cache_folder() / "footprints"
    footprint = footprint_of(model.sources, model_id=model.found.info.id, cache=cache)
    return [block.name for block in footprint.denoiser.blocks]


def load_denoiser(model: LoadedModel, name: str, on_bytes: Callable[[int, int], None], cancelled: IsCancelled) -> None:
    """Load the frozen denoiser; `on_bytes`: done, and all."""
    total, done = model.sources.components[name].bytes, 0

    def count(_: str, some: int) -> None:
        nonlocal done
        done += some
        on_bytes(min(done, total), total)

    load_components(model, [name], on_bytes=count, cancelled=cancelled, notify=lambda _: None)
    model.networks[name].requires_grad_(False)


def _objective(prepared: Prepared) -> Objective | Consistency:
    values = prepared.values
    objective = objective_of(
        prepared.model.family,
        prepared.model.sources,
        values.resolution,
        values.resolution,
        levels=values.levels,
        weighting=values.weighting,
    )
    is_flow = objective.prediction == "flow_prediction"
    return Consistency(base=objective) if prepared.request.settings.distill and not is_flow else objective
