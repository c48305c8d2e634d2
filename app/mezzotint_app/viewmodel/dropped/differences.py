"""What an image says of how it was made, beside the present settings."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QObject, Signal

from mezzotint.protocol import GenerateRequest, ImageMetadata, ModelDefaults, ModelInfo
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.viewmodel.dropped.described_request import PROMPT, described, described_metadata
from mezzotint_app.viewmodel.models import nearest_model

What = Literal["all", "prompt", "seed"]
State = Literal["reading", "read", "failed"]

NOTE = "note"  # the entry of `other` that says what could not be read


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A setting that is another in the image; both texts may be long, and one is a stranger's."""

    key: str
    name: str
    now: str
    there: str


def differences(
    now: GenerateRequest, metadata: ImageMetadata, own: ModelDefaults | None = None
) -> tuple[Difference, ...]:
    """Every setting that the image names and that is another now; `own`: the defaults of the present model."""
    present = {one.key: one for one in described(now, own)}
    return tuple(
        Difference(key=one.key, name=one.name, now=present[one.key].value, there=one.value)
        for one in described_metadata(metadata)
        if not one.is_same(present[one.key])
    )


class DifferencesModel(QObject):
    """Reads an image's metadata through the librarian and compares them."""

    changed = Signal()
    apply_wanted = Signal(object, str)  # ImageMetadata, What
    use_as_input = Signal(str)  # the image's path

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

    def look_at(self, path: str) -> None:
        """Read what this image says; the answer for another one is dropped."""
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
        """Of the image."""
        return self._path

    def state(self) -> State:
        """How far it is."""
        return self._state

    def metadata(self) -> ImageMetadata | None:
        """What the image says."""
        return self._metadata

    def problem(self) -> str:
        """Why it could not be read."""
        return self._problem

    def found(self) -> tuple[Difference, ...]:
        """The differences."""
        return self._found

    def missing_model(self) -> str:
        """The model that the image names and that is not here; empty: none."""
        return self._missing

    def nearest(self) -> ModelInfo | None:
        """The model here whose name is most like the missing one's."""
        return self._nearest

    def note(self) -> str:
        """What in the image could not be read, or empty."""
        return self._metadata.other.get(NOTE, "") if self._metadata is not None else ""

    def says_anything(self) -> bool:
        """Whether there is something to apply."""
        if self._metadata is None:
            return False
        size_alone = {"size"}
        return self._metadata.request is not None or any(
            one.key not in size_alone for one in described_metadata(self._metadata)
        )

    def says_prompt(self) -> bool:
        """Whether it names its words."""
        return self._metadata is not None and any(one.key == PROMPT for one in described_metadata(self._metadata))

    def says_seed(self) -> bool:
        """Whether it names its seed."""
        metadata = self._metadata
        if metadata is None:
            return False
        return (metadata.request.seed if metadata.request is not None else metadata.seed) is not None

    def apply(self, what: What, *, with_nearest: bool = False) -> None:
        """Have it taken over; `with_nearest`: with the nearest model in the missing one's place."""
        if self._metadata is None:
            return
        metadata = self._metadata
        if with_nearest and self._nearest is not None:
            metadata = nearest_model.with_model(metadata, self._nearest.id)
        self.apply_wanted.emit(metadata, what)

    def use_image(self) -> None:
        """Have the image itself begun from."""
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
    """Of the model of a request, where it is here."""
    stages = request.cascade.stages
    wanted = stages[0].model.id if stages and stages[0].model is not None else None
    return next((one.defaults for one in models if wanted is not None and wanted in (one.id, one.path)), None)
