"""What a drag or the clipboard holds: paths of files on this machine, as many as are taken, or pixels."""

from dataclasses import dataclass

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QImage

MOST_PATHS = 500  # that are looked at at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What was dropped or pasted."""

    paths: tuple[str, ...] = ()
    left_out: int = 0  # more paths than are taken
    elsewhere: int = 0  # addresses that are no files of this machine
    image: QImage | None = None


def can_hold(data: QMimeData) -> bool:
    """Whether there is anything that could be used."""
    return data.hasUrls() or data.hasImage()


def held(data: QMimeData) -> Held:
    """Paths where there are any; pixels only where there is no file, for a file knows how it was made."""
    urls = data.urls() if data.hasUrls() else []
    local = [url.toLocalFile() for url in urls if url.isLocalFile()]
    paths = tuple(dict.fromkeys(path for path in local if path))
    if paths or not data.hasImage():
        return Held(
            paths=paths[:MOST_PATHS], left_out=max(len(paths) - MOST_PATHS, 0), elsewhere=len(urls) - len(local)
        )
    image = data.imageData()
    return Held(image=image if isinstance(image, QImage) and not image.isNull() else None)
