"""The image viewer: the current image, its prefetched neighbors, and one marked for comparison."""

from collections import OrderedDict
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QImage

from mezzotint.protocol import ImageMetadata
from mezzotint_app.background import Executor
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.viewmodel.dropped.settings_text import settings_text
from mezzotint_app.viewmodel.pixels import PixelLoader

MOST_BYTES = 384 << 20  # of cached images
LARGEST_SIDE = 8192  # pixels; larger images are scaled down
MOST_STARS = 5
_READ_DELAY = 120  # milliseconds on one image before its neighbors and metadata are read

RatingOf = Callable[[str], int]


class ViewerModel(QObject):
    """A list of paths and the current position in it."""

    changed = Signal()  # position, image, metadata or rating
    emptied = Signal()  # no images are left
    star_wanted = Signal(str, int)  # path, stars
    delete_wanted = Signal(str)  # path; `forget` follows after deletion
    undo_wanted = Signal()  # `restore` follows
    copied = Signal(str)  # text for the clipboard
    message = Signal(str)

    def __init__(
        self, librarian: Service, pool: Executor, parent: QObject | None = None, *, rating_of: RatingOf | None = None
    ) -> None:
        super().__init__(parent)
        self._librarian = librarian
        self._loader = PixelLoader(librarian, pool, self)
        self._rating_of = rating_of
        self._paths: list[str] = []
        self._forgotten: dict[str, int] = {}  # former positions of removed paths
        self._index = 0
        self._images: OrderedDict[str, QImage] = OrderedDict()  # least recently used first
        self._problems: dict[str, str] = {}
        self._metadata: dict[str, ImageMetadata] = {}
        self._ratings: dict[str, int] = {}
        self._loading: dict[str, int] = {}
        self._marked = ""
        self._metadata_wanted = False
        self._copies = ""
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(_READ_DELAY)
        self._later.timeout.connect(self.prefetch)

    # ---- position

    def open(self, paths: Sequence[str], index: int) -> None:
        """Open these images at `index`."""
        self._paths = list(paths)
        self._forgotten.clear()
        self._marked = ""
        self._metadata.clear()
        self._ratings.clear()
        self._problems.clear()
        self._go(min(max(index, 0), max(len(self._paths) - 1, 0)))

    def close(self) -> None:
        """Cancel pending reads and clear the cache."""
        self._later.stop()
        self._loader.drop_all()
        self._loading.clear()
        self._images.clear()

    def count(self) -> int:
        """Return the number of images."""
        return len(self._paths)

    def index(self) -> int:
        """Return the index of the current image."""
        return self._index

    def path(self) -> str:
        """Return the path of the current image, or "" if there is none."""
        return self._paths[self._index] if self._paths else ""

    def step(self, by: int) -> None:
        """Move forward or back, up to the ends of the list."""
        self.go_to(self._index + by)

    def go_to(self, index: int) -> None:
        """Go to an index, clamped to the list."""
        index = min(max(index, 0), len(self._paths) - 1)
        if self._paths and index != self._index:
            self._go(index)

    def forget(self, path: str) -> None:
        """Remove an image that is gone; the next one takes its place."""
        if path not in self._paths:
            return
        at = self._paths.index(path)
        del self._paths[at]
        self._forgotten[path] = at
        self._images.pop(path, None)
        if self._marked == path:
            self._marked = ""
        if not self._paths:
            self.changed.emit()
            self.emptied.emit()
            return
        index = self._index - 1 if at < self._index else self._index
        self._go(min(index, len(self._paths) - 1))

    def restore(self, path: str) -> None:
        """Show an image that was removed and is available again, at its former position."""
        at = self._forgotten.pop(path, None)
        if at is not None and self._paths:
            self._paths.insert(min(at, len(self._paths)), path)
            self._problems.pop(path, None)
            self._go(self._paths.index(path))

    def _go(self, index: int) -> None:
        self._index = index
        if self._paths:
            self._load(self.path())
            self._later.start()
        self.changed.emit()

    # ---- images

    def image(self) -> QImage | None:
        """Return the current image, or None if it is not yet read or unreadable."""
        return self._images.get(self.path())

    def problem(self) -> str:
        """Return why the current image cannot be shown, or ""."""
        return self._problems.get(self.path(), "")

    def prefetch(self) -> None:
        """Prefetch the neighbors, and the current image's metadata if wanted."""
        self._later.stop()
        near = {self.path(), self._marked}
        for by in (1, -1):
            at = self._index + by
            if 0 <= at < len(self._paths):
                near.add(self._paths[at])
                self._load(self._paths[at])
        for path in [path for path in self._loading if path not in near]:
            self._loader.drop(self._loading.pop(path))
        if self._metadata_wanted:
            self._read_metadata()

    def _load(self, path: str) -> None:
        if path in self._images:
            self._images.move_to_end(path)
        elif path not in self._loading:
            self._loading[path] = self._loader.load(
                path,
                LARGEST_SIDE,
                lambda image: self._loaded(path, image),
                lambda failure: self._failed(path, failure),
                slot=path,
            )

    def _loaded(self, path: str, image: QImage) -> None:
        self._loading.pop(path, None)
        self._problems.pop(path, None)
        self._images[path] = image
        kept = (self.path(), self._marked)
        for old in [old for old in self._images if old not in (*kept, path)]:
            if sum(one.sizeInBytes() for one in self._images.values()) <= MOST_BYTES:
                break
            del self._images[old]
        if path in kept:
            self.changed.emit()

    def _failed(self, path: str, failure: Failure) -> None:
        self._loading.pop(path, None)
        self._problems[path] = failure.message
        if path == self.path():
            self.changed.emit()

    # ---- comparison

    def mark(self) -> None:
        """Mark the current image for comparison, or clear the mark if there is one."""
        self._marked = "" if self._marked else self.path()
        self.changed.emit()

    def is_marked(self) -> bool:
        """Whether the current image is the marked one."""
        return bool(self._marked) and self._marked == self.path()

    def marked(self) -> str:
        """Return the path of the marked image, or ""."""
        return self._marked

    def before(self) -> QImage | None:
        """Return the marked image, or None if it is the current one or not loaded."""
        return None if self.is_marked() else self._images.get(self._marked)

    # ---- rating and deletion

    def rating(self) -> int | None:
        """Return the current image's rating, or None if unknown."""
        path = self.path()
        if path in self._ratings:
            return self._ratings[path]
        return self._rating_of(path) if self._rating_of is not None and path else None

    def star(self, stars: int) -> None:
        """Set the current image's rating."""
        if self.path():
            self._ratings[self.path()] = min(max(stars, 0), MOST_STARS)
            self.star_wanted.emit(self.path(), self._ratings[self.path()])
            self.changed.emit()

    def toggle_star(self) -> None:
        """Give the current image all stars, or none if it has them."""
        self.star(0 if self.rating() == MOST_STARS else MOST_STARS)

    def delete(self) -> None:
        """Request deleting the current image."""
        if self.path():
            self.delete_wanted.emit(self.path())

    def undo_delete(self) -> None:
        """Request undoing the last deletion."""
        self.undo_wanted.emit()

    # ---- metadata

    def set_metadata_wanted(self, wanted: bool) -> None:
        """Set whether the metadata of each image are read."""
        self._metadata_wanted = wanted
        if wanted:
            self._read_metadata()

    def metadata(self) -> ImageMetadata | None:
        """Return the current image's metadata, or None if not read."""
        return self._metadata.get(self.path())

    def copy_settings(self) -> None:
        """Copy the current image's settings, once they are read."""
        metadata = self.metadata()
        if metadata is None:
            self._copies = self.path()
            self._read_metadata()
        else:
            self._copy(metadata)

    def _copy(self, metadata: ImageMetadata) -> None:
        text = settings_text(metadata)
        if metadata.program == "unknown" or not text:
            self.message.emit(self.tr("This image has no generation metadata."))
        else:
            self.copied.emit(text)

    def _read_metadata(self) -> None:
        path = self.path()
        if path and path not in self._metadata:
            self._librarian.ask(
                "metadata",
                {"path": path},
                answer=ImageMetadata,
                then=lambda metadata: self._metadata_loaded(path, metadata),
                failed=lambda failure: self._metadata_failed(path, failure),
            )

    def _metadata_loaded(self, path: str, metadata: ImageMetadata) -> None:
        self._metadata[path] = metadata
        if self._copies == path:
            self._copies = ""
            self._copy(metadata)
        if path == self.path():
            self.changed.emit()

    def _metadata_failed(self, path: str, failure: Failure) -> None:
        if path == self._copies:
            self._copies = ""
            self.message.emit(failure.message)
