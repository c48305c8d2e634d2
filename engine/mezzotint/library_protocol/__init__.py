"""Protocol types for the library service: models, images, downloads. Standard library only."""

from dataclasses import dataclass, field
from typing import Literal

from mezzotint.library_protocol.editing import BUNDLED_UPSCALER as BUNDLED_UPSCALER
from mezzotint.library_protocol.editing import MOST_SCALE as MOST_SCALE
from mezzotint.library_protocol.editing import BackgroundRemoved as BackgroundRemoved
from mezzotint.library_protocol.editing import BackgroundRequest as BackgroundRequest
from mezzotint.library_protocol.editing import UpscaledImage as UpscaledImage
from mezzotint.library_protocol.editing import UpscaleRequest as UpscaleRequest
from mezzotint.library_protocol.editing import UpscalerUsed as UpscalerUsed
from mezzotint.memory_protocol import Quantization
from mezzotint.request_protocol import GenerateRequest

DroppedKind = Literal["image", "model", "lora", "model_folder", "image_folder", "job", "unknown"]
Layout = Literal["rgb", "rgba"]
GalleryOrder = Literal["newest", "oldest", "best", "similar"]
LabelKind = Literal["board", "tag"]
Fits = Literal["yes", "slowly", "no", "unknown"]

# ---- prompts


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRequest:
    """Request for a prompt's token counts with a model's text encoders."""

    model: str  # catalog id or path
    prompt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCount:
    """A prompt's length for one text encoder."""

    encoder: str  # text_encoder, text_encoder_2
    tokens: int  # without begin and end tokens
    limit: int  # tokens per chunk, without begin and end tokens
    chunks: int  # chunks of the prompt; 1 if the encoder truncates longer prompts
    cut: int  # tokens beyond the limit, which are truncated
    honours_weights: bool  # whether it supports (word:1.2)
    more: bool = False  # the prompt exceeds the maximum; counts are for its beginning
    parts: tuple[int, ...] = ()  # tokens of each chunk, if there are several


CompletionKind = Literal["tag", "lora", "embedding", "wildcard", "style"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionQuery:
    """What is being typed in a prompt."""

    word: str
    kinds: tuple[CompletionKind, ...]
    tag_file: str = ""  # CSV of A1111's tag completion; empty: none
    wildcards: str = ""  # folder; empty: none
    limit: int = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """Something that a word could be completed to, best first."""

    kind: CompletionKind
    text: str  # the tag as in its file; a name without suffix
    detail: str = ""  # of a tag how often it occurs, and the alias that was typed
    path: str = ""  # of a LoRA or an embedding


# ---- images


@dataclass(frozen=True, slots=True, kw_only=True)
class PixelsRequest:
    """Request for an image's raw pixels in a file."""

    path: str
    max_side: int | None = None  # pixels; larger images are downscaled. None: full size


@dataclass(frozen=True, slots=True, kw_only=True)
class Pixels:
    """Raw pixels row by row, upright, in sRGB; the reader must delete the file."""

    path: str
    layout: Layout
    width: int
    height: int
    bytes_per_line: int
    image_width: int  # of the original image, upright
    image_height: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ThumbnailRequest:
    """Request for a thumbnail."""

    path: str
    side: int = 256  # pixels of the longer side


@dataclass(frozen=True, slots=True, kw_only=True)
class Thumbnail:
    """A thumbnail as a JPEG in the cache; the reader must not delete it."""

    path: str
    width: int
    height: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GalleryQuery:
    """Query for gallery images; conditions are combined with AND."""

    # Words that must all occur in the prompt, the model's name or the file's name; tag:, board:, model:, stars:
    search: str = ""
    model: str | None = None
    rating: int = 0  # minimum stars
    folder: str | None = None
    board: str | None = None  # its name; a smart one has what its search finds
    order: GalleryOrder = "newest"
    similar_to: str | None = None  # the path of an image, for the order `similar`
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
    made: float  # mtime, seconds since 1970
    prompt: str
    model: str
    seed: int | None
    rating: int  # 0..5 stars
    boards: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GalleryPage:
    """A page of query results."""

    total: int
    items: tuple[GalleryItem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """Set the rating of images."""

    paths: tuple[str, ...]
    rating: int  # 0..5


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """A named collection of images; a smart one has what its search finds."""

    name: str
    search: str | None
    count: int  # images that were put on it


@dataclass(frozen=True, slots=True, kw_only=True)
class GalleryTags:
    """All boards, and the tags that images have, sorted."""

    boards: tuple[Board, ...]
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardEdit:
    """Create a board or change its search; or rename or remove it."""

    name: str
    search: str | None = None  # makes it smart
    rename: str | None = None
    remove: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelling:
    """Put images on boards or take them off, or add and remove tags."""

    paths: tuple[str, ...]
    kind: LabelKind
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GalleryScan:
    """Folders to index for the gallery; images missing from them are removed from it."""

    folders: tuple[str, ...]
    files: tuple[str, ...] = ()  # if given, only these files are indexed, and nothing else changes


@dataclass(frozen=True, slots=True, kw_only=True)
class GalleryScanned:
    """The changes made by a scan."""

    added: int
    removed: int
    total: int
    unreadable: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """The kind of a dropped or command line path."""

    path: str
    kind: DroppedKind
    detail: str  # one line for the user: what it is, or why it cannot be used


# ---- models


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPlace:
    """A folder that is scanned for models."""

    path: str
    source: str  # bundled, models, folder, huggingface, a1111, comfyui
    own: bool  # added by the user, who can remove it
    problem: str | None = None


HowItRuns = Literal["well", "slower", "not"]  # on a GPU: fast, and hardly slowed by streaming


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModelsRequest:
    """Request for the curated model list, for this machine's RAM."""

    vram_bytes: int | None = None  # of the GPU; None: unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModel:
    """A model of the curated list."""

    id: str  # Hugging Face hub id: owner/name
    title: str
    good_at: str
    licence: str
    licence_url: str
    family: str
    bytes: int  # download size
    smallest_vram_bytes: int  # minimum VRAM to run it at all
    gated: bool  # the hub requires a token and an agreement
    runs: bool  # whether this version of Mezzotint supports it
    planned_as: str = ""  # the name for planning it before it is downloaded
    how_it_runs: HowItRuns | None = None  # on the GPU in the request


@dataclass(frozen=True, slots=True, kw_only=True)
class GetRequest:
    """Request to download a model: a hub id, or an https link to a file."""

    source: str
    revision: str | None = None  # hub branch, tag or commit
    sha256: str | None = None  # of a linked file; if given, other content is refused
    folder: str | None = None  # None: the user's models folder
    token: str | None = None  # None: from the environment or the hub login
    endpoint: str | None = None  # None: HF_ENDPOINT or the hub


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What a download would fetch, and whether there is room."""

    source: str
    revision: str  # commit; empty for a link
    title: str
    licence: str
    files: tuple[str, ...]
    bytes: int  # of all files
    bytes_left: int  # bytes still to download
    free_bytes: int  # on the target disk
    target: str  # target folder or file
    problem: str | None  # reason if it cannot be downloaded or used


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantizeRequest:
    """Request for a quantized copy of a model."""

    model: str
    scheme: Quantization
    target_vram_bytes: int | None = None  # of scheme auto: the card that is to hold the model
    int8_convolutions: bool = False  # of scheme int8: the 3x3 convolutions of a U-Net see 8 bits, too
    output: str | None = None  # folder; None: in the user's models folder, named after model and scheme


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """The result of verifying a model's files."""

    model: str
    ok: bool
    files: tuple[str, ...]  # checked files
    problems: tuple[str, ...]
    checked_against: Literal["checksums", "structure"]  # published checksums, or the files' own headers
    sums: dict[str, str] = field(default_factory=dict)  # sha256 by file


# ---- cards

MOST_CARD_WORDS = 100  # tags, or trigger words
MOST_CARD_TEXT = 4000  # characters of a description or note


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """What is known of a model or LoRA file; all of it is text for people."""

    path: str
    name: str  # of the file, without suffix
    bytes: int = 0
    title: str = ""  # by its maker
    base: str = ""  # the kind of model that it is, or that a LoRA is for
    families: tuple[str, ...] = ()  # that a LoRA may be for; empty if unknown
    tags: tuple[str, ...] = ()
    trigger_words: tuple[str, ...] = ()  # each may be several words
    weight: float | None = None  # recommended for a LoRA
    description: str = ""
    notes: str = ""  # the user's
    picture: str | None = None  # an image file
    problem: str = ""  # why a LoRA cannot be used


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveCard:
    """Request to store what the user says of a file; tags and trigger words replace those found."""

    path: str
    tags: tuple[str, ...]
    trigger_words: tuple[str, ...]
    notes: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CardPicture:
    """Request to use a small copy of an image as a file's picture; None: that of its maker."""

    path: str
    picture: str | None


# ---- styles

MOST_STYLE_TEXT = 8192  # characters
MOST_STYLE_NAME = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """A named set of options; those that a request sets itself come first."""

    name: str
    prompt: str = ""  # {prompt} stands for the request's; without it, added to that
    negative: str = ""  # likewise
    settings: dict[str, object] = field(default_factory=dict)  # other options, as in a job file
    own: bool = True  # False: bundled
    picture: str | None = None  # an image file


@dataclass(frozen=True, slots=True, kw_only=True)
class Styles:
    """All styles, the user's first, and why files could not be read."""

    styles: tuple[Style, ...]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveStyle:
    """Request to save a style, with a small copy of its picture."""

    style: Style
    replaces: bool = False  # False: an existing style of that name is an error


@dataclass(frozen=True, slots=True, kw_only=True)
class StyleName:
    """Request about one style."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyStyle:
    """Request to apply everything but the texts of a style to a request, of which it replaces what it sets."""

    request: GenerateRequest
    style: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StylesImported:
    """What an import did."""

    added: tuple[str, ...]  # names
    renamed: dict[str, str] = field(default_factory=dict)  # taken names, and the ones used instead
    unchanged: int = 0  # styles that were there already
    empty: int = 0  # entries without any text, which are headings
    notices: tuple[str, ...] = ()  # what of the file was not used
