"""What a training would see and do, for showing before it starts; knows no device and needs no torch."""

from dataclasses import dataclass
from pathlib import Path

from mezzotint.catalog.catalog import Catalog
from mezzotint.checkpoints.weight_file import weight_header
from mezzotint.errors import MezzotintError
from mezzotint.families.family import ModelSources
from mezzotint.families.known import family_of
from mezzotint.jobs.training.preparing import multiple_of, trainable, usual_side
from mezzotint.protocol import IsCancelled
from mezzotint.training.dataset.buckets import Crop
from mezzotint.training.dataset.checking import DatasetReport, check
from mezzotint.training.dataset.reading import read_dataset
from mezzotint.training.dataset.records import Dataset, TrainingImage
from mezzotint.training.presets import Resolved, preset_of, resolved
from mezzotint.training_protocol import (
    DatasetImage,
    DatasetProblem,
    TrainingCheck,
    TrainingRequest,
    TrainingValues,
)

MOST_IMAGES = 4000  # sent
MOST_PROBLEMS = 500
_USUAL_SIDE, _USUAL_MULTIPLE = 1024, 64  # while no model is chosen
_LONGEST = 400  # characters of a problem
_FLOAT = 4  # bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Model:
    sources: ModelSources
    side: int
    multiple: int


def check_training(request: TrainingRequest, catalog: Catalog, cancelled: IsCancelled) -> TrainingCheck:
    """Check a dataset and settings. A model that cannot be trained is told in the answer, which shows the images.

    Raises StorageError, UsageError for a folder that cannot be read, Cancelled.
    """
    dataset = read_dataset(Path(request.dataset), cancelled=cancelled)
    model, values, problem = _resolved(request, dataset, catalog)
    side = values.resolution if values else request.settings.resolution or _USUAL_SIDE
    report = check(dataset, resolution=side, multiple=model.multiple if model else _USUAL_MULTIPLE)
    problems = [_problem(one.path, one.severity, one.message) for one in report.problems]
    if not report.is_trainable and not problem:
        problem = next((one.message for one in problems if one.severity == "error"), "")
    return TrainingCheck(
        images=_images(dataset, report),
        count=report.images,
        regularization=report.regularization,
        captioned=report.captioned,
        problems=tuple(problems[:MOST_PROBLEMS]),
        values=_values(values) if values and report.is_trainable else None,
        problem=problem,
        disk_bytes=_disk_bytes(request, model, values, report) if model and values else 0,
    )


def _resolved(
    request: TrainingRequest, dataset: Dataset, catalog: Catalog
) -> tuple[_Model | None, Resolved | None, str]:
    """The model and all values, or why it cannot be trained."""
    own = sum(not one.regularization for one in dataset.images)
    model = None
    try:
        found, sources = trainable(request.model, catalog)
        multiple = multiple_of(family_of(found.detected.family), sources)
        model = _Model(sources=sources, side=usual_side(found), multiple=multiple)
        return model, resolved(request.settings, preset_of(sources), images=own, side=model.side), ""
    except MezzotintError as error:
        return model, None, str(error)


def _values(values: Resolved) -> TrainingValues:
    return TrainingValues(
        steps=values.steps,
        rank=values.rank,
        rate=values.rate,
        batch=values.batch,
        resolution=values.resolution,
        regularization=values.regularization,
    )


def _problem(path: Path, severity: str, message: str) -> DatasetProblem:
    return DatasetProblem(
        path=str(path), severity="error" if severity == "error" else "warning", message=message[:_LONGEST]
    )


def _images(dataset: Dataset, report: DatasetReport) -> tuple[DatasetImage, ...]:
    bad = {problem.path for problem in report.problems}
    shown = [_image(image, one.crop) for image, one in zip(dataset.images, report.crops, strict=True)]
    shown.sort(key=lambda one: (Path(one.path) not in bad, one.regularization))
    return tuple(shown[:MOST_IMAGES])


def _image(image: TrainingImage, crop: Crop) -> DatasetImage:
    return DatasetImage(
        path=str(image.path),
        width=image.width,
        height=image.height,
        captions=image.captions,
        box=crop.box,
        used_width=crop.width,
        used_height=crop.height,
        regularization=image.regularization,
    )


def _disk_bytes(request: TrainingRequest, model: _Model, values: Resolved, report: DatasetReport) -> int:
    """The LoRAs of all epochs, the state with both moments of the optimizer, and encoded images."""
    sources = model.sources
    pixels = sum(bucket.images * bucket.width * bucket.height for bucket in report.buckets)
    latents = pixels // sources.vae_factor**2 * sources.latent_channels * _FLOAT
    lora = values.rank * _sides(sources) * _FLOAT
    return lora * (request.settings.epochs + 5) + latents * (2 if request.settings.flip else 1)


def _sides(sources: ModelSources) -> int:
    """Sum of the sides of the denoiser's matrices: what a LoRA of rank 1 has as numbers, at most."""
    denoiser = next(part for name, part in sources.components.items() if name in ("unet", "transformer"))
    files = [path for path in denoiser.files if path.suffix == ".safetensors"]
    shapes = [spec.shape for path in files for spec in weight_header(path).tensors.values()]
    return sum(sum(shape) for shape in shapes if len(shape) == 2)
