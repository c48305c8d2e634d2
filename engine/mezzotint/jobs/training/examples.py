"""What a training learns from: a dataset's images, or images that the model itself makes of prompts."""

from collections.abc import Callable
from typing import Protocol

from mezzotint.catalog.catalog import Catalog
from mezzotint.families.family import LoadedModel
from mezzotint.families.samplers import own_prediction
from mezzotint.jobs.training.data import untouched
from mezzotint.jobs.training.encoded import EncodedImages
from mezzotint.jobs.training.folder import RunFolder
from mezzotint.jobs.training.pairs import TeacherPairs
from mezzotint.jobs.training.preparing import Prepared
from mezzotint.jobs.training.regularization import images_in, made_by_the_model
from mezzotint.jobs.training.samples import Sampler
from mezzotint.protocol import IsCancelled
from mezzotint.training.adapters.adapter import Adapter
from mezzotint.training.adapters.building import trains_text
from mezzotint.training.dataset.records import TrainingImage
from mezzotint.training.distributed import Processes
from mezzotint.training.encoding import Encoders
from mezzotint.training.trainer import TrainedImage

_GUIDANCE = 1.0  # of networks that are given the scale
Tell = Callable[[str], Callable[[int, int], None]]  # by phase: done, and all


class Examples(Protocol):
    """Batches of encoded images."""

    def encode(self, encoders: Encoders, sampler: Sampler) -> None:
        """Encode what all batches and the sampler need, before the denoiser is in memory."""

    def begin(self, model: LoadedModel, encoders: Encoders, adapter: Adapter) -> None:
        """Make what needs the denoiser, which is in memory."""

    def batch(self, number: int) -> list[TrainedImage]:
        """The batch of a number, from 0."""

    def held(self) -> list[TrainedImage]:
        """What is kept aside for validation."""


class DatasetExamples:
    """A dataset, and regularization images."""

    def __init__(
        self,
        prepared: Prepared,
        folder: RunFolder,
        catalog: Catalog,
        processes: Processes,
        tell: Tell,
        cancelled: IsCancelled,
    ) -> None:
        self._prepared, self._tell, self._processes = prepared, tell, processes
        self._encoded = EncodedImages(folder.encoded, prepared.geometry, prepared.model.sources)
        self._feed = prepared.feed(self._regularization(folder, catalog, cancelled))
        self._held = [untouched(image) for image in prepared.held]

    def encode(self, encoders: Encoders, sampler: Sampler) -> None:
        """Encode texts, unless that changes with each step, then images."""
        encoded, settings = self._encoded, self._prepared.request.settings
        batches = range(self._prepared.values.steps * settings.accumulate)
        chosen = [each for number in batches for each in self._feed.chosen(number)] + self._held
        texts = [each for each in dict.fromkeys(map(encoded.text, chosen)) if not encoded.has_text(each)]
        if (texts or sampler.prompts) and not trains_text(settings):
            tell = self._tell("captions")
            with encoders.text() as encode_text:
                for done, text in enumerate(texts):
                    encoded.add_text(text, encode_text(*text, _GUIDANCE))
                    tell(done + 1, len(texts))
                sampler.encode()
        distinct = {(each.image.content, each.image.mask_content, each.flipped): each for each in chosen}
        images = [each for each in distinct.values() if not encoded.has_image(each)]
        if images:
            tell = self._tell("images")
            with encoders.vae() as encode_pixels:
                for done, each in enumerate(images):
                    encoded.add_image(each, encode_pixels)
                    tell(done + 1, len(images))

    def begin(self, model: LoadedModel, encoders: Encoders, adapter: Adapter) -> None:  # noqa: ARG002
        """Let captions be encoded in each step if what encodes them is trained."""
        if adapter.changes_text:
            self._encoded.encode_now(lambda text: encoders.encode_now(*text, _GUIDANCE, adapter.words))

    def batch(self, number: int) -> list[TrainedImage]:
        """The batch of a number."""
        return self._encoded.trained(self._feed.chosen(number))

    def held(self) -> list[TrainedImage]:
        """What is kept aside."""
        return self._encoded.trained(self._held)

    def _regularization(self, folder: RunFolder, catalog: Catalog, cancelled: IsCancelled) -> tuple[TrainingImage, ...]:
        if self._processes.is_first:
            tell = self._tell("regularization")
            return made_by_the_model(self._prepared, folder.regularization, catalog, tell, cancelled)
        own = tuple(each for each in self._prepared.dataset.images if each.regularization)
        if own or not self._prepared.values.regularization:
            return own
        return images_in(folder.regularization, cancelled)


class PairExamples:
    """Pairs of noise and the image that the model makes of it."""

    def __init__(
        self, prepared: Prepared, folder: RunFolder, catalog: Catalog, tell: Tell, cancelled: IsCancelled
    ) -> None:
        self._prepared, self._tell, self._cancelled = prepared, tell, cancelled
        prediction = own_prediction(prepared.model.sources.scheduler)
        self._pairs = TeacherPairs(
            folder.encoded,
            prepared.model.family,
            catalog.find,
            prepared.request.model,
            [image.captions[0] for image in prepared.dataset.images],
            side=prepared.geometry.side,
            count=prepared.request.settings.distill,
            renews_noise=prediction != "flow_prediction",
        )

    def encode(self, encoders: Encoders, sampler: Sampler) -> None:
        """Encode the prompts."""
        with encoders.text():
            self._pairs.encode(encoders.model, self._tell("captions"))
            sampler.encode()

    def begin(self, model: LoadedModel, encoders: Encoders, adapter: Adapter) -> None:  # noqa: ARG002
        """Make the pairs, without what is trained."""
        self._pairs.make(model, self._prepared.values.batch, self._tell("pairs"), self._cancelled)

    def batch(self, number: int) -> list[TrainedImage]:
        """The batch of a number."""
        return self._pairs.batch(number, self._prepared.values.batch)

    def held(self) -> list[TrainedImage]:
        """Nothing: what counts is how few steps suffice."""
        return []


def examples_of(
    prepared: Prepared,
    folder: RunFolder,
    catalog: Catalog,
    processes: Processes,
    tell: Tell,
    cancelled: IsCancelled,
) -> Examples:
    """What a training learns from."""
    if prepared.request.settings.distill:
        return PairExamples(prepared, folder, catalog, tell, cancelled)
    return DatasetExamples(prepared, folder, catalog, processes, tell, cancelled)
