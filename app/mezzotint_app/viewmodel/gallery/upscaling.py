"""Enlarging images of the gallery, and removing their backgrounds, one after the other."""

from collections import deque
from collections.abc import Sequence
from typing import Protocol

from PySide6.QtCore import QCoreApplication, QObject, Signal

from mezzotint.library_protocol import BackgroundRemoved, BackgroundRequest, UpscaledImage, UpscaleRequest
from mezzotint.protocol import ImageMetadata, Progress
from mezzotint_app.processes.service import Failure, Service

translate = QCoreApplication.translate


class Enlarged(Protocol):
    """What is known of an image that is enlarged."""

    @property
    def path(self) -> str:
        """Its file."""

    @property
    def width(self) -> int:
        """In pixels."""

    @property
    def height(self) -> int:
        """In pixels."""


class GalleryUpscaling(QObject):
    """Runs requests in order; a failed one is reported and does not stop the others."""

    changed = Signal()  # what `status` returns
    saved = Signal(str)  # path of an edited image
    listed = Signal(list)  # names of all upscalers
    failed = Signal(str)
    # Metadata and path of an image, the size that it shall have, an upscaler, and the second pass's strength.
    second_pass = Signal(object, str, tuple, str, float)

    def __init__(self, librarian: Service, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._librarian = librarian
        self._waiting: deque[UpscaleRequest | BackgroundRequest] = deque()
        self._running: int | None = None
        self._removes = False  # whether what runs removes a background
        self._progress: Progress | None = None

    def list_upscalers(self) -> None:
        """Ask which upscalers there are; `listed` has the answer."""
        self._librarian.ask(
            "upscalers", answer=tuple[str, ...], then=lambda names: self.listed.emit(list(names)), failed=self._refused
        )

    def start(self, paths: Sequence[str], upscaler: str, scale: float | None) -> None:
        """Enlarge images, after those that are still waiting; each is saved next to the original."""
        self._wait([UpscaleRequest(path=path, upscaler=upscaler, scale=scale) for path in paths])

    def remove_backgrounds(self, paths: Sequence[str]) -> None:
        """Make backgrounds transparent, in copies next to the originals, after what is still waiting."""
        self._wait([BackgroundRequest(path=path) for path in paths])

    def start_second_pass(self, images: Sequence[Enlarged], upscaler: str, scale: float, strength: float) -> None:
        """Have images enlarged and denoised again; `second_pass` tells each, once its metadata is read."""
        for image in images:
            size = (round(image.width * scale), round(image.height * scale))

            def wanted(metadata: ImageMetadata, path: str = image.path, size: tuple[int, int] = size) -> None:
                self.second_pass.emit(metadata, path, size, upscaler, strength)

            self._librarian.ask(
                "metadata", {"path": image.path}, answer=ImageMetadata, then=wanted, failed=self._refused
            )

    def cancel(self) -> None:
        """Stop, and drop what is waiting."""
        self._waiting.clear()
        if self._running is not None:
            self._librarian.cancel(self._running)

    def status(self) -> str:
        """What is being done, in one line; empty if nothing is."""
        if self._running is None:
            return ""
        removing = translate("GalleryUpscaling", "Removing the background")
        texts = [removing if self._removes else translate("GalleryUpscaling", "Upscaling")]
        if self._progress is not None and self._progress.total and not self._removes:
            percent = 100 * self._progress.done // self._progress.total
            texts.append(translate("GalleryUpscaling", "{0} %").format(percent))
        if self._waiting:
            texts.append(translate("GalleryUpscaling", "{0} waiting").format(len(self._waiting)))
        return " \u00b7 ".join(texts)

    def _wait(self, requests: Sequence[UpscaleRequest | BackgroundRequest]) -> None:
        self._waiting.extend(requests)
        if self._running is None:
            self._next()

    def _next(self) -> None:
        self._progress, self._running = None, None
        if self._waiting:
            request = self._waiting.popleft()
            self._removes = isinstance(request, BackgroundRequest)
            method, answer = ("remove_background", BackgroundRemoved) if self._removes else ("upscale", UpscaledImage)
            self._running = self._librarian.ask(
                method, request, answer=answer, then=self._saved, failed=self._failed, on_event=self._told
            )
        self.changed.emit()

    def _told(self, event: object) -> None:
        if isinstance(event, Progress):
            self._progress = event
            self.changed.emit()

    def _saved(self, image: UpscaledImage | BackgroundRemoved) -> None:
        self.saved.emit(image.path)
        self._next()

    def _failed(self, failure: Failure) -> None:
        if failure.kind != "cancelled":
            self._refused(failure)
        self._next()

    def _refused(self, failure: Failure) -> None:
        self.failed.emit(failure.message)
