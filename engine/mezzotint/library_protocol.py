"""The boundary's part about what is on disk: models, images, downloads. Standard library only."""

from dataclasses import dataclass, field
from typing import Literal

from mezzotint.memory_protocol import Quantization

DroppedKind = Literal["image", "model", "lora", "model_folder", "image_folder", "job", "unknown"]
Layout = Literal["rgb", "rgba"]
GalleryOrder = Literal["newest", "oldest", "best"]
Fits = Literal["yes", "slowly", "no", "unknown"]

# ---- words


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRequest:
    """How long is this prompt, for that model's text encoders?"""

    model: str  # catalog id or path
    prompt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCount:
    """A prompt's length for one text encoder."""

    encoder: str  # text_encoder, text_encoder_2
    tokens: int  # without those that mark beginning and end
    limit: int  # that the encoder reads at once, without those marks
    chunks: int  # that the prompt is read in; 1 where longer prompts are cut
    cut: int  # tokens beyond the limit that are not read
    honours_weights: bool  # whether (word:1.2) means anything to it
    more: bool = False  # the prompt is longer than can be read at all; the figures are of its beginning


# ---- images


@dataclass(frozen=True, slots=True, kw_only=True)
class PixelsRequest:
    """An image's pixels, in a file that needs no parsing."""

    path: str
    max_side: int | None = None  # pixels; larger images are made smaller. None: as they are


@dataclass(frozen=True, slots=True, kw_only=True)
class Pixels:
    """An image's pixels row by row, upright, in sRGB; the file is the reader's to delete."""

    path: str
    layout: Layout
    width: int
    height: int
    bytes_per_line: int
    image_width: int  # of the image itself, upright
    image_height: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ThumbnailRequest:
    """A small image of an image."""

    path: str
    side: int = 256  # pixels of its longer side


@dataclass(frozen=True, slots=True, kw_only=True)
class Thumbnail:
    """A JPEG of our own in the cache; it stays there."""

    path: str
    width: int
    height: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GalleryQuery:
    """Which images, in which order; every field narrows."""

    search: str = ""  # words that all stand in the prompt, the model's name or the file's name
    model: str | None = None
    rating: int = 0  # at least so many stars
    folder: str | None = None
    order: GalleryOrder = "newest"
    offset: int = 0
    limit: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class GalleryItem:
    """An image in the gallery."""

    id: int
    path: str
    width: int
    height: int
    bytes: int
    made: float  # seconds since 1970: when the file was written
    prompt: str
    model: str
    seed: int | None
    rating: int  # 0..5 stars


@dataclass(frozen=True, slots=True, kw_only=True)
class GalleryPage:
    """A part of the images that a query finds."""

    total: int
    items: tuple[GalleryItem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """Stars for images."""

    paths: tuple[str, ...]
    rating: int  # 0..5


@dataclass(frozen=True, slots=True, kw_only=True)
class GalleryScan:
    """Folders whose images the gallery is to hold; what is gone from them leaves it."""

    folders: tuple[str, ...]
    files: tuple[str, ...] = ()  # given: only these files of the folders are looked at, and nothing else changes


@dataclass(frozen=True, slots=True, kw_only=True)
class GalleryScanned:
    """What a scan changed."""

    added: int
    removed: int
    total: int
    unreadable: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """What something is that a person dropped on the window or named on a command line."""

    path: str
    kind: DroppedKind
    detail: str  # one line for people: what it is, or why it cannot be used


# ---- models


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPlace:
    """A folder that is searched for models."""

    path: str
    source: str  # bundled, models, folder, huggingface, a1111, comfyui
    own: bool  # named by the person, who can take it off again
    problem: str | None = None


HowItRuns = Literal["well", "slower", "not"]  # on a card: in little time and hardly delayed by streaming


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModelsRequest:
    """The curated list, for a machine with this one's RAM."""

    vram_bytes: int | None = None  # of its card; None: no card is known


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModel:
    """A model of the curated list."""

    id: str  # of the Hugging Face hub: owner/name
    title: str
    good_at: str
    licence: str
    licence_url: str
    family: str
    bytes: int  # to be fetched
    smallest_vram_bytes: int  # with which it can be run at all
    gated: bool  # asks for a token and an agreement on the hub
    runs: bool  # whether this version of Mezzotint can run it
    planned_as: str = ""  # the name by which it can be planned before it is there
    how_it_runs: HowItRuns | None = None  # on the card that was asked about


@dataclass(frozen=True, slots=True, kw_only=True)
class GetRequest:
    """A model to be fetched: a hub id, or an https link to a file."""

    source: str
    revision: str | None = None  # of the hub: branch, tag or commit
    sha256: str | None = None  # of a linked file; given, another content is refused
    folder: str | None = None  # None: the folder of the person's own models
    token: str | None = None  # None: that of the environment or the hub's own login
    endpoint: str | None = None  # None: HF_ENDPOINT or the hub


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What fetching would bring, and whether there is room."""

    source: str
    revision: str  # the commit; of a link: empty
    title: str
    licence: str
    files: tuple[str, ...]
    bytes: int  # of all files
    bytes_left: int  # still to be fetched
    free_bytes: int  # of the disk it would go to
    target: str  # folder or file that it would become
    problem: str | None  # why it cannot be fetched or used


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantizeRequest:
    """A quantized copy of a model."""

    model: str
    scheme: Quantization
    output: str | None = None  # a folder; None: beside the person's own models, named after both


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """Whether a model's files are what they should be."""

    model: str
    ok: bool
    files: tuple[str, ...]  # looked at
    problems: tuple[str, ...]
    checked_against: Literal["checksums", "structure"]  # sums that came with the files, or their own headers
    sums: dict[str, str] = field(default_factory=dict)  # file to sha256
