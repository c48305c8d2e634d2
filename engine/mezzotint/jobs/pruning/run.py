"""Pruning: a smaller copy of a model, without the blocks that it needs least, healed by imitating the original.

Blocks are removed one after another, each time the one without which the output stays nearest to that of the whole
model; then LoRAs on all layers that are left learn to predict what the whole model predicts, and are merged.
"""

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from mezzotint.atomic import atomic_write
from mezzotint.catalog.catalog import Catalog
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.strict_json import read_json_object
from mezzotint.checkpoints.weight_file import with_trunks
from mezzotint.conversion.pruned import PrunedCopy
from mezzotint.errors import Busy, Cancelled, UsageError
from mezzotint.families.family import LoadedModel
from mezzotint.families.loading.networks import empty_network
from mezzotint.families.lora.factors import LoraFactors
from mezzotint.jobs.lease import Held, Lease
from mezzotint.jobs.pruning.choosing import Comparison, RemovedBlock, check_count, choose_blocks
from mezzotint.jobs.pruning.healing import HealingAdapter
from mezzotint.jobs.training.attention import training_attention
from mezzotint.jobs.training.building import load_denoiser
from mezzotint.jobs.training.pairs import TeacherPairs
from mezzotint.jobs.training.preparing import OnEvent, TrainedModel, model_of
from mezzotint.memory.blocks import blocks_of
from mezzotint.protocol import IsCancelled, ModelRef
from mezzotint.training.adapters.networks import NetworkAdapter
from mezzotint.training.checkpointing import apply_checkpointing
from mezzotint.training.dataset.prompts import read_prompts
from mezzotint.training.distillation import Imitation
from mezzotint.training.encoding import Encoders
from mezzotint.training.objective import Objective, objective_of
from mezzotint.training.presets import imitating, preset_of
from mezzotint.training.skipping import SkippableBlocks
from mezzotint.training.trainer import Rates, Trainer
from mezzotint.training_protocol import Preparing, TrainingNotice, TrainingRequest, TrainingSettings, TrainingStep
from mezzotint.trouble import storage_error

SUFFIX = ".pruning"  # of the folder with unfinished work, beside the copy
_SAVE_SECONDS = 120.0
_LARGEST = 2**20  # bytes of a record


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneRequest:
    """A model to prune."""

    model: ModelRef
    prompts: Path  # a text file with a prompt on each line
    output: Path  # folder
    blocks: int  # to remove
    steps: int | None = None  # of healing; None: by the size of the model; 0: none
    images: int = 256  # that the model makes of the prompts
    rank: int | None = None
    rate: float | None = None
    batch: int | None = None
    resolution: int | None = None  # pixels, of a side of the images; None: the model's usual one
    seed: int = 0
    device: str = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneResult:
    """What was made."""

    output: str
    removed: tuple[RemovedBlock, ...]
    healed: float | None  # distance after healing
    steps: int
    parameters: int  # of the denoiser before
    parameters_left: int
    seconds: float


class PruningRun:
    """One pruning; goes on with what an earlier one with the same request has left."""

    def __init__(self, request: PruneRequest, catalog: Catalog, on_event: OnEvent, cancelled: IsCancelled) -> None:
        self._request, self._catalog, self._on_event, self._cancelled = request, catalog, on_event, cancelled
        self._work = request.output.with_name(request.output.name + SUFFIX)
        settings = TrainingSettings(device=request.device)
        asked = TrainingRequest(
            dataset=str(request.prompts), model=request.model, name="pruned", output="", settings=settings
        )
        self._of: TrainedModel = model_of(asked, catalog)
        self._preset = imitating(preset_of(self._of.sources))
        self._prompts = [each.captions[0] for each in read_prompts(request.prompts, self._side).images]

    def run(self) -> PruneResult:
        """Prune to the end. Raises MezzotintError; Cancelled once what is needed to go on is on disk."""
        self._check()
        lease = Lease.acquire(what=f"pruning {self._request.output.name}")
        if isinstance(lease, Held):
            raise Busy(f"the device is in use by {plain(str(lease), 500)}: wait for it, or stop it there")
        with lease:
            return self._run()

    def _check(self) -> None:
        request = self._request
        if request.output.exists():
            raise UsageError(f"{plain(request.output, 300)} exists already; name another place, or remove it first")
        if self._of.family.denoiser_component == "unet":
            raise UsageError(
                f"{self._of.sources.family} has a U-Net, whose blocks all change the number of channels or of pixels: "
                "only transformers, which are lists of equal blocks, can be pruned"
            )
        config = PrunedCopy(sources=self._of.sources, removed=(), output=request.output).config()
        source = self._of.sources.components[self._of.family.denoiser_component]
        check_count(request.blocks, len(blocks_of(empty_network(replace(source, config=config)))))
        key = self._key()
        try:
            self._work.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error("create", self._work, error) from error
        if self._record.is_file() and read_json_object(self._record, _LARGEST).get("key") != key:
            raise UsageError(f"{plain(self._work, 300)} is of another model or other settings: remove it first")
        if not self._record.is_file():
            self._write_record(())

    def _run(self) -> PruneResult:
        started, of, component = time.monotonic(), self._of, self._of.family.denoiser_component
        model, pairs = self._model(), self._pairs()
        with Encoders(of.family, model, self._cancelled).text():
            pairs.encode(model, self._tell("captions"))
        load_denoiser(model, component, self._tell("loading"), self._cancelled)
        network = model.networks[component]
        with training_attention(model, "auto", self._notice):
            pairs.make(model, self._batch, self._tell("pairs"), self._cancelled)
            objective = objective_of(of.family, of.sources, self._side, self._side, levels="uniform", weighting="none")
            compare = Comparison(of.family, model, objective, pairs, self._batch)
            blocks = SkippableBlocks(network, compare.once)
            removed = self._chosen(blocks, compare)
            copy = PrunedCopy(
                sources=of.sources, removed=tuple(each.name for each in removed), output=self._request.output
            )
            copy.config()  # raises before time is spent on what cannot be written
            apply_checkpointing(network, "none" if model.device.type == "cpu" else "blocks")
            adapter = HealingAdapter(model, component, self._rank, blocks, copy.removed, self._request.seed)
            self._heal(adapter, pairs, model, objective)
            with adapter.attached():
                healed = compare.distance() if self._steps else None
        self._write(copy, adapter, component, removed)
        shutil.rmtree(self._work, ignore_errors=True)
        sizes = {name: sum(each.numel() for each in module.parameters()) for name, module in network.named_modules()}
        return PruneResult(
            output=str(self._request.output),
            removed=removed,
            healed=healed,
            steps=self._steps,
            parameters=sizes[""],
            parameters_left=sizes[""] - sum(sizes[name] for name in copy.removed),
            seconds=time.monotonic() - started,
        )

    def _model(self) -> LoadedModel:
        return LoadedModel(
            sources=self._of.sources,
            device=torch.device(self._of.device.id),
            dtype=getattr(torch, self._of.dtype),
            identity=self._of.found.info.id,
            passes="sequential",  # noise levels are given for each image, not for each half
        )

    def _pairs(self) -> TeacherPairs:
        folder = self._work / "pairs"
        folder.mkdir(exist_ok=True)
        find, ref = self._catalog.find, self._request.model
        count = self._request.images
        return TeacherPairs(
            folder, self._of.family, find, ref, self._prompts, side=self._side, count=count, guided=True
        )

    def _chosen(self, blocks: SkippableBlocks, compare: Comparison) -> tuple[RemovedBlock, ...]:
        """The blocks to remove, as an earlier run chose them or as they are chosen now."""
        removed = self._removed
        if not removed:
            tell, wanted = self._tell("blocks"), self._request.blocks
            removed = choose_blocks(blocks, wanted, compare.distance, tell, self._cancelled)
            self._write_record(removed)
        return removed

    def _heal(self, adapter: "HealingAdapter", pairs: TeacherPairs, model: LoadedModel, objective: Objective) -> None:
        rates = Rates(
            steps=max(self._steps, 1),
            peak=self._request.rate or self._preset.rate,
            schedule="cosine",
            optimizer="adamw",
            seed=self._request.seed,
        )
        trainer = Trainer(self._of.family, model, Imitation(base=objective), adapter, rates)
        state, saved = self._work / "state.safetensors", time.monotonic()
        if state.is_file():
            trainer.restore(state)
        while trainer.step < self._steps:
            if (stops := self._cancelled()) or time.monotonic() - saved > _SAVE_SECONDS:
                trainer.save(state, {})
                saved = time.monotonic()
            if stops:
                raise Cancelled(
                    f"stopped after step {trainer.step} of {self._steps}; the same command goes on from there"
                )
            begun = time.monotonic()
            loss = trainer.train_step(lambda number: pairs.batch(number, self._batch))
            self._on_event(
                TrainingStep(
                    step=trainer.step,
                    steps=self._steps,
                    loss=loss,
                    rate=rates.at(trainer.step - 1),
                    seconds=time.monotonic() - begun,
                )
            )

    def _write(
        self, copy: PrunedCopy, adapter: NetworkAdapter, component: str, removed: Sequence[RemovedBlock]
    ) -> None:
        gone = tuple(f"{name}." for name in copy.removed)
        written = {name: layer.written() for name, layer in adapter.layers[component].items()}
        added = {
            name: factors
            for name, factors in written.items()
            if isinstance(factors, LoraFactors) and self._steps and not name.startswith(gone)
        }
        note = {
            "model": self._of.found.info.id,
            "blocks": [each.name for each in removed],
            "steps": self._steps,
            "rank": self._rank,
            "images": self._request.images,
            "seed": self._request.seed,
        }
        copy.write(added, note, on_bytes=lambda _: None, cancelled=self._cancelled)

    # ---- settings, and what is on disk

    @property
    def _steps(self) -> int:
        return (self._preset.steps or 0) if self._request.steps is None else self._request.steps

    @property
    def _rank(self) -> int:
        return self._request.rank or self._preset.rank

    @property
    def _batch(self) -> int:
        return self._request.batch or self._preset.batch

    @property
    def _side(self) -> int:
        return self._request.resolution or self._of.side

    @property
    def _record(self) -> Path:
        return self._work / "pruning.json"

    @property
    def _removed(self) -> tuple[RemovedBlock, ...]:
        kept = read_json_object(self._record, _LARGEST).get("removed", [])
        return tuple(RemovedBlock(name=str(name), distance=float(distance)) for name, distance in kept)  # type: ignore[attr-defined]

    def _write_record(self, removed: Sequence[RemovedBlock]) -> None:
        record = {"key": self._key(), "removed": [[each.name, each.distance] for each in removed]}
        atomic_write(self._record, json.dumps(record, indent=1).encode(), overwrite=True)

    def _key(self) -> str:
        """What the unfinished work depends on."""
        request = replace(self._request, device="", output=Path())
        files = [path for each in self._of.sources.components.values() for path in each.files]
        stamps = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in with_trunks(files)]
        return hashlib.sha256(json.dumps([str(request), stamps, self._prompts]).encode()).hexdigest()

    def _tell(self, phase: str) -> Callable[[int, int], None]:
        return lambda done, total: self._on_event(Preparing(phase=phase, done=done, total=total))  # type: ignore[arg-type]

    def _notice(self, code: str, message: str) -> None:
        self._on_event(TrainingNotice(code=code, message=message))
