"""Make control images by networks: depth maps and poses; everything else is plain arithmetic."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol, TypeVar

import torch
from PIL import Image
from torch import nn

from mezzotint.catalog.looking import PERSON, PREPARING, Purpose
from mezzotint.checkpoints.looking_folder import purpose_of
from mezzotint.errors import ImageRefused
from mezzotint.images.control.methods import METHODS
from mezzotint.images.control.skeleton import drawn_skeletons
from mezzotint.memory.footprints.live_memory import counted
from mezzotint.memory.footprints.tracing import faked
from mezzotint.memory.interruption import cancellable
from mezzotint.memory.shortage import is_device_shortage
from mezzotint.perception.depth import SIDE as DEPTH_SIDE
from mezzotint.perception.depth import open_depth_estimator
from mezzotint.perception.detecting import open_detector
from mezzotint.perception.poses import open_pose_estimator
from mezzotint.perception.reading import describe
from mezzotint.protocol import IsCancelled, Preprocess

T = TypeVar("T")

Host = Callable[[nn.Module], AbstractContextManager[object]]  # inside, the network is on its device
_MOST_PEOPLE = 20
_KEPT = 8  # control images
_UNTRACED = 256 * 2**20  # bytes that a network needs for an image if that cannot be traced, such as a detector


class FindNetwork(Protocol):
    """Finds the folder of a network; raises UnknownModel if there is none."""

    def __call__(self, purpose: Purpose, label: str | None = None) -> Path:
        """One for a purpose; of detectors, one that finds what has this label."""


class ControlPreparation:
    """Makes control images. The latest are kept, since all images of a queue may follow the same one."""

    def __init__(self, find: FindNetwork) -> None:
        self._find = find
        self._made: OrderedDict[object, Image.Image] = OrderedDict()

    def networks(self, how: Preprocess) -> tuple[Path, ...]:
        """The folders of the networks that it takes; raises UnknownModel with the command that gets one."""
        return tuple(self._find(purpose, label) for purpose, label in PREPARING.get(how, ()))

    def needed_bytes(self, how: Preprocess) -> int:
        """Bytes that its networks need on the device, one at a time: weights, and what an image of usual shape needs.

        Raises UnknownModel, ModelRefused.
        """
        return max((_needed(path) for path in self.networks(how)), default=0)

    def prepared(self, image: Image.Image, how: Preprocess, host: Host, cancelled: IsCancelled) -> Image.Image:
        """The control image "RGB" of an image "RGB", of the same size.

        Raises UnknownModel, ModelRefused, Cancelled; ImageRefused for the pose of an image without people.
        """
        if how in METHODS:
            return METHODS[how](image)
        networks = self.networks(how)
        key = how, networks, image.size, hashlib.sha256(image.tobytes()).digest()
        if key not in self._made:
            make = _depth if how == "depth" else _pose
            self._made[key] = make(image, networks, host, cancelled)
        self._made.move_to_end(key)
        while len(self._made) > _KEPT:
            self._made.popitem(last=False)
        return self._made[key]


def _needed(path: Path) -> int:
    purpose = purpose_of(path)
    found = describe(path, purpose)
    network = found.empty()
    weights = sum(each.numel() * 4 for each in (*network.parameters(), *network.buffers()))
    sides = found.config.backbone_config.image_size if purpose == "pose" else (DEPTH_SIDE, 2 * DEPTH_SIDE)
    try:
        with faked(network, torch.float32), counted() as memory:
            network(pixel_values=torch.empty((1, 3, *sides)))
    except Exception:  # noqa: BLE001  what detectors attend to depends on values, which tracing does not know
        return weights + _UNTRACED
    return weights + memory.peak


def _depth(image: Image.Image, networks: Sequence[Path], host: Host, cancelled: IsCancelled) -> Image.Image:
    estimator = open_depth_estimator(networks[0], cancelled)
    return _asked(estimator.network, host, cancelled, lambda: estimator.depth_map(image)).convert("RGB")


def _pose(image: Image.Image, networks: Sequence[Path], host: Host, cancelled: IsCancelled) -> Image.Image:
    detector = open_detector(networks[0], cancelled)
    boxes = _asked(detector.network, host, cancelled, lambda: detector.find(image, wanted={PERSON})).boxes[
        :_MOST_PEOPLE
    ]
    if not len(boxes):
        raise ImageRefused(
            "nobody is found in the image, so there is no pose: give one with people, or a drawn skeleton with "
            "preprocess=none"
        )
    estimator = open_pose_estimator(networks[1], cancelled)
    found = _asked(estimator.network, host, cancelled, lambda: estimator.find(image, boxes))
    return drawn_skeletons(image.size, found.points, found.scores)


def _asked(network: nn.Module, host: Host, cancelled: IsCancelled, ask: Callable[[], T]) -> T:
    """Ask a network on its device, or on the CPU if there is no room for it: it is small."""
    try:
        with host(network), cancellable([network], cancelled):
            return ask()
    except Exception as error:
        if not is_device_shortage(error):
            raise
    network.to("cpu")
    with cancellable([network], cancelled):
        return ask()
