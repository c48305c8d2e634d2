"""Make a control image of an image file: from a request to a saved PNG."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import nn

from mezzotint import machine
from mezzotint.checkpoints.plain_text import plain
from mezzotint.control_protocol import ControlImageMade, ControlImageRequest
from mezzotint.errors import ImageRefused, UsageError
from mezzotint.images.naming import edited_path
from mezzotint.images.reading import read_image
from mezzotint.images.writing import pixels_sha256, write_png
from mezzotint.memory.device import open_device
from mezzotint.memory.machine.facts import MachineFacts
from mezzotint.memory.residency import Residency
from mezzotint.perception.preparing import ControlPreparation
from mezzotint.protocol import IsCancelled, OnEvent, Output, Progress

Facts = Callable[..., MachineFacts]
_SUFFIX = ".png"  # what is made by arithmetic and read as numbers takes no loss
_GUEST = "guest"


def make_control_image(
    request: ControlImageRequest,
    preparation: ControlPreparation,
    facts: Facts,
    on_event: OnEvent,
    cancelled: IsCancelled,
) -> ControlImageMade:
    """Make and save one. Raises ImageRefused, ModelRefused, UnknownModel, UsageError, Cancelled, StorageError."""
    path, how = Path(request.path), request.preprocess
    networks = preparation.networks(how)
    output = Output(path=request.output, overwrite=request.overwrite)
    target = edited_path(output, path, f"{path.stem}-{how}{_SUFFIX}")
    if target.suffix.lower() != _SUFFIX:
        raise UsageError(f"{plain(target.name, 200)}: control images are written without loss: name a {_SUFFIX} file")
    image = read_image(path)
    device = machine.choose_device(request.device, machine.devices())

    @contextmanager
    def host(network: nn.Module) -> Iterator[None]:
        with _hosted(network, device.id, facts):
            yield

    on_event(Progress(what="preparing the control image", done=0, total=1, unit="images"))
    try:
        made = preparation.prepared(image, how, host, cancelled)
    except ImageRefused as error:
        raise ImageRefused(f"{plain(path, 300)}: {error}") from None
    saved = write_png(made, target, overwrite=request.overwrite)
    return ControlImageMade(
        path=str(saved),
        width=made.width,
        height=made.height,
        sha256=pixels_sha256(made),
        preprocess=how,
        networks=tuple(map(str, networks)),
    )


@contextmanager
def _hosted(network: nn.Module, device_id: str, facts: Facts) -> Iterator[None]:
    """Context manager: a network is alone on a device, counted."""
    found = facts(device_id, vram_limit=None, ram_limit=None)
    cap = None if found.one_memory and not found.simulated else found.vram_bytes - found.context_bytes
    device = open_device(torch.device(device_id), cap=cap, simulated=found.simulated, reading=False)
    residency = Residency(device)
    try:
        residency.add(_GUEST, network, (), resident=0, slots=1)
        with residency.phase((_GUEST,)):
            yield
    finally:
        residency.clear()
        device.close()
