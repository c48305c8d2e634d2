"""Classifier-free guidance (Ho and Salimans, arXiv 2207.12598)."""

from collections.abc import Callable, Mapping

import torch

from mezzotint.families.family import Conditioning
from mezzotint.families.text.conditionings import part_of
from mezzotint.protocol import GuidancePasses

Ask = Callable[[torch.Tensor, Mapping[str, torch.Tensor]], torch.Tensor]  # a network, with a sample for each row


def guided_output(
    ask: Ask, sample: torch.Tensor, conditioning: Conditioning, passes: GuidancePasses, at_once: int = 0
) -> torch.Tensor:
    """The guided output for a sample `(n, c, h, w)`: both halves in one pass, or one after the other in less memory.

    `at_once`: with how many images the network is asked at a time; 0: with all.
    """
    images = sample.shape[0]
    if 0 < at_once < images:
        parts = [slice(first, first + at_once) for first in range(0, images, at_once)]
        return torch.cat(
            [guided_output(ask, sample[part], part_of(conditioning, part, images), passes) for part in parts]
        )
    tensors = conditioning.tensors
    if not conditioning.guided:
        return ask(sample, tensors).float()
    if passes == "batched":
        output = ask(torch.cat([sample] * 2), tensors).float()
    else:
        halves = ({name: each[half : half + images] for name, each in tensors.items()} for half in (0, images))
        output = torch.cat([ask(sample, half).float() for half in halves])
    how = conditioning.sampling
    return guide(output, how.guidance_scale or 0.0, how.guidance_rescale or 0.0)


def guide(output: torch.Tensor, scale: float, rescale: float) -> torch.Tensor:
    """Combine `(2b, c, h, w)`, unconditional half first, into `(b, c, h, w)`.

    `rescale` is phi of arXiv 2305.08891, section 3.4: how much of the conditional output's spread is restored.
    """
    unconditional, conditional = output.chunk(2)
    guided = unconditional + scale * (conditional - unconditional)
    if rescale <= 0.0:
        return guided
    axes = list(range(1, guided.ndim))
    spread = conditional.std(dim=axes, keepdim=True) / guided.std(dim=axes, keepdim=True)
    return rescale * (guided * spread) + (1 - rescale) * guided


def guidance_embedding(scale: float, dim: int, dtype: torch.dtype) -> torch.Tensor:
    """The sinusoidal embedding `(1, dim)` of a guidance scale for guidance-distilled networks (arXiv 2310.04378)."""
    half = dim // 2
    frequencies = torch.exp(torch.arange(half, dtype=dtype) * -(torch.log(torch.tensor(10000.0)) / (half - 1)))
    angles = (torch.tensor([scale - 1]) * 1000.0).to(dtype)[:, None] * frequencies[None, :]
    embedding = torch.cat([torch.sin(angles), torch.cos(angles)], dim=1)
    return torch.nn.functional.pad(embedding, (0, dim % 2))
