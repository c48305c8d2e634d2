"""Finished images made again with something changed: variations, another model, or a random seed and new settings."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from mezzotint.protocol import Cascade, GenerateRequest, ImageMetadata, ModelInfo, ModelRef, Sampling, Stage
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.viewmodel.create.create import CreateModel
from mezzotint_app.viewmodel.create.seed_choice import DRAWN_BELOW
from mezzotint_app.viewmodel.dropped.settings_text import request_of

VARIATIONS = 4
STRENGTH = 0.15


class ImagesAgain(QObject):
    """Reads the metadata of each image, and queues what follows from it."""

    message = Signal(str)
    loaded = Signal()  # the Create page shows the settings of an image

    def __init__(
        self,
        create: CreateModel,
        librarian: Service,
        parent: QObject | None = None,
        *,
        draw: Callable[[int], int] = random.randrange,
    ) -> None:
        super().__init__(parent)
        self._create, self._librarian, self._draw = create, librarian, draw

    def models(self) -> tuple[ModelInfo, ...]:
        """The models that can generate images by themselves."""
        models = self._create.models
        return tuple(one for one in models.all() if models.problem_of(one) is None)

    def vary(self, paths: Sequence[str]) -> None:
        """Queue variations of each image: the start noise of its seed, moved a little towards that of random ones."""

        def queue(request: GenerateRequest) -> None:
            wanted = [varied(request, self._draw(DRAWN_BELOW)) for _ in range(VARIATIONS)]
            self._queue(wanted, self.tr("%n variations are waiting in the queue", "", VARIATIONS))

        for path in paths:
            self._with_request(path, queue)

    def with_model(self, paths: Sequence[str], info: ModelInfo) -> None:
        """Queue each image again, with the same seed and another model."""

        def queue(request: GenerateRequest) -> None:
            made_by = request.cascade.stages[0].model if request.cascade.stages else None
            before = None if made_by is None else self._create.models.find(made_by.id)
            family = "" if before is None else before.family
            self._queue([with_model(request, info, family)], self.tr("Waiting in the queue: {0}").format(info.id))

        for path in paths:
            self._with_request(path, queue)

    def remix(self, path: str) -> None:
        """Fill in the Create page with all settings of an image, but with random seeds."""

        def load(metadata: ImageMetadata) -> None:
            if metadata.request is None and not metadata.prompt:
                self.message.emit(self.tr("This image has no generation metadata"))
                return
            self._create.apply_metadata(metadata, "all")
            self._create.seed.fix(False)
            self.loaded.emit()

        self._read(path, load)

    def _with_request(self, path: str, then: Callable[[GenerateRequest], None]) -> None:
        def read(metadata: ImageMetadata) -> None:
            request = request_of(metadata)
            if request.seed is None or not (metadata.request or metadata.prompt):
                self.message.emit(self.tr("This image has no seed in its metadata, so it cannot be made again"))
                return
            if metadata.request is None:
                request = _of_own_model(request, self._create.request())
            then(request)

        self._read(path, read)

    def _read(self, path: str, then: Callable[[ImageMetadata], None]) -> None:
        self._librarian.ask("metadata", {"path": path}, answer=ImageMetadata, then=then, failed=self._failed)

    def _queue(self, requests: Sequence[GenerateRequest], message: str) -> None:
        self._create.make_again(requests, lambda: self.message.emit(message))

    def _failed(self, failure: Failure) -> None:
        self.message.emit(failure.message)


def varied(request: GenerateRequest, seed: int, strength: float = STRENGTH) -> GenerateRequest:
    """The request with its first stage's start noise moved towards that of another seed."""
    first, *others = request.cascade.stages or (Stage(),)
    sampling = replace(first.sampling, variation_seed=seed, variation_strength=strength)
    cascade = replace(request.cascade, stages=(replace(first, sampling=sampling), *others))
    return replace(request, cascade=cascade, count=1)


def with_model(request: GenerateRequest, info: ModelInfo, family: str) -> GenerateRequest:
    """The request for another model than that of a family; what belongs to the old one is left to the new one.

    Hires passes stay, refiners go; LoRAs, embeddings and control images stay within a family.
    """
    stages = request.cascade.stages or (Stage(),)
    alike = info.family == family
    kept = [stages[0]]
    transitions = []
    for stage, transition in zip(stages[1:], request.cascade.transitions, strict=False):
        if transition.refines or transition.strength is None:
            break
        kept.append(stage)
        transitions.append(transition)
    made = tuple(_stage_with(stage, info, alike=alike, first=index == 0) for index, stage in enumerate(kept))
    own = {} if alike else {"loras": (), "embeddings": (), "controls": ()}
    return replace(
        request,
        cascade=Cascade(stages=made, transitions=tuple(transitions)),
        quantization="auto",
        text_quantization="auto",
        vae_tile=None,
        dtype="auto",
        count=1,
        **own,  # type: ignore[arg-type]
    )


def _stage_with(stage: Stage, info: ModelInfo, *, alike: bool, first: bool) -> Stage:
    how = stage.sampling
    sampling = replace(how, prediction_type=None, zero_terminal_snr=None, guidance_rescale=None)
    if not alike:
        sampling = Sampling(variation_seed=how.variation_seed, variation_strength=how.variation_strength)
    size = (stage.width, stage.height) if first else (None, None)
    return Stage(
        model=ModelRef(id=info.id) if first else None,
        width=size[0],
        height=size[1],
        sampling=sampling,
        loras=stage.loras if alike else None,
    )


def _of_own_model(request: GenerateRequest, own: GenerateRequest) -> GenerateRequest:
    """The request of another program's image, for the model of the page."""
    first = request.cascade.stages[0]
    return replace(request, cascade=Cascade(stages=(replace(first, model=own.cascade.stages[0].model),)))
