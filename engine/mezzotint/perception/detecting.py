"""Find objects in images by RT-DETR (arXiv 2304.08069, 2407.17140)."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image
from torch import nn

from mezzotint.errors import ModelRefused
from mezzotint.perception.pixels import pixels_for
from mezzotint.perception.reading import open_network
from mezzotint.protocol import IsCancelled

SIDE = 640  # pixels of its input, whatever the image's shape: as it was trained
LEAST_SCORE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Detections:
    """Objects found, best first."""

    boxes: npt.NDArray[np.float32]  # `(n, 4)`: left, top, right, bottom in pixels, within the image
    scores: npt.NDArray[np.float32]  # `(n,)`, 0 to 1
    labels: tuple[str, ...]  # such as "person"


@dataclass(frozen=True, slots=True, kw_only=True)
class Detector:
    """A network that finds objects; it runs on the device that the network is on."""

    network: nn.Module
    labels: tuple[str, ...]  # of its classes
    side: int = SIDE

    def find(
        self, image: Image.Image, *, wanted: Collection[str] | None = None, least_score: float = LEAST_SCORE
    ) -> Detections:
        """Objects in an image "RGB" with at least this score; `wanted`: only of these labels, None: of all."""
        with torch.inference_mode():
            seen = self.network(pixel_values=self.pixels(image))
        logits, boxes = seen.logits[0].float().cpu(), seen.pred_boxes[0].float().cpu()
        if not bool(torch.isfinite(logits).all() and torch.isfinite(boxes).all()):
            raise ModelRefused("the detector makes NaN of this image: its weights are damaged")
        scores, index = torch.topk(logits.sigmoid().flatten(), len(logits))
        classes, rows = index % logits.shape[1], index // logits.shape[1]
        named = [self.labels[number] for number in classes.tolist()]
        kept = [
            place
            for place, score in enumerate(scores.tolist())
            if score >= least_score and (wanted is None or named[place] in wanted)
        ]
        return Detections(
            boxes=_corners(boxes[rows[kept]], image.size),
            scores=scores[kept].numpy(),
            labels=tuple(named[place] for place in kept),
        )

    def pixels(self, image: Image.Image) -> torch.Tensor:
        """The image as the network takes it: `(1, 3, side, side)` from 0 to 1, on its device."""
        resized = image.convert("RGB").resize((self.side, self.side), Image.Resampling.BILINEAR)
        return pixels_for(self.network, resized, normalized=False)


def open_detector(path: Path, cancelled: IsCancelled = lambda: False) -> Detector:
    """Read a detector's folder into RAM; raises ModelRefused, StorageError, Cancelled."""
    network = open_network(path, "detection", cancelled)
    config: Any = network.config
    names = config.id2label
    return Detector(network=network, labels=tuple(str(names.get(one, one)) for one in range(config.num_labels)))


def _corners(boxes: torch.Tensor, size: tuple[int, int]) -> npt.NDArray[np.float32]:
    """Boxes `(n, 4)` as centre and size, in parts of the image, as corners in pixels."""
    centres, halves = boxes[:, :2], boxes[:, 2:] / 2
    corners = torch.cat([centres - halves, centres + halves], dim=1).clamp(0, 1)
    return (corners * torch.tensor([*size, *size], dtype=torch.float32)).numpy()
