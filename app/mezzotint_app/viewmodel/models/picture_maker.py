"""Make the picture of a model or LoRA by one small generation, when the user asks for it."""

from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import uuid4

from PySide6.QtCore import QObject, Signal

from mezzotint.library_protocol import ModelCard
from mezzotint.protocol import GeneratedImage, GenerateRequest
from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.create.create import CreateModel
from mezzotint_app.viewmodel.create.preview import StoppableRunner
from mezzotint_app.viewmodel.create.request import Form, request_of
from mezzotint_app.viewmodel.create.sizes import multiple_of, own_size
from mezzotint_app.viewmodel.create.state import CreateSettings, LoraChoice
from mezzotint_app.viewmodel.models import made_pictures
from mezzotint_app.viewmodel.models.cards import ModelCards
from mezzotint_app.viewmodel.queue.access import QueueAccess

if TYPE_CHECKING:
    from mezzotint.jobs.store import JobStore

_LARGEST = 768  # pixels of a side
_SEED = 1


class PictureMaker(QObject):
    """Queues the generation, and uses its image once it is saved."""

    message = Signal(str)

    def __init__(
        self,
        queue: QueueAccess,
        runner: StoppableRunner,
        cards: ModelCards,
        create: CreateModel,
        settings: Stored[Settings],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._queue, self._cards, self._create, self._settings = queue, cards, create, settings
        self._wanted: dict[str, str] = {}  # the path of a card by that of the image
        runner.saved.connect(self._saved)

    def make(self, card: ModelCard, model: str | None) -> None:
        """Queue an image of a model, or with None of a LoRA, with the model of the Create page, or one that it fits."""
        request = self._request(card, model)
        if request is None:
            return
        path = str(made_pictures.folder() / f"{uuid4().hex}.png")
        self._wanted[path] = card.path
        request = _saved_as(request, path)
        title = self.tr("Thumbnail of {name}").format(name=model or card.name)

        def add(store: "JobStore") -> int:
            return store.add((request,), title=title)

        self._queue.change(add, lambda _entry: self.message.emit(title), lambda error: self.message.emit(str(error)))

    def _request(self, card: ModelCard, model: str | None) -> GenerateRequest | None:
        info = self._create.models.find(model or self._create.chosen.model())
        info = info if model is not None else self._create.models.fitting(card, info)
        problem = self.tr("Choose a model on the Create page first.") if info is None else ""
        if info is not None:
            problem = self._create.models.problem_of(info) or ""
        if problem or info is None:
            self.message.emit(problem)
            return None
        width, height = own_size(info)
        scale, multiple = min(1.0, _LARGEST / max(width, height)), multiple_of(info)
        settings = CreateSettings(
            width=round(width * scale / multiple) * multiple,
            height=round(height * scale / multiple) * multiple,
            loras=() if model is not None else (LoraChoice(path=card.path, weight=card.weight or 1.0),),
        )
        prompt = ", ".join(card.trigger_words) or self._create.prompts.prompt() or card.title or card.name
        return request_of(
            Form(model=info.id, prompt=prompt, settings=settings, seed=_SEED, window=self._settings.value())
        )

    def _saved(self, _task: object, image: GeneratedImage) -> None:
        path = self._wanted.pop(image.path, None)
        if path is not None:
            self._cards.set_picture(path, image.path)


def _saved_as(request: GenerateRequest, path: str) -> GenerateRequest:
    return replace(request, output=replace(request.output, path=path.replace("[", "[[")))
