"""Metadata of the current image."""

from PySide6.QtCore import QObject, QTimer, Signal

from mezzotint.library_protocol import GalleryItem
from mezzotint.protocol import ImageMetadata
from mezzotint_app.processes.service import Failure, Service

_READ_DELAY = 120  # milliseconds before the file is read, so that quick browsing skips files


class GalleryDetails(QObject):
    """Requests the metadata of one image; replies for other images are dropped."""

    changed = Signal()

    def __init__(self, librarian: Service, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._librarian = librarian
        self._item: GalleryItem | None = None
        self._metadata: ImageMetadata | None = None
        self._problem = ""
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(_READ_DELAY)
        self._later.timeout.connect(self.ask_now)

    def set_current(self, item: GalleryItem | None) -> None:
        """Show this image; None: none."""
        before, self._item = self._item, item
        if item is None:
            self._later.stop()
        elif before is None or (before.path, before.made) != (item.path, item.made):
            self._later.start()
        elif before == item:
            return
        else:
            self.changed.emit()  # only its rating has changed
            return
        self._metadata, self._problem = None, ""
        self.changed.emit()

    def item(self) -> GalleryItem | None:
        """Return the image's list item."""
        return self._item

    def metadata(self) -> ImageMetadata | None:
        """Return the file's metadata, or None if not yet read."""
        return self._metadata

    def problem(self) -> str:
        """Return why the file could not be read."""
        return self._problem

    def ask_now(self) -> None:
        """Read the file's metadata now."""
        self._later.stop()
        item = self._item
        if item is not None:
            self._librarian.ask(
                "metadata",
                {"path": item.path},
                answer=ImageMetadata,
                then=lambda metadata: self._loaded(item, metadata),
                failed=lambda failure: self._failed(item, failure),
            )

    def _loaded(self, item: GalleryItem, metadata: ImageMetadata) -> None:
        if self._item is not None and item.path == self._item.path:
            self._metadata, self._problem = metadata, ""
            self.changed.emit()

    def _failed(self, item: GalleryItem, failure: Failure) -> None:
        if self._item is not None and item.path == self._item.path:
            self._problem = failure.message
            self.changed.emit()
