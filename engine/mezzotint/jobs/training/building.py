"""The trainer of a prepared training: the denoiser and what is trained beside it, in memory."""

from collections.abc import Callable
from dataclasses import replace

from mezzotint.families.family import LoadedModel
from mezzotint.families.loading.networks import load_components
from mezzotint.jobs.training.preparing import Prepared
from mezzotint.protocol import IsCancelled
from mezzotint.training.adapters.building import build_adapter, trains_text
from mezzotint.training.checkpointing import apply_checkpointing
from mezzotint.training.consistency import Consistency
from mezzotint.training.distributed import Processes
from mezzotint.training.encoding import CPU, Encoders
from mezzotint.training.objective import Objective, objective_of
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
    _load_denoiser(prepared, model, on_bytes, cancelled)
    apply_checkpointing(model.networks[family.denoiser_component], levers.checkpointing)
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


def _load_denoiser(
    prepared: Prepared, model: LoadedModel, on_bytes: Callable[[int, int], None], cancelled: IsCancelled
) -> None:
    name = prepared.model.family.denoiser_component
    total, done = model.sources.components[name].bytes, 0

    def count(_: str, some: int) -> None:
        nonlocal done
        done += some
        on_bytes(min(done, total), total)

    splits = prepared.request.settings.shard == "parameters"  # from RAM, by blocks: the whole may not fit on the device
    place = replace(model, device=CPU) if splits else model
    load_components(place, [name], on_bytes=count, cancelled=cancelled)
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
