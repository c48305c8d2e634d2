"""Find the joints of people in an image by ViTPose (arXiv 2204.12484), each within a box."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image
from torch import nn

from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import ModelRefused
from mezzotint.perception.heatmaps import peaks
from mezzotint.perception.pixels import pixels_for
from mezzotint.perception.reading import open_network
from mezzotint.protocol import IsCancelled

JOINTS = 17  # of COCO: nose, eyes, ears, shoulders, elbows, wrists, hips, knees, ankles; left before right
_PADDING = 1.25  # times the box: what the network sees, as it was trained

Numbers = npt.NDArray[np.float32]
View = tuple[float, float, float, float]  # left, top, width, height in pixels of the image


@dataclass(frozen=True, slots=True, kw_only=True)
class Poses:
    """The joints of n people."""

    points: Numbers  # `(n, 17, 2)`: across and down, in pixels
    scores: Numbers  # `(n, 17)`, 0 to 1 or a little more


@dataclass(frozen=True, slots=True, kw_only=True)
class PoseEstimator:
    """A network that finds joints; it runs on the device that the network is on."""

    network: nn.Module
    size: tuple[int, int]  # height and width of its input in pixels
    mixed: bool = False  # it has experts for several data sets, of which COCO is the first

    def find(self, image: Image.Image, boxes: Numbers) -> Poses:
        """The poses of people in an image "RGB"; `boxes` `(n, 4)`: left, top, right, bottom in pixels."""
        points, scores = np.zeros((len(boxes), JOINTS, 2), np.float32), np.zeros((len(boxes), JOINTS), np.float32)
        for index, box in enumerate(boxes.tolist()):
            view = view_of(box, self.size[1] / self.size[0])
            heatmaps = self._heatmaps(image, view)
            height, width = heatmaps.shape[1:]
            found, scores[index] = peaks(heatmaps)
            # The outer pixels of heatmaps are on the view's edges, as in UDP (arXiv 1911.07524).
            points[index] = found * (view[2] / (width - 1), view[3] / (height - 1)) + view[:2]
        return Poses(points=points, scores=scores)

    def pixels(self, image: Image.Image, view: View) -> torch.Tensor:
        """A view of the image as the network takes it `(1, 3, h, w)`; beyond the image it is black."""
        seen = torch.from_numpy(np.array(image.convert("RGB"))).permute(2, 0, 1)[None].float()
        axes = []
        for start, length, sides, count in zip(view[:2], view[2:], image.size, self.size[::-1], strict=True):
            places = start + torch.linspace(0, 1, count) * length
            axes.append(2 * places / max(1, sides - 1) - 1)
        across, down = torch.meshgrid(axes[0], axes[1], indexing="xy")
        grid = torch.stack([across, down], dim=-1)[None]
        sampled = nn.functional.grid_sample(seen, grid, align_corners=True)[0].permute(1, 2, 0)
        return pixels_for(self.network, sampled.numpy(), normalized=True)

    def _heatmaps(self, image: Image.Image, view: View) -> Numbers:
        pixels = self.pixels(image, view)
        more = {"dataset_index": torch.zeros(1, dtype=torch.long, device=pixels.device)} if self.mixed else {}
        with torch.inference_mode():
            found: Numbers = self.network(pixel_values=pixels, **more).heatmaps[0].float().cpu().numpy()
        if not bool(np.isfinite(found).all()):
            raise ModelRefused("the pose network makes NaN of this image: its weights are damaged")
        return found


def open_pose_estimator(path: Path, cancelled: IsCancelled = lambda: False) -> PoseEstimator:
    """Read a pose network's folder into RAM; raises ModelRefused, StorageError, Cancelled."""
    network = open_network(path, "pose", cancelled)
    config: Any = network.config
    if config.num_labels != JOINTS:
        raise ModelRefused(
            f"{plain(path, 300)}: it finds {config.num_labels} joints; only those with COCO's {JOINTS} can be used"
        )
    height, width = config.backbone_config.image_size
    return PoseEstimator(network=network, size=(height, width), mixed=config.backbone_config.num_experts > 1)


def view_of(box: list[float], shape: float) -> View:
    """What the network sees of a box (left, top, right, bottom): more around it, with a width of `shape` heights."""
    width, height = box[2] - box[0], box[3] - box[1]
    width, height = max(width, shape * height) * _PADDING, max(height, width / shape) * _PADDING
    return (box[0] + box[2] - width) / 2, (box[1] + box[3] - height) / 2, width, height
