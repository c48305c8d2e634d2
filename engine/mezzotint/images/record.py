"""What an image carries inside itself, so that it can be made again."""

from dataclasses import dataclass

from mezzotint import codec
from mezzotint.protocol import FileUsed, GeneratedImage, GenerateRequest, ResolvedStage, ResolvedTransition


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageRecord:
    """One image: `request` has nothing left open, a count of 1 and this image's seed."""

    schema_version: int
    program_version: str
    request: GenerateRequest
    image: GeneratedImage  # path: the file name only; sha256: of the pixels
    stages: tuple[ResolvedStage, ...]
    transitions: tuple[ResolvedTransition, ...]
    images_used: tuple[FileUsed, ...]
    device: str
    device_name: str
    dtype: str
    attention: str
    threads: int
    versions: dict[str, str]
    recoveries: tuple[str, ...] = ()  # what was done when memory ran short, some of which changes pixels


def record_to_json(record: ImageRecord) -> str:
    """The record as one line of ASCII JSON, so that no text chunk's encoding can hurt it."""
    return codec.to_json(record)


def record_from_json(text: str) -> ImageRecord:
    """The record that an image of this schema version carries; anything else is a ProtocolError."""
    return codec.from_json(ImageRecord, text)
