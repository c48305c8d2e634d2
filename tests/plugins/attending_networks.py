"""Small networks whose attention is changed: where the image is among their tokens, and what they answer."""

from collections.abc import Mapping

import torch
from small_networks import small_networks
from torch import Tensor

from mezzotint.attention.reduction import Grid
from mezzotint.attention.session import AttentionSession
from mezzotint.memory.footprints import forward_calls

TEXT = 7  # tokens
NAMES = (
    "UNet2DConditionModel",
    "PixArtTransformer2DModel",
    "FluxTransformer2DModel",
    "SD3Transformer2DModel",
    "QwenImageTransformer2DModel",
)
Known = tuple[torch.nn.Module, tuple[int, int], list[Grid]]


def attending_network(name: str, side: int, *, layers_of_unet: int) -> Known:
    """Return a network, rows and columns of its tokens for latents of that side, and the image's place in each call."""
    torch.manual_seed(0)
    half = side // 2
    calls: Mapping[str, tuple[int, int]] = {  # where the image begins, and how often its tokens attend
        "UNet2DConditionModel": (0, layers_of_unet),
        "PixArtTransformer2DModel": (0, 3),
        "FluxTransformer2DModel": (TEXT, 5),
        "SD3Transformer2DModel": (0, 3),
        "QwenImageTransformer2DModel": (TEXT, 3),
    }
    start, count = calls[name]
    size = (side, side) if name == "UNet2DConditionModel" else (half, half)
    return small_networks()[name]().eval(), size, [Grid(start, half, half)] * count


def answer(network: torch.nn.Module, side: int) -> Tensor:
    """Return what it answers to the same random latents of that side, and text."""
    torch.manual_seed(1)
    answered: Tensor = forward_calls.known_call(type(network).__name__, network, side, 2, TEXT)[0]
    return answered


def session_of(chosen: str = "sdpa") -> AttentionSession:
    """Return a session without kernels."""
    return AttentionSession(asked="auto", chosen=chosen, kernels=None, tell=lambda *_: None)  # type: ignore[arg-type]
