"""The gallery's view models, made and wired to each other."""

from collections.abc import Callable
from datetime import date

from PySide6.QtCore import QObject

from mezzotint.library_protocol import GalleryScanned
from mezzotint_app.background import Runs
from mezzotint_app.processes.service import Service
from mezzotint_app.settings import Settings, output_folder
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.gallery.actions import GalleryActions
from mezzotint_app.viewmodel.gallery.details import GalleryDetails
from mezzotint_app.viewmodel.gallery.gallery import GalleryModel, GalleryState
from mezzotint_app.viewmodel.gallery.scan import GalleryScanner
from mezzotint_app.viewmodel.gallery.trash import GalleryTrash
from mezzotint_app.viewmodel.pixels import PixelLoader
from mezzotint_app.viewmodel.queue.running import Runner
from mezzotint_app.viewmodel.reveal import Reveal
from mezzotint_app.viewmodel.thumbnails import Thumbnails

_SEEN_FROM = 200  # images that a scan has read anew, until the list shows them


class Gallery(QObject):
    """What the Gallery page shows."""

    def __init__(
        self,
        librarian: Service,
        background: Runs,
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
        self.details = GalleryDetails(librarian, self)
        self.reveal = Reveal(background, self)
        self._seen = 0
        self.scanner.scanned.connect(self._scanned)
        self.scanner.changed.connect(self._scanning)
        runner.saved.connect(lambda _task, image: self.scanner.saved(image.path))
        self.trash.restored.connect(self._restored)
        settings.changed.connect(self.scanner.folders_changed)

    def begin(self) -> None:
        """At the start, once the librarian answers: show what is known, and look for what is new."""
        self.model.try_again()
        self.scanner.scan()

    def others_work(self) -> None:
        """Another program has made images, perhaps: the folders are looked through when they have rested."""
        self.scanner.look_again()

    def _restored(self, paths: tuple[str, ...]) -> None:
        for path in paths:
            self.scanner.saved(path)

    def _scanned(self, scanned: GalleryScanned) -> None:
        self._seen = 0
        if scanned.added or scanned.removed or not self.model.is_loaded():
            self.model.refresh()
            self.model.ask_models()

    def _scanning(self) -> None:
        progress = self.scanner.progress()
        if progress is not None and progress.done >= self._seen + _SEEN_FROM:
            self._seen = progress.done
            self.model.refresh()


def folders_of(settings: Settings) -> tuple[str, ...]:
    """All folders of the gallery, each once; what is already inside another one is scanned with it."""
    return tuple(dict.fromkeys((str(output_folder(settings)), *settings.gallery_folders)))
