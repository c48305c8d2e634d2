"""The conditioning of several images as one, and of some of them taken out again."""

from collections.abc import Hashable, Sequence
from dataclasses import replace

import torch

from mezzotint.families.family import Conditioning


def shape_of(conditioning: Conditioning) -> Hashable:
    """Equal for what can be joined: longer words, or ones whose padding is told otherwise, make other tensors."""
    tensors = tuple((name, each.shape, each.dtype) for name, each in sorted(conditioning.tensors.items()))
    return conditioning.guided, conditioning.sampling, tensors


def joined(conditionings: Sequence[Conditioning]) -> Conditioning:
    """That of n images, whose tensors are of one shape: all negative prompts first, then all prompts."""
    first = conditionings[0]
    if len(conditionings) == 1:
        return first
    halves = 2 if first.guided else 1
    tensors = {
        name: torch.cat([each.tensors[name].chunk(halves)[half] for half in range(halves) for each in conditionings])
        for name in first.tensors
    }
    return replace(first, tensors=tensors)


def part_of(conditioning: Conditioning, part: slice, images: int) -> Conditioning:
    """That of some of the images that it was joined from."""

    def rows(tensor: torch.Tensor) -> torch.Tensor:
        if not conditioning.guided:
            return tensor[part]
        return torch.cat([half[part] for half in torch.split(tensor, images)])

    return replace(conditioning, tensors={name: rows(each) for name, each in conditioning.tensors.items()})


def moved(conditioning: Conditioning, device: torch.device) -> Conditioning:
    """The same on another device."""
    return replace(conditioning, tensors={name: each.to(device) for name, each in conditioning.tensors.items()})
