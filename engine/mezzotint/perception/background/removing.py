"""Remove the background of an image file: from a request to a PNG with everything that the image said about itself."""

from dataclasses import replace
from pathlib import Path

from PIL import Image, ImageChops, ImageStat

from mezzotint import paths
from mezzotint.checkpoints.fingerprint import fingerprint
from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import ImageRefused, UsageError
from mezzotint.images.edited import read_source, write_edited
from mezzotint.images.naming import edited_path
from mezzotint.images.reading import to_rgb
from mezzotint.images.record import ImageRecord
from mezzotint.images.transparency import opacity_of
from mezzotint.images.writing import pixels_sha256
from mezzotint.library_protocol import BackgroundRemoved, BackgroundRequest
from mezzotint.perception.background.preprocessing import normalization_of
from mezzotint.perception.background.process import front_of
from mezzotint.protocol import IsCancelled, Notice, OnEvent, Progress

_SUFFIX = ".png"  # the only format written here that has transparency without loss
_VISIBLE = 128  # of 255: below that everywhere, nothing would be seen


def remove_background(
    request: BackgroundRequest, file: Path, free_ram: int, on_event: OnEvent, cancelled: IsCancelled
) -> BackgroundRemoved:
    """Remove and save, by the network in a file with at most `free_ram` bytes.

    Raises ImageRefused, ModelRefused, UsageError, OutOfMemory, Cancelled, StorageError.
    """
    path = Path(request.path)
    target = edited_path(request.output, path, f"{path.stem}-cutout{_SUFFIX}")
    if target.suffix.lower() != _SUFFIX:
        raise UsageError(f"{plain(target.name, 200)} would have no transparency: name a {_SUFFIX} file")
    normalization = normalization_of(file)
    notices: list[str] = []

    def notify(message: str) -> None:
        notices.append(message)
        on_event(Notice(code="input_not_used", message=message))

    source = read_source(path).take(notify)
    seen = to_rgb(source.image)
    used = fingerprint(file, paths.cache_folder() / "fingerprints.json", cancelled=cancelled)
    on_event(Progress(what="removing the background", done=0, total=1, unit="images"))
    front = front_of(seen, file, normalization, free_ram, cancelled)
    opacity = opacity_of(source.image)
    front = front if opacity is None else ImageChops.multiply(front, opacity)
    if not front.point(lambda value: value >= _VISIBLE and 255).getbbox():
        raise ImageRefused(f"{plain(path, 300)}: nothing in it stands out from its background; nothing was saved")

    def noted(record: ImageRecord) -> ImageRecord:
        return replace(record, background_removed=used)

    image = _cut_out(source.image.convert("RGB"), front)
    saved = write_edited(image, target, source, noted, notify, request.output)
    return BackgroundRemoved(
        path=str(saved),
        width=image.width,
        height=image.height,
        sha256=pixels_sha256(image),
        model=used.path,
        model_sha256=used.sha256,
        front=ImageStat.Stat(front).mean[0] / 255,
        notices=tuple(notices),
    )


def _cut_out(image: Image.Image, front: Image.Image) -> Image.Image:
    """The image "RGBA", black where it is fully transparent, so that the file does not hold what was removed."""
    kept = Image.composite(image, Image.new("RGB", image.size), front.point(lambda value: 255 if value else 0))
    kept.putalpha(front)
    return kept
