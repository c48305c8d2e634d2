"""What a training is made of, before any weights are read: model, dataset, settings, regularization images."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mezzotint import machine
from mezzotint.catalog.catalog import Catalog, FoundModel
from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import UsageError
from mezzotint.families.family import Family, ModelSources
from mezzotint.families.known import family_of
from mezzotint.families.lora.dialects import DIALECTS
from mezzotint.families.model_sources import sources_of
from mezzotint.jobs.training.data import Feed, Geometry
from mezzotint.protocol import DeviceInfo, IsCancelled, ModelRef
from mezzotint.training.adapters.building import check_adapter, trains_text
from mezzotint.training.dataset.captions import CaptionOptions
from mezzotint.training.dataset.checking import DatasetReport, check
from mezzotint.training.dataset.prompts import read_prompts
from mezzotint.training.dataset.reading import read_dataset
from mezzotint.training.dataset.records import Dataset, TrainingImage
from mezzotint.training.distributed import ALONE, Processes
from mezzotint.training.presets import Resolved, distilling, preset_of, resolved
from mezzotint.training.sharding import check_sharding
from mezzotint.training_protocol import Preparing, TrainingEvent, TrainingRequest, TrainingSettings

OnEvent = Callable[[TrainingEvent], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedModel:
    """The model of a training, found and resolved."""

    found: FoundModel
    sources: ModelSources
    family: Family
    device: DeviceInfo
    dtype: str  # float32, bfloat16, float16

    @property
    def side(self) -> int:
        """Pixels of its usual image."""
        return usual_side(self.found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Everything that decides a training."""

    request: TrainingRequest
    model: TrainedModel
    dataset: Dataset
    report: DatasetReport
    values: Resolved
    geometry: Geometry
    captions: CaptionOptions

    @property
    def held(self) -> tuple[TrainingImage, ...]:
        """The images kept aside for validation: always the same ones."""
        own = [each for each in self.dataset.images if not each.regularization]
        count = round(len(own) * self.request.settings.validation)
        return tuple(sorted(own, key=lambda each: each.content)[:count])

    def feed(self, regularization: Sequence[TrainingImage]) -> Feed:
        """The batches, with these regularization images."""
        held = {each.path for each in self.held}
        own = [each for each in self.dataset.images if each.path not in held]
        settings = self.request.settings
        return Feed(
            [*own, *regularization],
            self.geometry,
            batch=self.values.batch,
            captions=self.captions,
            flip=settings.flip,
            seed=settings.seed,
        )


def prepare(
    request: TrainingRequest,
    catalog: Catalog,
    on_event: OnEvent,
    cancelled: IsCancelled,
    processes: Processes = ALONE,
) -> Prepared:
    """Read and check everything; raises UsageError for what cannot be trained, with all errors of the dataset."""
    _check_name(request)
    model = model_of(request, catalog, processes)
    preset = preset_of(model.sources)
    check_adapter(request, model.family)
    _check_levers(request.settings)
    if request.settings.kind == "embedding":
        request = replace(request, trigger=request.name)
    if request.settings.distill:
        preset = distilling(preset, model.sources, request.settings)
        dataset = read_prompts(Path(request.dataset), request.settings.resolution or model.side)
    else:
        dataset = read_dataset(
            Path(request.dataset),
            cancelled=cancelled,
            on_images=lambda done, total: on_event(Preparing(phase="dataset", done=done, total=total)),
        )
    own = sum(not each.regularization for each in dataset.images)
    settings, count = request.settings, max(processes.count, len(request.settings.devices))
    values = resolved(settings, preset, images=own, side=model.side, processes=count)
    check_sharding(
        settings.shard,
        count,
        batch=values.batch,
        optimizer=settings.optimizer or "adamw",
        dtype=model.dtype,
        quantized=settings.quantization not in (None, "none"),
        trains_text=trains_text(settings),
    )
    multiple = multiple_of(model.family, model.sources)
    report = check(dataset, resolution=values.resolution, multiple=multiple)
    if not report.is_trainable:
        reasons = [problem.message for problem in report.problems if problem.severity == "error"]
        raise UsageError(f"{plain(request.dataset, 300)}: {'; '.join(reasons[:3])}")
    return Prepared(
        request=request,
        model=model,
        dataset=dataset,
        report=report,
        values=values,
        geometry=Geometry(resolution=values.resolution, multiple=multiple, factor=model.sources.vae_factor),
        captions=CaptionOptions(
            trigger=request.trigger,
            prefix=settings.prefix,
            shuffle=settings.shuffle,
            keep_tokens=settings.keep_tokens,
            dropout=settings.caption_dropout,
        ),
    )


def _check_levers(settings: TrainingSettings) -> None:
    """Raise UsageError for ways to save memory that exclude each other."""
    wanted = {"--stream-blocks": settings.stream_blocks, "--offload-activations": settings.offload_activations}
    for option in (option for option, value in wanted.items() if value):
        if settings.checkpointing not in (None, "blocks", "sqrt"):
            raise UsageError(
                f"{option} needs checkpointing by whole blocks, not {settings.checkpointing}: use --checkpointing "
                "blocks or sqrt, or leave it open"
            )
    if settings.stream_blocks and settings.shard == "parameters":
        raise UsageError("--shard parameters splits the frozen network already: leave --stream-blocks out")


def _check_name(request: TrainingRequest) -> None:
    if not request.name or Path(request.name).name != request.name or request.name.startswith("."):
        raise UsageError(f"the name is {plain(request.name, 80)!r}; it must be a file name without folders")


def trainable(ref: ModelRef, catalog: Catalog) -> tuple[FoundModel, ModelSources]:
    """Find a model, without a device. Raises UsageError if no LoRA can be written for it."""
    found = catalog.find(ref)
    sources = sources_of(found.checkpoint, found.detected)
    if sources.family not in DIALECTS:
        known = ", ".join(sorted(DIALECTS))
        raise UsageError(f"LoRAs for {sources.family} cannot be written, only for {known}; choose another model")
    return found, sources


def usual_side(found: FoundModel) -> int:
    """Pixels of a model's usual image."""
    usual = found.detected.defaults
    return max(usual.width, usual.height)


def multiple_of(family: Family, sources: ModelSources) -> int:
    """What the sides of a model's images are multiples of."""
    return max(family.multiple(sources), sources.vae_factor)


def device_of(settings: TrainingSettings, processes: Processes) -> DeviceInfo:
    """The device of this process; raises UsageError or NoDevice if there is none for it."""
    available = machine.devices()
    best, place = available[0].id.partition(":")[0], processes.local_rank
    name = settings.device
    if settings.devices:
        if place >= len(settings.devices):
            raise UsageError(f"there are more processes on this machine than devices: {', '.join(settings.devices)}")
        name = settings.devices[place]
    elif name == "auto" and processes.count > 1 and best != "cpu":
        name = str(place)
    return machine.choose_device(f"{best}:{name}" if name.isdecimal() else name, available)


def model_of(request: TrainingRequest, catalog: Catalog, processes: Processes = ALONE) -> TrainedModel:
    """The model of a request, with this process's device; raises UsageError if it cannot be trained, or NoDevice."""
    found, sources = trainable(request.model, catalog)
    device = device_of(request.settings, processes)
    dtype = machine.choose_dtype(request.settings.dtype, device)
    return TrainedModel(
        found=found, sources=sources, family=family_of(found.detected.family), device=device, dtype=dtype
    )


def changed(prepared: Prepared, fingerprint: object) -> bool:
    """Whether the dataset is no longer what a training began with."""
    return fingerprint != prepared.dataset.fingerprint
