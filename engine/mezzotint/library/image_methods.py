"""Methods of the library service for images, prompts, and the model list."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.control_protocol import ControlImageMade, ControlImageRequest
from mezzotint.errors import UsageError
from mezzotint.library.params import PathParams, PathsParams
from mezzotint.library_protocol import (
    BackgroundRemoved,
    BackgroundRequest,
    BoardEdit,
    CompletionQuery,
    Dropped,
    GalleryQuery,
    GalleryScan,
    Labelling,
    PixelsRequest,
    Rating,
    ThumbnailRequest,
    TokenRequest,
    UpscaledImage,
    UpscaleRequest,
)
from mezzotint.protocol import ImageMetadata, IsCancelled, ModelInfo, ModelRef, OnEvent, Output
from mezzotint.rpc.server import Method

if TYPE_CHECKING:
    from mezzotint.catalog import Catalog
    from mezzotint.library.completion.completer import Completer
    from mezzotint.library.gallery.gallery import Gallery
    from mezzotint.library.pixels import PixelFiles
    from mezzotint.library.thumbnails import Thumbnails
    from mezzotint.library.tokens import TokenCounter

MOST_PATHS = 10_000  # per call

MakeCatalog = Callable[[], "Catalog"]


class LibraryServices:
    """Shared state of the methods; each part is imported and created on first use, thread-safely."""

    def __init__(self, make_catalog: MakeCatalog) -> None:
        self._make_catalog = make_catalog
        self._making = threading.Lock()
        self._gallery: Gallery | None = None
        self._thumbnails: Thumbnails | None = None
        self._pixels: PixelFiles | None = None
        self._tokens: TokenCounter | None = None
        self._completer: Completer | None = None

    @property
    def gallery(self) -> "Gallery":
        """The gallery index."""
        from mezzotint.library.gallery.gallery import Gallery

        with self._making:
            self._gallery = self._gallery or Gallery()
            return self._gallery

    @property
    def thumbnails(self) -> "Thumbnails":
        """The thumbnail cache."""
        from mezzotint.library.thumbnails import Thumbnails

        with self._making:
            self._thumbnails = self._thumbnails or Thumbnails()
            return self._thumbnails

    @property
    def pixels(self) -> "PixelFiles":
        """The files of decoded images."""
        from mezzotint.library.pixels import PixelFiles

        with self._making:
            self._pixels = self._pixels or PixelFiles()
            return self._pixels

    @property
    def tokens(self) -> "TokenCounter":
        """The prompt token counter."""
        from mezzotint.library.tokens import TokenCounter

        with self._making:
            self._tokens = self._tokens or TokenCounter(lambda ref: self._make_catalog().find(ref))
            return self._tokens

    @property
    def completer(self) -> "Completer":
        """What completes prompts."""
        from mezzotint.library.completion.completer import Completer

        with self._making:
            self._completer = self._completer or Completer(self._make_catalog)
            return self._completer

    def models(self) -> tuple[ModelInfo, ...]:
        """Search for models and return all that are found."""
        if self._tokens is not None:
            self._tokens.forget()  # a new search usually means that models have changed
        return self._make_catalog().models()

    def notices(self) -> tuple[str, ...]:
        """Return notices of the model search and the gallery."""
        of_gallery = self._gallery.notices() if self._gallery is not None else ()
        return (*self._make_catalog().notices(), *of_gallery)

    def inspect(self, ref: ModelRef) -> ModelInfo:
        """Return one model with its components."""
        return self._make_catalog().inspect(ref)

    def prepare_control(self, asked: ControlImageRequest, tell: OnEvent, cancelled: IsCancelled) -> ControlImageMade:
        """Make a control image of an image file."""
        from mezzotint.library.control.preparing import prepare_control

        return prepare_control(asked, self._make_catalog, tell, cancelled)

    def upscalers(self) -> tuple[str, ...]:
        """Return the names of all upscalers found, the bundled one first."""
        return self._make_catalog().upscalers()

    def controlnets(self) -> tuple[str, ...]:
        """Return the names of all ControlNets and image prompt adapters found, the bundled one first."""
        return tuple(self._make_catalog().controlnets())

    def close(self) -> None:
        """Close the gallery and remove this process's pixel files."""
        if self._gallery is not None:
            self._gallery.close()
        if self._pixels is not None:
            self._pixels.close()


def image_methods(services: LibraryServices) -> dict[str, Method]:
    """Return the methods for images, prompts and the model list, by name."""
    return {
        "models": Method(params=None, run=lambda *_: services.models()),
        "notices": Method(params=None, run=lambda *_: services.notices()),
        "inspect": Method(params=ModelRef, run=lambda asked, *_: services.inspect(asked)),
        "tokens": Method(params=TokenRequest, run=lambda asked, *_: services.tokens.count(asked), lane="apart"),
        "complete": Method(
            params=CompletionQuery, run=lambda asked, *_: services.completer.complete(asked), lane="apart"
        ),
        "metadata": Method(params=PathParams, run=lambda asked, *_: _metadata(asked)),
        "examine": Method(params=PathsParams, run=lambda asked, *_: _examine(asked)),
        "thumbnail": Method(
            params=ThumbnailRequest,
            run=lambda asked, _, cancelled: services.thumbnails.get(asked, cancelled),
            lane="newest first",
        ),
        "pixels": Method(
            params=PixelsRequest,
            run=lambda asked, _, cancelled: services.pixels.write(asked, cancelled),
            lane="newest first",
        ),
        "check_output": Method(params=Output, run=lambda asked, *_: _check_output(asked), lane="waiting"),
        "upscalers": Method(params=None, run=lambda *_: services.upscalers()),
        "controlnets": Method(params=None, run=lambda *_: services.controlnets()),
        "upscale": Method(params=UpscaleRequest, run=_upscale, job=True),
        "remove_background": Method(params=BackgroundRequest, run=_remove_background, job=True),
        "prepare_control": Method(
            params=ControlImageRequest,
            run=lambda asked, tell, cancelled: services.prepare_control(asked, tell, cancelled),
            job=True,
        ),
        "gallery.scan": Method(
            params=GalleryScan,
            run=lambda asked, tell, cancelled: services.gallery.scan(asked, tell, cancelled),
            job=True,
        ),
        "gallery.query": Method(params=GalleryQuery, run=lambda asked, *_: services.gallery.query(asked), lane="apart"),
        "gallery.rate": Method(params=Rating, run=lambda asked, *_: services.gallery.rate(asked), lane="apart"),
        "gallery.forget": Method(
            params=PathsParams, run=lambda asked, *_: services.gallery.forget(asked.paths), lane="apart"
        ),
        "gallery.looks": Method(
            params=None,
            run=lambda _asked, tell, cancelled: services.gallery.take_looks(services.thumbnails.look, tell, cancelled),
            job=True,
        ),
        "gallery.boards": Method(params=None, run=lambda *_: services.gallery.boards.all(), lane="apart"),
        "gallery.board": Method(
            params=BoardEdit, run=lambda asked, *_: services.gallery.boards.edit(asked), lane="apart"
        ),
        "gallery.label": Method(
            params=Labelling, run=lambda asked, *_: services.gallery.boards.label(asked), lane="apart"
        ),
        "gallery.models": Method(params=None, run=lambda *_: services.gallery.models(), lane="apart"),
    }


def _metadata(asked: PathParams) -> ImageMetadata:
    from mezzotint.images.metadata import read_metadata
    from mezzotint.library.recorded_files import RecordedFiles

    path = Path(asked.path)
    metadata, files = read_metadata(path), RecordedFiles(folders=(path.parent,))
    if metadata.request is None:
        return metadata
    request = files.located(metadata.request)
    return replace(metadata, request=request, unused=(*(metadata.unused or ()), *files.missing))


def _upscale(asked: UpscaleRequest, tell: OnEvent, cancelled: IsCancelled) -> UpscaledImage:
    from mezzotint.library.editing import upscale

    return upscale(asked, tell, cancelled)


def _remove_background(asked: BackgroundRequest, tell: OnEvent, cancelled: IsCancelled) -> BackgroundRemoved:
    from mezzotint.library.editing import remove_background

    return remove_background(asked, tell, cancelled)


def _check_output(asked: Output) -> None:
    """Raise what `generate` would raise for an invalid file name or an unwritable folder."""
    from mezzotint.images.naming import check_output

    check_output(asked, count=1)


def _examine(asked: PathsParams) -> tuple[Dropped, ...]:
    from mezzotint.library.examine import examine

    if len(asked.paths) > MOST_PATHS:
        raise UsageError(f"{len(asked.paths)} paths at once; at most {MOST_PATHS} are examined")
    return tuple(examine(path) for path in asked.paths)
