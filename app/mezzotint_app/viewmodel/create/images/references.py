"""Reference images of the Create page: an ordered list, for models that edit or combine images by an instruction."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage

from mezzotint.protocol import GenerateRequest, ImageInput
from mezzotint_app.background import Executor
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.viewmodel.create.images.own_images import OwnImage, keep, pasted_folder
from mezzotint_app.viewmodel.pixels import LoadedImage, PixelLoader

MOST_REFERENCES = 16  # in the list; models take fewer
_SMALL = 256  # pixels of a thumbnail's longer side


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """One reference image."""

    key: int  # stays the same when the list is reordered
    path: str
    sha256: str | None = None  # of the file, if the settings of an image named it
    image: LoadedImage | None = None  # None while it is being read, and if it cannot be
    problem: str = ""

    @property
    def is_loading(self) -> bool:
        """Whether it is still being read."""
        return self.image is None and not self.problem


class ReferencesModel(QObject):
    """The list, its thumbnails, and the images of a request that it stands for."""

    changed = Signal()
    added = Signal()  # images were added by the user
    message = Signal(str)  # what failed

    def __init__(self, librarian: Service, pool: Executor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = pool
        self._loader = PixelLoader(librarian, pool, self)
        self._items: tuple[Reference, ...] = ()
        self._keys = 0

    def items(self) -> tuple[Reference, ...]:
        """All reference images, in order."""
        return self._items

    def problem(self) -> str:
        """Why the first unusable image cannot be used; empty if all can."""
        return next((one.problem for one in self._items if one.problem), "")

    def sizes(self) -> tuple[tuple[int, int], ...]:
        """Width and height in pixels of those that have been read."""
        return tuple((one.image.width, one.image.height) for one in self._items if one.image is not None)

    # ---- edits

    def add(self, paths: Iterable[str | os.PathLike[str]]) -> None:
        """Append images, each once."""
        known = {one.path for one in self._items}
        new = [path for path in dict.fromkeys(os.fspath(path) for path in paths) if path not in known]
        room = MOST_REFERENCES - len(self._items)
        if len(new) > room:
            message = self.tr("{count} reference images are too many: only the first {most} are used.")
            self.message.emit(message.format(count=len(self._items) + len(new), most=MOST_REFERENCES))
        self._append((path, None) for path in new[:room])

    def set(self, paths: Iterable[str | os.PathLike[str]]) -> None:
        """Replace the list."""
        self._items = ()
        self._loader.drop_all()
        self.add(paths)

    def paste(self, image: QImage) -> None:
        """Append an image from the clipboard, which is saved in the state folder first."""
        if image.isNull():
            self.message.emit(self.tr("There is no image on the clipboard."))
            return

        def use(kept: OwnImage) -> None:
            if len(self._items) < MOST_REFERENCES and kept.path not in {one.path for one in self._items}:
                self._append([(kept.path, kept.sha256)])

        self._pool.run(lambda: keep(image, pasted_folder()), use, lambda error: self.message.emit(str(error)))

    def remove(self, place: int) -> None:
        """Remove the image at a place."""
        self._change(self._items[:place] + self._items[place + 1 :])

    def move(self, place: int, to: int) -> None:
        """Move an image to another place; places outside the list change nothing."""
        if place != to and 0 <= place < len(self._items) and 0 <= to < len(self._items):
            order = list(self._items)
            order.insert(to, order.pop(place))
            self._change(tuple(order))

    def clear(self) -> None:
        """Remove all images."""
        if self._items:
            self._loader.drop_all()
            self._change(())

    def retry(self) -> None:
        """Read again what could not be read: the library service has been restarted."""
        failed = [one for one in self._items if one.problem]
        for one in failed:
            self._put(replace(one, problem=""))
            self._load(one)
        if failed:
            self.changed.emit()

    # ---- the request

    def inputs(self) -> tuple[ImageInput, ...]:
        """The images as a request names them."""
        return tuple(ImageInput(path=one.path, role="reference", sha256=one.sha256) for one in self._items)

    def apply(self, request: GenerateRequest) -> None:
        """Take the reference images of a request."""
        found = [(one.path, one.sha256) for one in request.images if one.role == "reference"]
        if not found and not self._items:
            return
        self._items = ()
        self._loader.drop_all()
        self._append(found[:MOST_REFERENCES])

    # ---- inside

    def _append(self, files: Iterable[tuple[str, str | None]]) -> None:
        new = []
        for path, sha256 in files:
            self._keys += 1
            new.append(Reference(key=self._keys, path=path, sha256=sha256))
        self._change(self._items + tuple(new))
        for one in new:
            self._load(one)
        if new:
            self.added.emit()

    def _load(self, one: Reference) -> None:
        def loaded(image: LoadedImage) -> None:
            self._put(replace(one, image=image, problem=""))
            self.changed.emit()

        def failed(failure: Failure) -> None:
            self._put(replace(one, problem=f"{Path(one.path).name}: {failure.message}"))
            self.changed.emit()

        self._loader.load_image(one.path, _SMALL, loaded, failed, slot=str(one.key))

    def _put(self, new: Reference) -> None:
        self._items = tuple(new if one.key == new.key else one for one in self._items)

    def _change(self, items: tuple[Reference, ...]) -> None:
        if items != self._items:
            self._items = items
            self.changed.emit()
