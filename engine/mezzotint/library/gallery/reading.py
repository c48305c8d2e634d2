"""Read an image's index data from its file header."""

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

MAX_PROMPT = 2000  # characters shown in lists; the full prompt is read from the image
_MAX_WORDS = 10_000  # characters that are searchable
_ENDS = 64 << 10  # bytes at either end of a file that identify an image of another program
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFacts:
    """The data of an image in the index."""

    width: int
    height: int
    model: str
    seed: int | None
    content: str
    prompt: str
    words: str


def read_facts(path: Path, stamp: FileStamp) -> ImageFacts | None:
    """Read an image's index data; None if it is not a readable image. Never raises for bad file content."""
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
    """Return a key that survives moving the file: our images by their pixels, others by both ends of the file."""
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
    """Normalize text for search: case-folded, Unicode NFC."""
    return _storable(unicodedata.normalize("NFC", text.casefold()))


def _storable(text: str) -> str:
    """Replace lone surrogates, which SQLite rejects, and drop NUL characters, at which it stops."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "")
