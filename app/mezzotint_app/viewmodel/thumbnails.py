"""Thumbnails for lists: requested for visible items, decoded in a worker thread, kept in a bounded cache."""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage

from mezzotint.library_protocol import Thumbnail, ThumbnailRequest
from mezzotint_app.background import Executor
from mezzotint_app.processes.service import GONE, NOT_RUNNING, Failure, Service

MAX_BYTES = 128 << 20
SIDES = (128, 256, 512, 1024)  # few sizes, so that cached files are reused
MAX_REQUESTS = 6
_CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class ThumbnailKey:
    """A request for a thumbnail of a file, in the version given by `stamp`."""

    path: str
    side: int
    stamp: float = 0.0  # changes when the file is replaced


def side_for(pixels: float) -> int:
    """Return the smallest thumbnail size that covers `pixels` pixels on the screen."""
    return next((side for side in SIDES if side >= pixels), SIDES[-1])


def decoded(path: str) -> QImage:
    """Decode a thumbnail file written by the library service. Raises ValueError if it cannot be read."""
    image = QImage(path)
    if image.isNull():
        raise ValueError(f"the thumbnail {path} cannot be read: clear the cache to regenerate it")
    return image.convertToFormat(QImage.Format.Format_RGB32)


class Thumbnails(QObject):
    """Requests a few thumbnails at a time from the library service, the most recently wanted first."""

    changed = Signal(str)  # path whose thumbnail has arrived or failed

    def __init__(
        self,
        librarian: Service,
        pool: Executor,
        parent: QObject | None = None,
        *,
        most_bytes: int = MAX_BYTES,
        decode: Callable[[str], QImage] = decoded,
    ) -> None:
        super().__init__(parent)
        self._librarian, self._pool, self._decode, self._most = librarian, pool, decode, most_bytes
        self._kept: OrderedDict[ThumbnailKey, QImage] = OrderedDict()
        self._bytes = 0
        self._broken: dict[ThumbnailKey, str] = {}
        self._queue: list[ThumbnailKey] = []
        self._calls: dict[ThumbnailKey, int] = {}
        self._stopped: set[ThumbnailKey] = set()
        self._shown: dict[str, list[ThumbnailKey]] = {}
        self._visible: frozenset[ThumbnailKey] = frozenset()

    def thumbnail(self, wanted: ThumbnailKey) -> QImage | None:
        """Return the thumbnail if it is cached, without requesting it."""
        image = self._kept.get(wanted)
        if image is not None:
            self._kept.move_to_end(wanted)
        return image

    def why_broken(self, wanted: ThumbnailKey) -> str | None:
        """Return why the thumbnail cannot be made, or None if it has not failed."""
        return self._broken.get(wanted)

    def show(self, wanted: Iterable[ThumbnailKey], viewer: str) -> None:
        """Set the thumbnails visible in `viewer`, most wanted first; they replace that viewer's earlier requests."""
        self._shown.pop(viewer, None)
        self._shown = {viewer: list(dict.fromkeys(wanted)), **self._shown}  # the most recent viewer is served first
        ordered = list(dict.fromkeys(one for shown in self._shown.values() for one in shown))
        self._visible = frozenset(ordered)
        self._make_room()
        self._queue = [one for one in ordered if self._is_missing(one)]
        for one in [one for one in self._calls if one not in self._visible and one not in self._stopped]:
            self._stopped.add(one)
            self._librarian.cancel(self._calls[one])
        self._ask()

    def forget(self, paths: Iterable[str]) -> None:
        """Retry failed thumbnails of these files when they are next shown."""
        gone = set(paths)
        self._broken = {one: why for one, why in self._broken.items() if one.path not in gone}

    def forget_failures(self) -> None:
        """Retry all failed thumbnails: the library service is available again."""
        self._broken.clear()

    def bytes_kept(self) -> int:
        """Return the memory used by cached thumbnails, in bytes."""
        return self._bytes

    def _is_missing(self, one: ThumbnailKey) -> bool:
        return one not in self._kept and one not in self._broken and one not in self._calls

    def _ask(self) -> None:
        while self._queue and len(self._calls) < MAX_REQUESTS:
            one = self._queue.pop(0)
            self._calls[one] = 0  # reserved before asking
            self._calls[one] = self._librarian.ask(
                "thumbnail",
                ThumbnailRequest(path=one.path, side=one.side),
                answer=Thumbnail,
                then=partial(self._written, one),
                failed=partial(self._failed, one),
            )

    def _written(self, one: ThumbnailKey, thumbnail: Thumbnail) -> None:
        if one not in self._visible:
            self._ended(one)
            return
        self._pool.run(
            lambda: self._decode(thumbnail.path),
            lambda image: self._have(one, image),
            lambda error: self._broke(one, str(error)),
        )

    def _have(self, one: ThumbnailKey, image: QImage) -> None:
        if one not in self._kept:
            self._kept[one] = image
            self._bytes += image.sizeInBytes()
            self._make_room()
        self._ended(one)
        self.changed.emit(one.path)

    def _make_room(self) -> None:
        for one in list(self._kept):
            if self._bytes <= self._most:
                return
            if one not in self._visible:
                self._bytes -= self._kept.pop(one).sizeInBytes()

    def _failed(self, one: ThumbnailKey, failure: Failure) -> None:
        if failure.kind in (GONE, NOT_RUNNING):  # not the image's fault: it is requested again when next shown
            self._ended(one)
        elif failure.kind == _CANCELLED:
            self._ended(one)
            if one in self._visible and self._is_missing(one):  # scrolled back before the cancellation took effect
                self._queue.append(one)
                self._ask()
        else:
            self._broke(one, failure.message)

    def _broke(self, one: ThumbnailKey, why: str) -> None:
        self._broken[one] = why
        self._ended(one)
        self.changed.emit(one.path)

    def _ended(self, one: ThumbnailKey) -> None:
        self._calls.pop(one, None)
        self._stopped.discard(one)
        self._ask()
