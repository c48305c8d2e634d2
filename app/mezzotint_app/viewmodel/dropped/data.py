"""Data of a drag or the clipboard: a limited number of local paths, or pixels."""

from dataclasses import dataclass

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QImage

MOST_PATHS = 500  # examined at once


@dataclass(frozen=True, slots=True, kw_only=True)
class DropData:
    """The dropped or pasted data."""

    paths: tuple[str, ...] = ()
    left_out: int = 0  # paths beyond the limit
    elsewhere: int = 0  # URLs that are not local files
    image: QImage | None = None


def can_hold(data: QMimeData) -> bool:
    """Whether the data contains anything usable."""
    return data.hasUrls() or data.hasImage()


def drop_data(data: QMimeData) -> DropData:
    """Return the paths, if any; pixels only without files, since a file also has metadata."""
    urls = data.urls() if data.hasUrls() else []
    local = [url.toLocalFile() for url in urls if url.isLocalFile()]
    paths = tuple(dict.fromkeys(path for path in local if path))
    if paths or not data.hasImage():
        return DropData(
            paths=paths[:MOST_PATHS], left_out=max(len(paths) - MOST_PATHS, 0), elsewhere=len(urls) - len(local)
        )
    image = data.imageData()
    return DropData(image=image if isinstance(image, QImage) and not image.isNull() else None)
