"""User actions on gallery images."""

from collections.abc import Callable, Collection, Sequence

from PySide6.QtCore import QCoreApplication, QObject, Signal

from mezzotint.library_protocol import GalleryItem
from mezzotint.protocol import ImageMetadata
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.viewmodel.create.command_line import command_line
from mezzotint_app.viewmodel.dropped.settings_text import request_of, settings_text
from mezzotint_app.viewmodel.gallery.gallery import STARS, GalleryModel
from mezzotint_app.viewmodel.gallery.trash import GalleryTrash
from mezzotint_app.viewmodel.pixels import PixelLoader
from mezzotint_app.viewmodel.queue.texts import images_count

translate = QCoreApplication.translate


class GalleryActions(QObject):
    """Every action takes items of the list."""

    message = Signal(str)  # what was done, in one line
    failed = Signal(str)
    copy_image = Signal(object)  # QImage, for the clipboard
    copy_text = Signal(str)  # for the clipboard

    def __init__(
        self,
        model: GalleryModel,
        librarian: Service,
        trash: GalleryTrash,
        pixels: PixelLoader,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._model, self._librarian, self._trash, self._pixels = model, librarian, trash, pixels
        trash.moved.connect(self._moved)
        trash.restored.connect(self._restored)
        trash.settled.connect(model.refresh)
        trash.failed.connect(self.failed)
        self._stars_before: dict[int, int] = {}

    # ---- stars

    def rate(self, items: Sequence[GalleryItem], stars: int) -> None:
        """Set the rating of images."""
        self._model.rate(items, stars)

    def toggle_star(self, items: Sequence[GalleryItem]) -> None:
        """Give all stars; if they all have them, restore the previous rating."""
        if all(item.rating == STARS for item in items):
            for item in items:
                self._model.rate([item], self._stars_before.pop(item.id, 0))
        else:
            self._stars_before.update({item.id: item.rating for item in items if item.rating != STARS})
            self._model.rate(items, STARS)

    # ---- trash

    def move_to_trash(self, items: Sequence[GalleryItem]) -> None:
        """Remove images from the list at once and move them to the trash; those that cannot be moved reappear."""
        self._model.remove_optimistically([item.id for item in items])
        self._trash.move([item.path for item in items])

    def _moved(self, paths: Sequence[str]) -> None:
        self.message.emit(translate("GalleryActions", "Moved to trash: {0}").format(images_count(len(paths))))

    def _restored(self, paths: Sequence[str]) -> None:
        self.message.emit(translate("GalleryActions", "Restored from trash: {0}").format(images_count(len(paths))))

    # ---- copying

    def copy_pixels(self, item: GalleryItem) -> None:
        """Copy the image."""
        self.copy_pixels_of(item.path)

    def copy_pixels_of(self, path: str) -> None:
        """Copy the image of a file."""

        def loaded(image: object) -> None:
            self.copy_image.emit(image)
            self.message.emit(translate("GalleryActions", "Image copied"))

        self._pixels.load(path, None, loaded, self._fail, slot="clipboard")

    def copy_settings(self, item: GalleryItem) -> None:
        """Copy the image's settings as text."""

        def copy(metadata: ImageMetadata) -> None:
            text = settings_text(metadata)
            if text:
                self.copy_text.emit(text)
                self.message.emit(translate("GalleryActions", "Settings copied"))
            else:
                self.failed.emit(translate("GalleryActions", "This image has no generation metadata"))

        self._metadata(item, copy)

    def copy_command(self, item: GalleryItem) -> None:
        """Copy the command that generates the image again."""

        def copy(metadata: ImageMetadata) -> None:
            if metadata.request is None and not metadata.prompt:
                self.failed.emit(translate("GalleryActions", "This image has no generation metadata"))
                return
            command = command_line(request_of(metadata))
            self.copy_text.emit(command.text())
            self.message.emit(_copied(command.left_out))

        self._metadata(item, copy)

    def copy_prompt(self, item: GalleryItem) -> None:
        """Copy the prompt only."""
        self.copy_text.emit(item.prompt)
        self.message.emit(translate("GalleryActions", "Prompt copied"))

    def _metadata(self, item: GalleryItem, then: Callable[[ImageMetadata], None]) -> None:
        self._librarian.ask("metadata", {"path": item.path}, answer=ImageMetadata, then=then, failed=self._fail)

    def _fail(self, failure: Failure) -> None:
        self.failed.emit(failure.message)


def _copied(left_out: Collection[str]) -> str:
    if not left_out:
        return translate("GalleryActions", "Command copied")
    return translate(
        "GalleryActions", "Command copied. Settings without a command-line option were left out: {0}"
    ).format(", ".join(left_out))
