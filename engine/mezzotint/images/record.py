"""The record embedded in an image, so that it can be generated again."""

from dataclasses import dataclass

from mezzotint import codec
from mezzotint.library_protocol import UpscalerUsed
from mezzotint.protocol import FileUsed, GeneratedImage, GenerateRequest, ResolvedStage, ResolvedTransition


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageRecord:
    """The record of one image; `request` has every value resolved, a count of 1 and this image's seed."""

    schema_version: int
    program_version: str
    request: GenerateRequest
    image: GeneratedImage  # path: file name only; sha256: of the pixels
    stages: tuple[ResolvedStage, ...]
    transitions: tuple[ResolvedTransition, ...]
    images_used: tuple[FileUsed, ...]
    device: str
    device_name: str
    dtype: str
    attention: str
    threads: int
    versions: dict[str, str]
    recoveries: tuple[str, ...] = ()  # measures taken on memory shortage, some of which change pixels
    upscaled: tuple[UpscalerUsed, ...] = ()  # what enlarged the finished image, in order
    background_removed: FileUsed | None = None  # by which network


def record_to_json(record: ImageRecord) -> str:
    """The record as one line of ASCII JSON, safe for any text chunk's encoding."""
    return codec.to_json(record)


def record_from_json(text: str) -> ImageRecord:
    """Parse a record of this schema version; raises ProtocolError for anything else."""
    return codec.from_json(ImageRecord, text)
