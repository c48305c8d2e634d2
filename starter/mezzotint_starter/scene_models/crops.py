"""Crops of composed scenes, most of them at things: there is more to learn than in the scenery."""

import random

import torch
from torch import Tensor

from mezzotint_starter.scene_models.networks import IMAGE_SIDE
from mezzotint_starter.scene_models.source import SceneSource, image_tensor
from mezzotint_starter.scenes.painting import Box

_AT_THINGS = 0.75


def crop_batch(source: SceneSource, rng: random.Random, *, side: int, count: int, each: int) -> Tensor:
    """Return `count` crops (count, 3, side, side) of new training scenes, `each` of one scene."""
    crops: list[Tensor] = []
    while len(crops) < count:
        image, boxes = source.painter.painted(source.training(rng.getrandbits(40)))
        pixels = image_tensor(image)
        crops += [_crop(pixels, boxes, side, rng) for _ in range(min(each, count - len(crops)))]
    return torch.stack(crops)


def _crop(pixels: Tensor, boxes: list[Box], side: int, rng: random.Random) -> Tensor:
    x, y = rng.randrange(IMAGE_SIDE), rng.randrange(IMAGE_SIDE)
    if boxes and rng.random() < _AT_THINGS:
        box = rng.choice(boxes)
        x, y = box.left + rng.randrange(box.width), box.top + rng.randrange(box.height)
    left, top = (min(max(at - side // 2, 0), IMAGE_SIDE - side) for at in (x, y))
    return pixels[:, top : top + side, left : left + side]
