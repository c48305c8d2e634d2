"""Enlarge image files: from a request to a saved file with everything that the first one said about itself."""

import math
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
from PIL import Image

from mezzotint import machine, paths
from mezzotint.checkpoints.fingerprint import fingerprint
from mezzotint.errors import UsageError
from mezzotint.images.edited import read_source, write_edited
from mezzotint.images.naming import enlarged_path
from mezzotint.images.record import ImageRecord
from mezzotint.images.transparency import colours_of_all, opacity_of, with_opacity
from mezzotint.images.writing import pixels_sha256
from mezzotint.library_protocol import MOST_SCALE, UpscaledImage, UpscaleRequest, UpscalerUsed
from mezzotint.memory.device import Device, open_device
from mezzotint.memory.machine.facts import MachineFacts
from mezzotint.memory.residency import Residency
from mezzotint.protocol import DeviceInfo, Dtype, IsCancelled, Notice, OnEvent, PhaseMemory, Progress
from mezzotint.upscaling.enlarging import TILES, USUAL_TILE, Enlarger, traced_needs
from mezzotint.upscaling.reading import open_upscaler
from mezzotint.upscaling.upscaler import Upscaler

LARGEST_AREA = 2**28  # pixels of a result: 16384 x 16384 needs 3 GB of RAM
Facts = Callable[..., MachineFacts]
_DTYPES: dict[torch.dtype, Dtype] = {torch.float32: "float32", torch.bfloat16: "bfloat16", torch.float16: "float16"}


class UpscaleJob:
    """One image file to be enlarged."""

    def __init__(
        self, request: UpscaleRequest, file: Path, facts: Facts, on_event: OnEvent, cancelled: IsCancelled
    ) -> None:
        """`file`: the upscaler's."""
        self._request, self._file, self._facts = request, file, facts
        self._on_event, self._cancelled = on_event, cancelled
        self._notices: list[str] = []

    def run(self) -> UpscaledImage:
        """Enlarge and save. Raises ImageRefused, ModelRefused, UsageError, OutOfMemory, Cancelled, StorageError."""
        _check(self._request)
        source = read_source(Path(self._request.path)).take(partial(self._notice, "input_not_used"))
        upscaler = open_upscaler(self._file, self._cancelled)
        scale = float(upscaler.scale if self._request.scale is None else self._request.scale)
        size = (round(source.image.width * scale), round(source.image.height * scale))
        _check_area(source.image.size, size)
        target = enlarged_path(self._request.output, source.path, scale)
        device = machine.choose_device(self._request.device, machine.devices())
        dtype = upscaler.dtype(getattr(torch, machine.choose_dtype(self._request.dtype, device)))
        image, passes, enlarger, memory = self._enlarge(upscaler, colours_of_all(source.image), size, device, dtype)
        image = with_opacity(image, opacity_of(source.image))
        used = self._used(upscaler, dtype, image.size)

        def noted(record: ImageRecord) -> ImageRecord:
            return replace(record, upscaled=(*record.upscaled, used))

        path = write_edited(image, target, source, noted, partial(self._notice, "not_kept"), self._request.output)
        return UpscaledImage(
            path=str(path),
            width=image.width,
            height=image.height,
            sha256=pixels_sha256(image),
            upscaler=used,
            passes=passes,
            tile=enlarger.tile,
            device=device.id,
            memory=memory,
            notices=tuple(self._notices),
        )

    def _enlarge(
        self, upscaler: Upscaler, image: Image.Image, size: tuple[int, int], info: DeviceInfo, dtype: torch.dtype
    ) -> tuple[Image.Image, int, Enlarger, PhaseMemory | None]:
        facts = self._facts(info.id, vram_limit=self._request.vram_limit_bytes)
        cap = None if facts.one_memory and not facts.simulated else facts.vram_bytes - facts.context_bytes
        device = open_device(torch.device(info.id), cap=cap, simulated=facts.simulated, reading=False)
        upscaler.network.to(dtype)
        with ExitStack() as stack:
            stack.callback(device.close)
            _on_device(stack, device, upscaler)
            room = None if cap is None else min(cap, facts.free_vram_bytes) - device.ledger.in_use
            tile, predicted = self._planned(upscaler, dtype, room, image.size)
            enlarger = self._enlarger(upscaler, device, dtype, tile)
            made, passes = enlarger.enlarged_to(image, size)
            memory = _measured(device, predicted)
        return made, passes, enlarger, memory

    def _planned(
        self, upscaler: Upscaler, dtype: torch.dtype, room: int | None, size: tuple[int, int]
    ) -> tuple[int, int]:
        """The tile to begin with, and the bytes that it is expected to need beside weights; 0: not known."""
        needs = traced_needs(upscaler, dtype)
        asked = self._request.tile
        if needs is None:
            return asked or USUAL_TILE, 0
        tile = asked or (USUAL_TILE if room is None else needs.largest_tile(room, size))
        return tile, needs.of_tile(tile, size)

    def _enlarger(self, upscaler: Upscaler, device: Device, dtype: torch.dtype, tile: int) -> Enlarger:
        def on_tile(done: int, total: int) -> None:
            self._on_event(Progress(what="upscaling", done=done, total=total, unit="tiles"))

        def on_shortage(smaller: int) -> None:
            self._notice("memory_short", f"memory ran short, and the image is enlarged in tiles of {smaller} pixels")

        return Enlarger(
            upscaler=upscaler,
            device=device.device,
            dtype=dtype,
            counting=device.counting,
            tile=tile,
            on_tile=on_tile,
            cancelled=self._cancelled,
            on_shortage=on_shortage,
        )

    def _notice(self, code: str, message: str) -> None:
        self._notices.append(message)
        self._on_event(Notice(code=code, message=message))

    def _used(self, upscaler: Upscaler, dtype: torch.dtype, size: tuple[int, int]) -> UpscalerUsed:
        file = fingerprint(self._file, paths.cache_folder() / "fingerprints.json", cancelled=self._cancelled)
        return UpscalerUsed(
            path=file.path,
            sha256=file.sha256,
            architecture=upscaler.architecture,
            scale=upscaler.scale,
            dtype=_DTYPES[dtype],
            width=size[0],
            height=size[1],
        )


def _on_device(stack: ExitStack, device: Device, upscaler: Upscaler) -> None:
    """Bring the network to the device, counted; it leaves when the stack is closed."""
    residency = Residency(device)
    residency.add("upscaler", upscaler.network, (), resident=0, slots=1)
    stack.callback(residency.clear)
    with residency.phase(("upscaler",)):
        pass


def _measured(device: Device, predicted: int) -> PhaseMemory | None:
    if not device.measures or not predicted:
        return None
    return PhaseMemory(
        name="upscale",
        predicted_bytes=predicted + device.ledger.in_use,
        measured_bytes=device.peak_bytes(),
        held_bytes=device.held_bytes(),
    )


def _check(request: UpscaleRequest) -> None:
    if request.scale is not None and not 1 <= request.scale <= MOST_SCALE:
        raise UsageError(f"the scale is {str(request.scale)[:20]}; it must be from 1 to {MOST_SCALE:g}")
    if request.tile is not None and not TILES[-1] <= request.tile <= TILES[0]:
        raise UsageError(f"the tile is {str(request.tile)[:20]} pixels; it must be from {TILES[-1]} to {TILES[0]}")


def _check_area(before: tuple[int, int], after: tuple[int, int]) -> None:
    if math.prod(after) > LARGEST_AREA:
        sizes = f"{before[0]}x{before[1]} would become {after[0]}x{after[1]}"
        raise UsageError(f"{sizes}; at most {LARGEST_AREA // 2**20} megapixels are possible: use a smaller --scale")
