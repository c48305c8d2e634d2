"""Classifier-free guidance (Ho and Salimans, arXiv 2207.12598)."""

from collections.abc import Callable

import torch

from mezzotint.families.family import Conditioning
from mezzotint.families.text.conditionings import half_of, part_of
from mezzotint.protocol import GuidancePasses

Ask = Callable[[torch.Tensor, Conditioning], torch.Tensor]  # the denoiser, given a sample per row of the conditioning
Combine = Callable[[torch.Tensor, float, float], torch.Tensor]  # `guide`, or a family's replacement


def guided_output(
    ask: Ask,
    sample: torch.Tensor,
    conditioning: Conditioning,
    passes: GuidancePasses,
    at_once: int = 0,
    combine: Combine | None = None,
) -> torch.Tensor:
    """The guided output for a sample `(n, c, h, w)`: both halves in one pass, or one after the other in less memory.

    `at_once`: images per denoiser call; 0: all.
    """
    images = sample.shape[0]
    if 0 < at_once < images:
        parts = [slice(first, first + at_once) for first in range(0, images, at_once)]
        return torch.cat(
            [
                guided_output(ask, sample[part], part_of(conditioning, part, images), passes, combine=combine)
                for part in parts
            ]
        )
    if not conditioning.guided:
        return ask(sample, conditioning).float()
    if passes == "batched":
        output = ask(torch.cat([sample] * 2), conditioning).float()
    else:
        output = torch.cat([ask(sample, half_of(conditioning, half)).float() for half in (0, 1)])
    how = conditioning.sampling
    scale = how.guidance_scale if how.true_cfg_scale is None else how.true_cfg_scale
    return (combine or guide)(output, scale or 0.0, how.guidance_rescale or 0.0)


def guide(output: torch.Tensor, scale: float, rescale: float) -> torch.Tensor:
    """Combine `(2b, c, h, w)`, unconditional half first, into `(b, c, h, w)`.

    `rescale` is phi of arXiv 2305.08891, section 3.4: how far to restore the conditional standard deviation.
    """
    unconditional, conditional = output.chunk(2)
    return restored(unconditional + scale * (conditional - unconditional), conditional, rescale)


def restored(guided: torch.Tensor, conditional: torch.Tensor, rescale: float) -> torch.Tensor:
    """A guided output `(b, c, h, w)`, with the conditional output's standard deviation restored by `rescale`."""
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
