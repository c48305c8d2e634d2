"""Up to four images that are compared, and the settings in which they differ."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage

from mezzotint.protocol import ImageMetadata
from mezzotint_app.background import Executor
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.viewmodel.dropped.described_request import SettingText, metadata_setting_texts
from mezzotint_app.viewmodel.pixels import PixelLoader

MOST = 4
LARGEST_SIDE = 4096  # pixels; larger images are scaled down
_MOST_STARS = 5

RatingOf = Callable[[str], int]


class ComparisonModel(QObject):
    """Loads the images and their metadata; what comes for earlier images is dropped."""

    changed = Signal(int)  # index of the image
    star_wanted = Signal(str, int)  # path, stars

    def __init__(
        self, librarian: Service, pool: Executor, parent: QObject | None = None, *, rating_of: RatingOf = lambda _: 0
    ) -> None:
        super().__init__(parent)
        self._librarian, self._rating_of = librarian, rating_of
        self._loader = PixelLoader(librarian, pool, self)
        self._paths: tuple[str, ...] = ()
        self._images: dict[str, QImage] = {}
        self._problems: dict[str, str] = {}
        self._settings: dict[str, dict[str, SettingText]] = {}
        self._ratings: dict[str, int] = {}

    def open(self, paths: Sequence[str]) -> None:
        """Compare these images, at most four."""
        self.close()
        self._paths = tuple(paths)[:MOST]
        for path in self._paths:
            self._loader.load(
                path,
                LARGEST_SIDE,
                lambda image, path=path: self._loaded(path, image),  # type: ignore[misc]
                lambda failure, path=path: self._failed(path, failure),  # type: ignore[misc]
                slot=path,
            )
            self._librarian.ask(
                "metadata",
                {"path": path},
                answer=ImageMetadata,
                then=lambda metadata, path=path: self._have(path, metadata),  # type: ignore[misc]
                failed=lambda _why: None,  # the image says it
            )

    def close(self) -> None:
        """Forget the images."""
        self._loader.drop_all()
        for known in (self._images, self._problems, self._settings, self._ratings):
            known.clear()
        self._paths = ()

    def paths(self) -> tuple[str, ...]:
        """Return the paths of the images."""
        return self._paths

    def image(self, index: int) -> QImage | None:
        """Return an image, or None if it is not yet read or unreadable."""
        return self._images.get(self._paths[index])

    def problem(self, index: int) -> str:
        """Return why an image cannot be shown, or ""."""
        return self._problems.get(self._paths[index], "")

    def rating(self, index: int) -> int:
        """Return the stars of an image."""
        path = self._paths[index]
        return self._ratings.get(path, self._rating_of(path))

    def star(self, index: int, stars: int) -> None:
        """Set the stars of an image."""
        path = self._paths[index]
        self._ratings[path] = min(max(stars, 0), _MOST_STARS)
        self.star_wanted.emit(path, self._ratings[path])
        self.changed.emit(index)

    def differences(self, index: int) -> list[tuple[str, str]]:
        """Return name and value of the settings in which the images differ; empty until all are read."""
        known = [self._settings.get(path) for path in self._paths]
        if any(one is None for one in known):
            return []
        every = [one for one in known if one is not None]
        keys = dict.fromkeys(key for one in every for key in one)
        differing = [key for key in keys if len({_value(one, key) for one in every}) > 1]
        own = every[index]
        return [(own[key].name, own[key].value) for key in differing if key in own]

    def _loaded(self, path: str, image: QImage) -> None:
        self._images[path] = image
        self._tell(path)

    def _failed(self, path: str, failure: Failure) -> None:
        self._problems[path] = failure.message
        self._tell(path)

    def _have(self, path: str, metadata: ImageMetadata) -> None:
        if path in self._paths:
            self._settings[path] = {one.key: one for one in metadata_setting_texts(metadata)}
            for index in range(len(self._paths)):
                self.changed.emit(index)

    def _tell(self, path: str) -> None:
        for index, known in enumerate(self._paths):
            if known == path:
                self.changed.emit(index)


def _value(settings: dict[str, SettingText], key: str) -> str | None:
    return settings[key].value if key in settings else None
