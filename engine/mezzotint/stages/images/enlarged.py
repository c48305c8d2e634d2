"""Images enlarged by upscalers within a job: an init image, and a decoded one before the second pass (hires fix)."""

from collections.abc import Iterable
from pathlib import Path

import torch
from PIL import Image

from mezzotint.families.family import LoadedModel
from mezzotint.images.canvas import fit
from mezzotint.protocol import FileUsed, IsCancelled
from mezzotint.stages.models.placement import Placement
from mezzotint.upscaling.enlarging import PLANNED_SHARE, USUAL_TILE, Enlarger, traced_needs
from mezzotint.upscaling.reading import open_upscaler
from mezzotint.upscaling.upscaler import Upscaler

_PLANNED_TILE = 256  # pixels along a side, which the plan has room for at least


def upscaling_bytes(files: Iterable[FileUsed], dtype: torch.dtype) -> int:
    """Bytes that upscalers need on the device, one at a time: weights, and a tile."""
    return max((_needed(open_upscaler(Path(file.path)), dtype) for file in files), default=0)


def _needed(upscaler: Upscaler, dtype: torch.dtype) -> int:
    dtype = upscaler.dtype(dtype)
    needs, side = traced_needs(upscaler, dtype), (_PLANNED_TILE, _PLANNED_TILE)
    tile = 0 if needs is None else needs.of_tile(_PLANNED_TILE, side)
    numbers: int = sum(each.numel() for each in upscaler.network.state_dict().values())
    return numbers * dtype.itemsize + round(tile / PLANNED_SHARE)


class Enlarging:
    """Enlarges images on the device of a job's models."""

    def __init__(self, placement: Placement, cancelled: IsCancelled) -> None:
        self._placement, self._cancelled = placement, cancelled
        self._opened: dict[str, Upscaler] = {}

    def fitted(self, image: Image.Image, size: tuple[int, int], file: FileUsed, model: LoadedModel) -> Image.Image:
        """The image at a size, like `fit`, enlarged by the upscaler if it is smaller; on the model's device.

        Raises ModelRefused, OutOfMemory, Cancelled.
        """
        scale = max(side / own for side, own in zip(size, image.size, strict=True))
        if scale > 1:
            larger = (round(image.width * scale), round(image.height * scale))
            image = self._enlarged(image.convert("RGB"), larger, file, model)
        return fit(image, *size, Image.Resampling.LANCZOS)

    def _enlarged(self, image: Image.Image, size: tuple[int, int], file: FileUsed, model: LoadedModel) -> Image.Image:
        upscaler = self._upscaler(file)
        dtype = upscaler.dtype(model.dtype)
        upscaler.network.to(dtype)
        with self._placement.hosting(upscaler.network, model.device) as guest:
            needs = None if guest.room is None else traced_needs(upscaler, dtype)
            enlarger = Enlarger(
                upscaler=upscaler,
                device=model.device,
                dtype=dtype,
                counting=guest.counting,
                tile=USUAL_TILE if needs is None else needs.largest_tile(guest.room or 0, image.size),
                on_tile=lambda *_: None,
                cancelled=self._cancelled,
                on_shortage=lambda side: self._placement.took(f"it works in tiles of {side} pixels", "the upscaler"),
            )
            return enlarger.enlarged_to(image, size)[0]

    def _upscaler(self, file: FileUsed) -> Upscaler:
        if file.path not in self._opened:
            self._opened[file.path] = open_upscaler(Path(file.path), self._cancelled)
        return self._opened[file.path]
