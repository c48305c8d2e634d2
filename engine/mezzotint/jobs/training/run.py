"""A training: encoding, steps, epochs; paused and resumed from its state, to the bit."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import torch

from mezzotint.catalog.catalog import Catalog
from mezzotint.checkpoints.plain_text import plain
from mezzotint.codec import decode, encode
from mezzotint.errors import Busy, Cancelled, DatasetChanged, UsageError
from mezzotint.families.family import LoadedModel
from mezzotint.families.lora.description import Description
from mezzotint.families.lora.writing import check_output
from mezzotint.jobs.lease import Held, Lease
from mezzotint.jobs.training.attention import training_attention
from mezzotint.jobs.training.building import build_trainer, using_levers
from mezzotint.jobs.training.examples import Examples, examples_of
from mezzotint.jobs.training.folder import RunFolder
from mezzotint.jobs.training.ladder import Ladder
from mezzotint.jobs.training.planning import check_fits, levers_of, levers_of_settings, plan_of
from mezzotint.jobs.training.preparing import OnEvent, Prepared, changed, device_of, prepare
from mezzotint.jobs.training.recipe import ENTRY, model_name, recipe_text
from mezzotint.jobs.training.samples import Sampler
from mezzotint.machine import PeakMemory
from mezzotint.parsed import Parsed
from mezzotint.protocol import Attention, IsCancelled
from mezzotint.quantization.policy import Choice
from mezzotint.training.adapters.adapter import Adapter
from mezzotint.training.distributed import ALONE, Processes
from mezzotint.training.encoding import Encoders
from mezzotint.training.trainer import Trainer
from mezzotint.training_protocol import (
    EpochSaved,
    Preparing,
    TrainingLevers,
    TrainingNotice,
    TrainingRequest,
    TrainingResult,
    TrainingStep,
)

_SAVE_SECONDS = 120.0
_SAMPLE_SEED = 1


class TrainingRun:
    """One training."""

    def __init__(
        self,
        request: TrainingRequest,
        catalog: Catalog,
        on_event: OnEvent,
        cancelled: IsCancelled,
        processes: Processes = ALONE,
    ) -> None:
        self._catalog, self._cancelled, self._processes = catalog, cancelled, processes
        self._on_event: OnEvent = on_event if processes.is_first else lambda _: None
        self._request, self._folder = request, RunFolder.of(request)
        self._lora = Path(request.output) / f"{request.name}.safetensors"
        self._saved: list[EpochSaved] = []
        self._losses: list[float] = []
        self._is_written = False  # the LoRA
        self._finished: int | None = None  # the step at which it was, before this run
        self._prepared: Prepared
        self._ladder: Ladder
        self._planned: int  # steps when it was begun, of which an epoch is a part
        self._started: datetime  # of the first run, so that a resumed one writes the same LoRA

    def run(self, *, resume: bool = False, accept_changes: bool = False) -> TrainingResult:
        """Train to the end. Raises MezzotintError; Cancelled once everything needed to go on is on disk.

        `accept_changes`: go on although the dataset has changed.
        """
        if len(self._request.settings.devices) > 1 and self._processes.count == 1:
            raise UsageError("several devices need a process for each: start it by `mezzotint train` or torchrun")
        with self._processes.joined(torch.device(device_of(self._request.settings, self._processes).id)):
            if self._processes.is_first:
                return self._leased(resume=resume, accept_changes=accept_changes)
            self._processes.wait()  # until the first has prepared everything
            return self._run(resume=resume, accept_changes=accept_changes)

    def _leased(self, *, resume: bool, accept_changes: bool) -> TrainingResult:
        self._finished = self._folder.step_of(self._lora) if resume else None
        self._is_written = self._finished is not None
        if not self._is_written:
            check_output(self._lora)
        lease = Lease.acquire(what=f"training {self._request.name}")
        if isinstance(lease, Held):
            raise Busy(f"the device is in use by {plain(str(lease), 500)}: wait for it, or stop it there")
        with lease:
            return self._run(resume=resume, accept_changes=accept_changes)

    def _run(self, *, resume: bool, accept_changes: bool) -> TrainingResult:
        processes = self._processes
        prepared = prepare(self._request, self._catalog, self._on_event, self._cancelled, processes)
        self._prepared = prepared
        started, peak = time.monotonic(), PeakMemory(torch.device(prepared.model.device.id))
        plan = None if prepared.model.device.id == "cpu" else plan_of(prepared)
        if plan is not None and not self._request.settings.devices:  # the plan is for one
            check_fits(plan)
        levers = self._open(
            levers_of_settings(prepared) if plan is None else plan.levers, resume=resume, accept_changes=accept_changes
        )
        self._ladder = Ladder(prepared, levers, self._folder, self._notice)
        self._say_guesses()
        steps, attention = self._ladder.run(self._attempt, can_retry=processes.count == 1)
        tail = self._losses[-max(1, len(self._losses) // 10) :]
        return TrainingResult(
            lora=str(self._lora),
            folder=str(self._folder.path),
            steps=steps,
            epochs=tuple(self._saved),
            loss=sum(tail) / len(tail),
            attention=attention,
            seconds=time.monotonic() - started,
            peak_vram_bytes=peak.vram_bytes(),
            peak_ram_bytes=peak.ram_bytes(),
            plan=plan,
        )

    def _attempt(self) -> tuple[int, Attention]:
        """Go on to the end with the levers of now; returns the steps, and what attention ran."""
        prepared, processes, ladder, levers = self._prepared, self._processes, self._ladder, self._ladder.levers
        model = self._empty_model(levers)
        sampler = self._sampler(model)
        encoders = Encoders(
            prepared.model.family, model, self._cancelled, text_on_cpu=levers.text_on_cpu, on_phase=ladder.enter
        )
        examples = examples_of(prepared, self._folder, self._catalog, processes, self._tell, self._cancelled)
        if processes.is_first:
            examples.encode(encoders, sampler)
            for line in encoders.cut_captions():
                self._notice("caption_cut", line)
            processes.wait()
        sampler.conditionings = processes.given(sampler.conditionings)
        ladder.enter("network")
        trainer = build_trainer(prepared, levers, model, encoders, self._tell("loading"), self._cancelled, processes)
        with (
            using_levers(prepared, levers, model),
            training_attention(model, self._request.settings.attention, self._notice) as attention,
        ):
            examples.begin(model, encoders, trainer.adapter)
            self._begin(trainer, sampler)
            with ladder.keeping(trainer, lambda: self._save(trainer)):
                self._train(trainer, examples, sampler)
        self._write(trainer, self._lora)
        return trainer.step, attention.ran

    # ---- before the first step

    def _open(self, levers: TrainingLevers, *, resume: bool, accept_changes: bool) -> TrainingLevers:
        """Begin the folder, or read it; returns the levers to begin with."""
        fingerprint = self._prepared.dataset.fingerprint
        if not resume and self._processes.is_first:
            self._started = datetime.now(UTC)
            self._planned = self._prepared.values.steps
            begun = {"dataset": fingerprint, "started": self._started.isoformat(), "steps": self._prepared.values.steps}
            self._folder.create(self._request, begun | {"levers": encode(levers)})
            return levers
        record = self._continued()
        self._folder.paused.unlink(missing_ok=True)
        self._started = datetime.fromisoformat(record["started"])
        if self._processes.is_first and changed(self._prepared, record.get("dataset")):
            if not accept_changes:
                raise DatasetChanged(
                    f"{plain(self._request.dataset, 300)} has changed since this training began; undo that, or go on "
                    "with what is there now by --accept-changes"
                )
            self._folder.change(dataset=fingerprint)
        return levers_of(record, levers)

    def _continued(self) -> dict[str, Any]:
        """The record, with the settings of now; its epochs stay as long as they were planned."""
        request, record = self._folder.read()
        steps = self._prepared.values.steps
        self._planned = int(record.get("planned", record.get("steps", steps)))
        if self._finished is not None and steps <= self._finished:
            raise UsageError(
                f"{plain(self._request.name, 100)} is finished after {self._finished} steps: prolong it by --steps, "
                "with more than that"
            )
        changed_record = record | {"steps": steps, "planned": self._planned}
        if self._processes.is_first and request.settings != self._request.settings:
            self._folder.write(replace(request, settings=self._request.settings), changed_record)
        return record

    def _empty_model(self, levers: TrainingLevers) -> LoadedModel:
        model = self._prepared.model
        quantization = {}
        if levers.quantization != "none":
            quantization = {model.family.denoiser_component: Choice(scheme=levers.quantization)}
        return LoadedModel(
            sources=model.sources,
            device=torch.device(model.device.id),
            dtype=getattr(torch, model.dtype),
            quantization=quantization,
            identity=model.found.info.id,
            vae_tile=levers.vae_tile,
        )

    def _sampler(self, model: LoadedModel) -> Sampler:
        family, request, geometry = self._prepared.model.family, self._request, self._prepared.geometry
        return Sampler(family, model, self._catalog.find, request.model, request.prompts, geometry.side)

    def _begin(self, trainer: Trainer, sampler: Sampler) -> None:
        """Go on from the state, if there is one."""
        self._losses, self._saved = [], []
        if not self._folder.state.exists():
            if self._processes.is_first:
                self._folder.rewind(0)
            self._sample(sampler, 0, trainer.adapter)
            return
        self._losses = [float(each) for each in trainer.restore(self._folder.state)["losses"]]
        if self._processes.is_first:
            self._saved = [epoch for line in self._folder.rewind(trainer.step) if (epoch := _epoch_of(line))]

    # ---- steps

    def _train(self, trainer: Trainer, examples: Examples, sampler: Sampler) -> None:
        steps, saved = trainer.rates.steps, time.monotonic()
        ends = _epoch_ends(steps, self._request.settings.epochs, self._planned)
        is_open = trainer.step in ends and not any(each.step == trainer.step for each in self._saved)
        if self._processes.decided(is_open)[0]:
            self._end_epoch(trainer, examples, sampler)
        while trainer.step < steps:
            is_due = time.monotonic() - saved > _SAVE_SECONDS
            stops, is_due = self._processes.decided(self._cancelled(), is_due)
            if stops or is_due:
                self._save(trainer)
                saved = time.monotonic()
            if stops:
                self._write(trainer, self._folder.paused)
                raise Cancelled(f"paused after step {trainer.step} of {steps}; go on with {self._folder.resuming}")
            begun = time.monotonic()
            rate = trainer.rates.at(trainer.step)
            loss = trainer.train_step(examples.batch)
            self._losses.append(loss)
            seconds = time.monotonic() - begun
            self._on_event(TrainingStep(step=trainer.step, steps=steps, loss=loss, rate=rate, seconds=seconds))
            self._log({"step": trainer.step, "loss": loss, "rate": rate, "seconds": round(seconds, 3)})
            if trainer.step in ends:
                self._save(trainer)
                saved = time.monotonic()
                self._end_epoch(trainer, examples, sampler)

    def _end_epoch(self, trainer: Trainer, examples: Examples, sampler: Sampler) -> None:
        epoch = 1 + sum(each.step < trainer.step for each in self._saved)
        path, batch = self._write(trainer, self._folder.epoch(self._request.name, epoch)), self._prepared.values.batch
        validation = trainer.validation_loss(examples.held, batch) if self._prepared.held else None
        samples: list[Path] = []
        with trainer.adapter.attached(), trainer.averaged(), suppress(Cancelled):  # the state is saved
            samples = self._sample(sampler, epoch, trainer.adapter)
        event = EpochSaved(
            epoch=epoch, step=trainer.step, path=str(path), validation=validation, samples=tuple(map(str, samples))
        )
        self._saved.append(event)
        self._log(encode(event))  # type: ignore[arg-type]
        self._on_event(event)

    def _sample(self, sampler: Sampler, epoch: int, adapter: Adapter) -> list[Path]:
        """Make the sample images of an epoch; 0: of the model without what is trained."""
        if not self._ladder.makes_samples:
            return []
        self._ladder.enter("samples")
        if adapter.changes_text:
            sampler.encode(adapter.words)
        latents = [sampler.make(number, _SAMPLE_SEED, self._stops_alone) for number in range(sampler.prompts)]
        paths = [self._folder.sample(epoch, number) for number in range(len(latents))]
        if latents and self._processes.is_first:
            sampler.save(latents, paths, self._cancelled)
        self._ladder.enter("network")
        return paths

    def _stops_alone(self) -> bool:
        """Whether to stop at once; several processes stop together, before the next step."""
        return self._processes.count == 1 and self._cancelled()

    def _log(self, line: Mapping[str, Any]) -> None:
        if self._processes.is_first:
            self._folder.log(line)

    def _save(self, trainer: Trainer) -> None:
        trainer.save(self._folder.state, {"losses": self._losses})

    def _write(self, trainer: Trainer, path: Path) -> Path:
        """Write what is trained so far."""
        request = self._request
        description = Description(
            title=request.name,
            trigger_phrase=self._prepared.request.trigger,
            date=self._started,
            resolution=(self._prepared.values.resolution,) * 2,
            others={
                "ss_sd_model_name": model_name(self._prepared),
                "ss_steps": str(trainer.step),
                ENTRY: recipe_text(self._prepared, request, self._ladder.levers),
            },
        )
        family = self._prepared.model.sources.family
        with trainer.averaged():
            if self._processes.is_first:
                is_own = path != self._lora or self._is_written
                trainer.adapter.write(path, family, description, overwrite=is_own)
                self._is_written |= path == self._lora
        return path

    def _say_guesses(self) -> None:
        """Say what is only assumed of what the model predicts, which decides what is trained."""
        found = self._prepared.model.found
        detected = found.detected
        guesses = () if detected.prediction_guess is None else (detected.prediction_guess,)
        told = Parsed(None, source=plain(found.info.id, 200), unused=detected.unused, guesses=guesses)
        told.take(partial(self._notice, "model_assumed"))

    def _notice(self, code: str, message: str) -> None:
        self._on_event(TrainingNotice(code=code, message=message))

    def _tell(self, phase: str) -> Callable[[int, int], None]:
        def tell(done: int, total: int) -> None:
            self._on_event(Preparing(phase=phase, done=done, total=total))  # type: ignore[arg-type]

        return tell


def _epoch_of(line: Mapping[str, Any]) -> EpochSaved | None:
    """The epoch that a line of the log is about."""
    if "epoch" not in line:
        return None
    return decode(EpochSaved, line)


def _epoch_ends(steps: int, epochs: int, planned: int) -> list[int]:
    """The steps after which an epoch is saved, at the distances of `epochs` in `planned` steps; the last is the end."""
    ends, number = {steps}, 1
    while (end := max(1, round(planned * number / epochs))) < steps:
        ends.add(end)
        number += 1
    return sorted(ends)
