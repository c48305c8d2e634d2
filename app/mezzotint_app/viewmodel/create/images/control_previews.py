"""What is made of control images, shown before it is used and saved if wanted."""

from collections import OrderedDict
from dataclasses import dataclass
from functools import partial
from typing import Literal

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage

from mezzotint.control_protocol import ControlImageMade, ControlImageRequest, Preprocess
from mezzotint_app.background import Executor
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.viewmodel.create.controls import ControlChoice
from mezzotint_app.viewmodel.pixels import PixelLoader

_SIDE = 512  # pixels of what is shown
_KEPT = 16

State = Literal["none", "working", "shown", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPreview:
    """What is known of one."""

    state: State = "none"
    image: QImage | None = None
    problem: str = ""


class ControlPreviews(QObject):
    """Previews by image and by how that is prepared."""

    changed = Signal()
    noticed = Signal(str)

    def __init__(self, librarian: Service, pool: Executor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._librarian = librarian
        self._loader = PixelLoader(librarian, pool, self)
        self._known: OrderedDict[tuple[str, Preprocess], ControlPreview] = OrderedDict()

    def of(self, control: ControlChoice) -> ControlPreview:
        """What is known of a control image as it is prepared now."""
        return self._known.get((control.image, control.preprocess), ControlPreview())

    def make(self, control: ControlChoice) -> None:
        """Make one, anew if there is one already, as its file may have changed."""
        key = control.image, control.preprocess
        if self.of(control).state == "working":
            return
        self._put(key, ControlPreview(state="working"))
        self._librarian.ask(
            "prepare_control",
            ControlImageRequest(path=control.image, preprocess=control.preprocess),
            answer=ControlImageMade,
            then=partial(self._load, key),
            failed=partial(self._fail, key),
        )

    def save(self, control: ControlChoice, path: str) -> None:
        """Save what is made of an image as a PNG; the user has confirmed that a file there is replaced."""
        self._librarian.ask(
            "prepare_control",
            ControlImageRequest(path=control.image, preprocess=control.preprocess, output=path, overwrite=True),
            answer=ControlImageMade,
            then=lambda made: self.noticed.emit(self.tr("Saved as {path}").format(path=made.path)),
            failed=lambda failure: self.noticed.emit(failure.message),
        )

    def _load(self, key: tuple[str, Preprocess], made: ControlImageMade) -> None:
        self._loader.load(made.path, _SIDE, partial(self._show, key), partial(self._fail, key), slot=repr(key))

    def _show(self, key: tuple[str, Preprocess], image: QImage) -> None:
        self._put(key, ControlPreview(state="shown", image=image))

    def _fail(self, key: tuple[str, Preprocess], failure: Failure) -> None:
        self._put(key, ControlPreview(state="failed", problem=failure.message))

    def _put(self, key: tuple[str, Preprocess], preview: ControlPreview) -> None:
        self._known[key] = preview
        self._known.move_to_end(key)
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)
        self.changed.emit()
