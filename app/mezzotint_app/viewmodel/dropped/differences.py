"""An image's generation metadata compared with the current settings."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QObject, Signal

from mezzotint.protocol import GenerateRequest, ImageMetadata, ModelDefaults, ModelInfo
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.viewmodel.dropped.described_request import PROMPT, metadata_setting_texts, setting_texts
from mezzotint_app.viewmodel.models import nearest_model

What = Literal["all", "prompt", "seed"]
State = Literal["reading", "read", "failed"]

NOTE = "note"  # key in `other` describing what could not be read


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A setting that differs in the image; both texts may be long, and `there` is untrusted."""

    key: str
    name: str
    now: str
    there: str


def differences(
    now: GenerateRequest, metadata: ImageMetadata, own: ModelDefaults | None = None
) -> tuple[Difference, ...]:
    """Return the settings recorded in the image that differ from `now`; `own`: the current model's defaults."""
    present = {one.key: one for one in setting_texts(now, own)}
    return tuple(
        Difference(key=one.key, name=one.name, now=present[one.key].value, there=one.value)
        for one in metadata_setting_texts(metadata)
        if not one.is_same(present[one.key])
    )


class DifferencesModel(QObject):
    """Reads an image's metadata through the library service and compares them with the current settings."""

    changed = Signal()
    apply_wanted = Signal(object, str)  # ImageMetadata, What
    use_as_input = Signal(str)  # path of the image

    def __init__(
        self,
        librarian: Service,
        now: Callable[[], GenerateRequest],
        models: Callable[[], Sequence[ModelInfo]],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._librarian, self._now, self._models = librarian, now, models
        self._path = ""
        self._state: State = "reading"
        self._metadata: ImageMetadata | None = None
        self._problem = ""
        self._found: tuple[Difference, ...] = ()
        self._missing = ""
        self._nearest: ModelInfo | None = None

    def set_current(self, path: str) -> None:
        """Read this image's metadata; pending replies for other images are dropped."""
        self._path, self._state = path, "reading"
        self._metadata, self._problem, self._found = None, "", ()
        self._missing, self._nearest = "", None
        self.changed.emit()
        self._librarian.ask(
            "metadata",
            {"path": path},
            answer=ImageMetadata,
            then=lambda metadata: self._read(path, metadata),
            failed=lambda failure: self._failed(path, failure),
        )

    def path(self) -> str:
        """Return the image's path."""
        return self._path

    def state(self) -> State:
        """Return the state of reading."""
        return self._state

    def metadata(self) -> ImageMetadata | None:
        """Return the image's metadata, or None."""
        return self._metadata

    def problem(self) -> str:
        """Return why it could not be read."""
        return self._problem

    def found(self) -> tuple[Difference, ...]:
        """Return the differences."""
        return self._found

    def missing_model(self) -> str:
        """Return the image's model if it is not installed, otherwise ""."""
        return self._missing

    def nearest(self) -> ModelInfo | None:
        """Return the installed model with the name most similar to the missing one's, or None."""
        return self._nearest

    def note(self) -> str:
        """Return what could not be read from the metadata, or ""."""
        return self._metadata.other.get(NOTE, "") if self._metadata is not None else ""

    def says_anything(self) -> bool:
        """Whether there is anything to apply besides the size."""
        if self._metadata is None:
            return False
        size_alone = {"size"}
        return self._metadata.request is not None or any(
            one.key not in size_alone for one in metadata_setting_texts(self._metadata)
        )

    def says_prompt(self) -> bool:
        """Whether the prompt is recorded."""
        return self._metadata is not None and any(one.key == PROMPT for one in metadata_setting_texts(self._metadata))

    def says_seed(self) -> bool:
        """Whether the seed is recorded."""
        metadata = self._metadata
        if metadata is None:
            return False
        return (metadata.request.seed if metadata.request is not None else metadata.seed) is not None

    def apply(self, what: What, *, with_nearest: bool = False) -> None:
        """Request applying the metadata; `with_nearest` replaces a missing model with the nearest one."""
        if self._metadata is None:
            return
        metadata = self._metadata
        if with_nearest and self._nearest is not None:
            metadata = nearest_model.with_model(metadata, self._nearest.id)
        self.apply_wanted.emit(metadata, what)

    def use_image(self) -> None:
        """Request using the image as init image."""
        self.use_as_input.emit(self._path)

    def _read(self, path: str, metadata: ImageMetadata) -> None:
        if path != self._path:
            return
        self._metadata, self._state = metadata, "read"
        name, models, now = nearest_model.name_in(metadata), self._models(), self._now()
        self._found = differences(now, metadata, _defaults(now, models))
        if name and models and not nearest_model.is_here(name, models):
            self._missing, self._nearest = name, nearest_model.nearest(name, models)
        self.changed.emit()

    def _failed(self, path: str, failure: Failure) -> None:
        if path == self._path:
            self._problem, self._state = failure.message, "failed"
            self.changed.emit()


def _defaults(request: GenerateRequest, models: Sequence[ModelInfo]) -> ModelDefaults | None:
    """Return the defaults of the request's model, or None if it is not installed."""
    stages = request.cascade.stages
    wanted = stages[0].model.id if stages and stages[0].model is not None else None
    return next((one.defaults for one in models if wanted is not None and wanted in (one.id, one.path)), None)
