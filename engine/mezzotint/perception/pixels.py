"""Images as networks that look at them take them."""

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image
from torch import nn

# Of ImageNet, by which backbones are trained: arXiv 1512.03385's code and all after it.
_MEAN = (0.485, 0.456, 0.406)
_DEVIATION = (0.229, 0.224, 0.225)


def pixels_for(network: nn.Module, image: Image.Image | npt.NDArray[np.float32], *, normalized: bool) -> torch.Tensor:
    """An image "RGB" or pixels `(h, w, 3)` from 0 to 255 as `(1, 3, h, w)` on a network's device.

    From 0 to 1, or with ImageNet's mean and deviation.
    """
    values = (np.asarray(image, dtype=np.float64) * (1 / 255)).astype(np.float32)
    if normalized:
        values = np.divide(values - np.array(_MEAN, np.float32), np.array(_DEVIATION, np.float32))
    return torch.from_numpy(values).permute(2, 0, 1)[None].contiguous().to(next(network.parameters()).device)
