"""Creates the gallery's view models and connects them."""

from collections.abc import Callable
from datetime import date

from PySide6.QtCore import QObject

from mezzotint.library_protocol import GalleryScanned
from mezzotint_app.background import Executor
from mezzotint_app.processes.service import Service
from mezzotint_app.settings import Settings, output_folder
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.gallery.actions import GalleryActions
from mezzotint_app.viewmodel.gallery.boards import GalleryBoards
from mezzotint_app.viewmodel.gallery.details import GalleryDetails
from mezzotint_app.viewmodel.gallery.gallery import GalleryModel, GalleryState
from mezzotint_app.viewmodel.gallery.scan import GalleryScanner
from mezzotint_app.viewmodel.gallery.similarity import GallerySimilarity
from mezzotint_app.viewmodel.gallery.trash import GalleryTrash
from mezzotint_app.viewmodel.gallery.upscaling import GalleryUpscaling
from mezzotint_app.viewmodel.pixels import PixelLoader
from mezzotint_app.viewmodel.queue.running import Runner
from mezzotint_app.viewmodel.reveal import Reveal
from mezzotint_app.viewmodel.thumbnails import Thumbnails

_SEEN_FROM = 200  # images read by a scan between list refreshes


class Gallery(QObject):
    """The view models of the Gallery page."""

    def __init__(
        self,
        librarian: Service,
        background: Executor,
        pixels: PixelLoader,
        thumbnails: Thumbnails,
        runner: Runner,
        settings: Stored[Settings],
        state: Stored[GalleryState],
        parent: QObject | None = None,
        *,
        today: Callable[[], date] = date.today,
    ) -> None:
        super().__init__(parent)
        self.state = state
        self.model = GalleryModel(librarian, thumbnails, self, order=state.value().order, today=today)
        self.scanner = GalleryScanner(librarian, lambda: folders_of(settings.value()), self)
        self.trash = GalleryTrash(librarian, background, self)
        self.actions = GalleryActions(self.model, librarian, self.trash, pixels, self)
        self.upscaling = GalleryUpscaling(librarian, self)
        self.boards = GalleryBoards(librarian, self.model, self)
        self.similarity = GallerySimilarity(librarian, self.model, self)
        self.details = GalleryDetails(librarian, self)
        self.reveal = Reveal(background, self)
        self._seen = 0
        self.scanner.scanned.connect(self._scanned)
        self.scanner.changed.connect(self._scanning)
        runner.saved.connect(lambda _task, image: self.scanner.saved(image.path))
        self.upscaling.saved.connect(self.scanner.saved)
        self.trash.restored.connect(self._restored)
        self.trash.settled.connect(self.boards.refresh)
        settings.changed.connect(self.scanner.folders_changed)

    def begin(self) -> None:
        """Show what is known and scan for new images; called once the library service is ready."""
        self.model.try_again()
        self.boards.refresh()
        self.scanner.scan()

    def rescan_if_needed(self) -> None:
        """Note that another program may have saved images; the folders are scanned after a delay."""
        self.scanner.rescan_later()

    def _restored(self, paths: tuple[str, ...]) -> None:
        for path in paths:
            self.scanner.saved(path)

    def _scanned(self, scanned: GalleryScanned) -> None:
        self._seen = 0
        if scanned.added or scanned.removed or not self.model.is_loaded():
            self.model.refresh()
            self.model.ask_models()
            self.boards.refresh()

    def _scanning(self) -> None:
        progress = self.scanner.progress()
        if progress is not None and progress.done >= self._seen + _SEEN_FROM:
            self._seen = progress.done
            self.model.refresh()


def folders_of(settings: Settings) -> tuple[str, ...]:
    """Return all gallery folders without duplicates; folders inside another one are scanned with it."""
    return tuple(dict.fromkeys((str(output_folder(settings)), *settings.gallery_folders)))
