"""What a file says about its training, so that the training can be repeated: `mezzotint train --from FILE`.

Of the dataset, only the folder's name, the number of images and a hash over their contents and captions; of the model,
only the name, unless the catalog lists it.
"""

import json
from dataclasses import dataclass, replace
from pathlib import Path

from mezzotint import __version__
from mezzotint.checkpoints.header import read_header
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.strict_json import parse_json_object
from mezzotint.codec import decode, encode
from mezzotint.errors import ProtocolError, UsageError
from mezzotint.jobs.training.preparing import Prepared
from mezzotint.request_protocol import ModelRef
from mezzotint.training.dataset.reading import read_dataset
from mezzotint.training_protocol import TrainingLevers, TrainingRequest, TrainingSettings

ENTRY = "mezzotint.training"  # of the file's metadata


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A training, without places of files."""

    version: str  # of this program
    model: str
    is_listed: bool  # whether the model's name is one that the catalog finds
    trigger: str
    word: str
    dataset: str  # the folder's name
    images: int
    fingerprint: str  # of the dataset
    settings: TrainingSettings  # with every value that the model's preset decides

    def request(self, dataset: str, model: str | None, output: Path) -> TrainingRequest:
        """The same training of a dataset; raises UsageError if the model must be given."""
        if model is None and not self.is_listed:
            raise UsageError(
                f"the training was of a model in a file or folder, {plain(self.model, 100)}: give it by -m"
            )
        return TrainingRequest(
            dataset=dataset,
            model=ModelRef(id=model or self.model),
            name=output.name.removesuffix(".safetensors"),
            output=str(output.parent),
            trigger=self.trigger,
            word=self.word,
            settings=self.settings,
        )

    def is_of(self, dataset: str) -> bool:
        """Whether images and captions of a folder are those of the training."""
        return read_dataset(Path(dataset), cancelled=lambda: False).fingerprint == self.fingerprint


def model_name(prepared: Prepared) -> str:
    """The model's name, without the folder where it is."""
    info = prepared.model.found.info
    return Path(info.path).name if info.source == "path" else info.id


def recipe_text(prepared: Prepared, request: TrainingRequest, levers: TrainingLevers) -> str:
    """The entry for a file of this training."""
    recipe = Recipe(
        version=__version__,
        model=model_name(prepared),
        is_listed=prepared.model.found.info.source != "path",
        trigger=request.trigger,
        word=request.word,
        dataset=Path(request.dataset).name,
        images=len(prepared.dataset.images),
        fingerprint=prepared.dataset.fingerprint,
        settings=replace(_resolved(prepared), optimizer=levers.optimizer, quantization=levers.quantization),
    )
    return json.dumps(encode(recipe), sort_keys=True)


def read_recipe(path: Path) -> Recipe:
    """Read a file's entry; raises UsageError if it has none, or one of another version of this program."""
    text = read_header(path).metadata.get(ENTRY)
    if text is None:
        raise UsageError(f"{plain(path, 300)} does not say how it was trained: it was not written by `mezzotint train`")
    try:
        return decode(Recipe, parse_json_object(text.encode("utf-8", "replace"), path))
    except ProtocolError as error:
        raise UsageError(
            f"{plain(path, 300)} says how it was trained in another way than this version: {plain(error)}"
        ) from error


def _resolved(prepared: Prepared) -> TrainingSettings:
    settings, values = prepared.request.settings, prepared.values
    settings = replace(
        settings,
        steps=values.steps,
        rate=values.rate,
        batch=values.batch,
        resolution=values.resolution,
        levels=values.levels,
        weighting=values.weighting,
        regularization=values.regularization,
        dtype=prepared.model.dtype,  # type: ignore[arg-type]
        device="auto",
    )
    if settings.kind == "embedding":
        return settings
    text_rate = values.text_rate if settings.text_encoders else None
    alpha = None if values.alpha == values.rank else values.alpha  # which another rank given beside --from then is, too
    return replace(settings, rank=values.rank, alpha=alpha, text_rate=text_rate)
