"""Enlarge an image on a device, in tiles whose memory is planned before the first one runs."""

import copy
import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy
import torch
from PIL import Image
from torch import Tensor

from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import Cancelled, MezzotintError, ModelRefused, OutOfMemory
from mezzotint.memory.footprints.live_memory import counted
from mezzotint.memory.footprints.tracing import faked
from mezzotint.memory.interruption import cancellable
from mezzotint.memory.shortage import is_lost, is_shortage
from mezzotint.memory.tiling import in_tiles, starts
from mezzotint.protocol import IsCancelled
from mezzotint.upscaling.upscaler import Upscaler

TILES = (1024, 768, 512, 384, 256, 192, 128, 96, 64)  # sides in pixels of the small image
USUAL_TILE = 512
OVERLAP = 32  # pixels that neighbouring tiles share, where they are blended
_TRACED = (96, 192)
PLANNED_SHARE = 0.9  # of the room, to plan with: kernels need workspaces of their own


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """Bytes that a tile of an upscaler needs beside its weights: its input, its output and all between."""

    fixed: float
    per_pixel: float  # of the tile

    def of_tile(self, side: int, image: tuple[int, int]) -> int:
        """Bytes for a tile of an image of that size, which may be smaller than a tile."""
        return math.ceil(self.fixed + self.per_pixel * min(side, image[0]) * min(side, image[1]))

    def largest_tile(self, room: int, image: tuple[int, int]) -> int:
        """Side of the largest tile for which there are `room` bytes; the smallest if there is none."""
        return next((side for side in TILES if self.of_tile(side, image) <= room * PLANNED_SHARE), TILES[-1])


def traced_needs(upscaler: Upscaler, dtype: torch.dtype) -> Needs | None:
    """What tiles need, traced at two sizes without computing; None for a network that cannot be traced."""
    network = copy.deepcopy(upscaler.network)
    try:
        small, large = (_live_bytes(network, side, dtype) for side in _TRACED)
    except Exception:  # noqa: BLE001  a network whose shapes depend on values: its tiles are found by trying
        return None
    per_pixel = max(0.0, (large - small) / (_TRACED[1] ** 2 - _TRACED[0] ** 2))
    return Needs(fixed=max(0.0, small - per_pixel * _TRACED[0] ** 2), per_pixel=per_pixel)


def _live_bytes(network: torch.nn.Module, side: int, dtype: torch.dtype) -> int:
    with faked(network, dtype), counted() as memory:
        network(torch.empty((1, 3, side, side), dtype=dtype))
    return memory.peak


@dataclass(slots=True, kw_only=True)
class Enlarger:
    """An upscaler in its place on a device."""

    upscaler: Upscaler
    device: torch.device
    dtype: torch.dtype
    counting: Callable[[], AbstractContextManager[object]]  # around everything that allocates there
    tile: int
    on_tile: Callable[[int, int], None]  # tiles done, of how many
    cancelled: IsCancelled
    on_shortage: Callable[[int], None]  # the smaller tile that is tried next

    def enlarged(self, image: Image.Image) -> Image.Image:
        """The image, RGB, at the upscaler's scale.

        Raises OutOfMemory if not even the smallest tile fits, Cancelled between tiles, ModelRefused for NaN.
        """
        pixels = torch.from_numpy(numpy.array(image)).permute(2, 0, 1)[None].float() / 255
        padded = self._padded(pixels)
        while True:
            try:
                large = self._in_tiles(padded)
            except Exception as error:
                if not is_shortage(error):
                    raise
                self.tile = self._smaller(min(self.tile, *padded.shape[-2:]), error)
            else:
                break
            self.on_shortage(self.tile)
        scale = self.upscaler.scale
        return _image(large[..., : image.height * scale, : image.width * scale])

    def enlarged_to(self, image: Image.Image, size: tuple[int, int]) -> tuple[Image.Image, int]:
        """The image at a size of the same shape, and how often the upscaler ran; Lanczos makes up what it does not.

        It runs once at least, since others want its result at their size. Raises as `enlarged`.
        """
        scale = self.upscaler.scale
        times = 1 if scale == 1 else max(1, math.ceil(math.log(size[0] / image.width, scale) - 1e-6))
        for number in range(times):
            if number == times - 1 > 0:
                before = (math.ceil(size[0] / scale), math.ceil(size[1] / scale))
                image = image if image.size == before else image.resize(before, Image.Resampling.LANCZOS)
            image = self.enlarged(image)
        return (image if image.size == size else image.resize(size, Image.Resampling.LANCZOS)), times

    def _padded(self, pixels: Tensor) -> Tensor:
        """The pixels, continued to sizes that the upscaler can take."""
        multiple, least = self.upscaler.multiple, self.upscaler.smallest
        sides = [math.ceil(max(side, least) / multiple) * multiple for side in pixels.shape[-2:]]
        below, right = sides[0] - pixels.shape[-2], sides[1] - pixels.shape[-1]
        return torch.nn.functional.pad(pixels, (0, right, 0, below), mode="replicate")

    def _in_tiles(self, pixels: Tensor) -> Tensor:
        tile, overlap = self._tile_and_overlap()
        count = math.prod(len(starts(side, tile, overlap)) for side in pixels.shape[-2:])
        done = 0

        def make(part: Tensor) -> Tensor:
            nonlocal done
            if self.cancelled():
                raise Cancelled(f"stopped after {done} of {count} tiles")
            with self.counting():
                made = self._made(part.to(self.device, self.dtype))
                if not bool(torch.isfinite(made).all()):
                    raise ModelRefused(
                        f"the upscaler makes NaN of tile {done + 1} in {self.dtype}: its weights are damaged, or "
                        "overflow; try --dtype float32"
                    )
            done += 1
            self.on_tile(done, count)
            return made.float().cpu()

        with torch.inference_mode(), cancellable([self.upscaler.network], self.cancelled):
            return in_tiles(make, pixels, tile, takes=1, gives=self.upscaler.scale, overlap=overlap)

    def _made(self, part: Tensor) -> Tensor:
        """The network's output; its code is another project's, and its settings were read from the file."""
        height, width = part.shape[-2:]
        try:
            made: Tensor = self.upscaler.network(part)
            wanted = (1, 3, height * self.upscaler.scale, width * self.upscaler.scale)
            if made.shape != wanted:
                raise ValueError(f"it makes {tuple(made.shape)} instead of {wanted}")
        except Exception as error:
            if isinstance(error, MezzotintError) or is_shortage(error) or is_lost(error):
                raise
            why = plain(error, 200) or type(error).__name__
            raise ModelRefused(
                f"the upscaler cannot enlarge a tile of {width}x{height} pixels ({why}): its file is damaged, or of an "
                "unknown kind; use another one"
            ) from error
        return made

    def _tile_and_overlap(self) -> tuple[int, int]:
        multiple = self.upscaler.multiple
        tile = max(math.ceil(self.upscaler.smallest / multiple), self.tile // multiple) * multiple
        return tile, min(OVERLAP, tile // 4)

    def _smaller(self, side: int, error: Exception) -> int:
        found = next((each for each in TILES if each < side), None)
        if found is None:
            raise OutOfMemory(
                f"not even a tile of {side} pixels fits: {str(error).partition(chr(10))[0][:200]}; use a smaller "
                "upscaler, or --device cpu"
            ) from None
        return found


def _image(pixels: Tensor) -> Image.Image:
    """Pixels `(1, 3, h, w)` in 0..1 as an image."""
    array = (pixels[0].clamp(0, 1) * 255).round().to(torch.uint8).permute(1, 2, 0)
    return Image.fromarray(array.contiguous().numpy())
