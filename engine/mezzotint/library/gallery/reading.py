"""What the gallery knows of an image, read from the head of its file."""

import hashlib
import os
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from mezzotint.errors import MezzotintError
from mezzotint.images.metadata import metadata_in
from mezzotint.images.reading import open_image, upright_size
from mezzotint.library.gallery.walk import FileStamp
from mezzotint.protocol import ImageMetadata

MAX_PROMPT = 2000  # characters that lists show; the whole prompt is asked of the image
_MAX_WORDS = 10_000  # characters that searches look through
_ENDS = 64 << 10  # bytes of a file's beginning and end by which a foreign image is known
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFacts:
    """An image as the index holds it."""

    width: int
    height: int
    model: str
    seed: int | None
    content: str
    prompt: str
    words: str


def read_facts(path: Path, stamp: FileStamp) -> ImageFacts | None:
    """None for what cannot be read as an image; whatever the file holds, nothing else is raised."""
    try:
        with open_image(path) as image:
            width, height = upright_size(image)
            metadata = metadata_in(image)
        content = content_of(path, stamp.bytes, metadata)
    except (MezzotintError, OSError, ValueError, RecursionError, MemoryError):
        return None
    prompt, model = metadata.prompt or "", metadata.model or ""
    return ImageFacts(
        width=width,
        height=height,
        model=_storable(model[:MAX_PROMPT]),
        seed=metadata.seed,
        content=content,
        prompt=_storable(prompt[:MAX_PROMPT]),
        words=folded(f"{prompt[:_MAX_WORDS]}\n{model[:MAX_PROMPT]}\n{path.name}"),
    )


def content_of(path: Path, size: int, metadata: ImageMetadata) -> str:
    """By which an image is known wherever its file goes: our own by its pixels, others by their ends."""
    pixels = metadata.other.get("pixels_sha256", "")
    if metadata.program == "mezzotint" and _SHA256.fullmatch(pixels):
        return f"pixels:{pixels}"
    digest = hashlib.sha256(str(size).encode())
    with open(path, "rb") as file:
        digest.update(file.read(_ENDS))
        file.seek(max(0, size - _ENDS), os.SEEK_SET)
        digest.update(file.read(_ENDS))
    return f"file:{digest.hexdigest()}"


def folded(text: str) -> str:
    """Text in which case, and ways of writing an accent, make no difference."""
    return _storable(unicodedata.normalize("NFC", text.casefold()))


def _storable(text: str) -> str:
    """Without halves of pairs, which SQLite does not take, and zeros, at which it stops."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "")
