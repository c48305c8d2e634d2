"""The models to choose from, and the refiners compatible with each."""

from collections.abc import Iterable

from PySide6.QtCore import QObject, Signal

from mezzotint.library_protocol import ModelCard
from mezzotint.protocol import ModelInfo
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.viewmodel.models.cards import is_for

REFINER = "refiner"
_ALIKE = 2  # maximum ratio of the native image widths of a refiner and its base model


class ModelChoices(QObject):
    """The library service's models as offered on the Create page."""

    changed = Signal()
    failed = Signal(str)

    def __init__(self, librarian: Service, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._librarian = librarian
        self._models: tuple[ModelInfo, ...] = ()
        self._upscalers: tuple[str, ...] = ()
        self._controlnets: tuple[str, ...] = ()
        self._known = False
        self._asking = False
        self._again = False

    def refresh(self) -> None:
        """List the models again; a call during a refresh queues one more."""
        if self._asking:
            self._again = True
            return
        self._asking = True
        self._librarian.ask("models", answer=tuple[ModelInfo, ...], then=self._answered, failed=self._refused)

    def list_networks(self) -> None:
        """List the upscalers and ControlNets again."""

        def upscalers(names: Iterable[str]) -> None:
            self._upscalers = tuple(names)
            self.changed.emit()

        def controlnets(names: Iterable[str]) -> None:
            self._controlnets = tuple(names)
            self.changed.emit()

        for method, found in (("upscalers", upscalers), ("controlnets", controlnets)):
            self._librarian.ask(
                method, answer=tuple[str, ...], then=found, failed=lambda one: self.failed.emit(one.message)
            )

    def upscalers(self) -> tuple[str, ...]:
        """Return the names of the upscalers."""
        return self._upscalers

    def controlnets(self) -> tuple[str, ...]:
        """Return the names of the ControlNets."""
        return self._controlnets

    def use(self, models: Iterable[ModelInfo]) -> None:
        """Use a list that was requested elsewhere, without its hidden models."""
        self._models = tuple(one for one in models if not one.hidden)
        self._known = True
        self.changed.emit()

    def known(self) -> bool:
        """Whether the list has been read; before that, no model counts as missing."""
        return self._known

    def all(self) -> tuple[ModelInfo, ...]:
        """Return all listed models, including unusable ones."""
        return self._models

    def find(self, identity: str) -> ModelInfo | None:
        """Return the model with this id or path, or None."""
        return next((one for one in self._models if identity in (one.id, one.path)), None)

    def named(self, name: str) -> ModelInfo | None:
        """Return the usable model with this file name (as other programs record it, extension optional), or None."""
        wanted = _plain(name)
        return next((one for one in self._models if self.problem_of(one) is None and _plain(one.id) == wanted), None)

    def problem_of(self, info: ModelInfo) -> str | None:
        """Return why the model cannot generate images by itself, or None if it can."""
        if info.problem is not None:
            return info.problem
        if info.variant == REFINER:
            return self.tr("A refiner: it finishes images of another model. Choose it under Refiner.")
        if info.conditional_refiner:
            return self.tr("A conditional refiner: it enlarges images of another model. Choose it under Refine with.")
        return None

    def default(self) -> ModelInfo | None:
        """Return the model to use if none is chosen: a usable bundled one, otherwise any usable one."""
        usable = [one for one in self._models if self.problem_of(one) is None]
        bundled = [one for one in usable if one.source == "bundled"]
        return next(iter(bundled or usable), None)

    def editing(self) -> ModelInfo | None:
        """The first usable model that takes reference images; a bundled one only if there is no other."""
        usable = [one for one in self._models if one.references and self.problem_of(one) is None]
        return next(iter(sorted(usable, key=lambda one: one.source == "bundled")), None)

    def fitting(self, card: ModelCard, info: ModelInfo | None) -> ModelInfo | None:
        """Return the model if a LoRA may be for it, else the first usable one of that kind; the model without one."""
        usable = (one for one in self._models if self.problem_of(one) is None)
        return info if is_for(card, info) else next((one for one in usable if is_for(card, one)), info)

    def refiners_for(self, info: ModelInfo | None) -> tuple[ModelInfo, ...]:
        """Return the usable refiners of the same family with a similar native image size."""
        if info is None:
            return ()
        return tuple(one for one in self._models if one.variant == REFINER and one.problem is None and _fits(one, info))

    def conditional_refiners_for(self, info: ModelInfo | None) -> tuple[ModelInfo, ...]:
        """Return the usable conditional refiners of the same family; the engine compares their latents."""
        usable = (one for one in self._models if one.conditional_refiner and one.problem is None)
        return tuple(one for one in usable if info is not None and one.family == info.family)

    def _answered(self, models: Iterable[ModelInfo]) -> None:
        self._asking = False
        self.use(models)
        self._once_more()

    def _refused(self, failure: Failure) -> None:
        self._asking = False
        self.failed.emit(failure.message)
        self._once_more()

    def _once_more(self) -> None:
        if self._again:
            self._again = False
            self.refresh()


def _fits(refiner: ModelInfo, base: ModelInfo) -> bool:
    if refiner.family != base.family:
        return False
    if refiner.defaults is None or base.defaults is None:
        return True
    small, large = sorted((refiner.defaults.width, base.defaults.width))
    return large <= _ALIKE * small


def _plain(name: str) -> str:
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2].lower()
    for ending in (".safetensors", ".ckpt"):
        last = last.removesuffix(ending)
    return last
