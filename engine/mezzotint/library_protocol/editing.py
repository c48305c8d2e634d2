"""Protocol types for edited copies of image files: enlarged, or without background. Standard library only."""

from dataclasses import dataclass, field

from mezzotint.memory_protocol import PhaseMemory
from mezzotint.request_protocol import Dtype, Output

BUNDLED_UPSCALER = "starter-2x"
MOST_SCALE = 16.0  # of each side


@dataclass(frozen=True, slots=True, kw_only=True)
class UpscaleRequest:
    """Enlarge an image file by an upscaler."""

    path: str
    upscaler: str = BUNDLED_UPSCALER  # a name that `mezzotint upscale --list` shows, or a file
    scale: float | None = None  # of each side, 1 to MOST_SCALE; None: the upscaler's own
    tile: int | None = None  # side in pixels of the tiles of the small image; None: as memory allows
    device: str = "auto"
    dtype: Dtype = "auto"
    vram_limit_bytes: int | None = None  # on a CPU: of a simulated GPU
    output: Output = field(default_factory=Output)  # without a path: next to the image


@dataclass(frozen=True, slots=True, kw_only=True)
class UpscalerUsed:
    """An upscaler, and what it made of an image."""

    path: str
    sha256: str  # of the file
    architecture: str
    scale: int  # its own
    dtype: Dtype
    width: int  # pixels of what was made
    height: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UpscaledImage:
    """An enlarged image on disk."""

    path: str
    width: int
    height: int
    sha256: str  # of the pixels, row by row, RGB
    upscaler: UpscalerUsed
    passes: int  # of the upscaler, each at its own scale
    tile: int  # side in pixels of the tiles of the small image
    device: str
    memory: PhaseMemory | None  # planned and measured; None where the device does not measure
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundRequest:
    """Make the background of an image file transparent."""

    path: str
    model: str | None = None  # a name that `mezzotint remove-background --list` shows, or a file; None: the first
    output: Output = field(default_factory=Output)  # without a path: next to the image


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundRemoved:
    """An image with a transparent background on disk."""

    path: str
    width: int
    height: int
    sha256: str  # of the pixels, row by row, RGB
    model: str  # the network's file
    model_sha256: str
    front: float  # part of the image that is opaque, 0 to 1
    notices: tuple[str, ...] = ()
