"""Trainable low-rank factors beside the layers of a frozen network (LoRA, arXiv 2106.09685)."""

import hashlib
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from mezzotint.families.family import Network
from mezzotint.families.lora.factors import LoraFactors
from mezzotint.memory.blocks import blocks_of
from mezzotint.quantization.branched import branchable_layers, weight_shape
from mezzotint.quantization.convolution import convolved
from mezzotint.quantization.linear import Branch, with_branch

_MODULATION = re.compile(r"(^|[._])(norm\w*|adaln\w*|\w*modulation\w*|time\w*|\w*embed\w*)([._]|$)", re.IGNORECASE)


class Factors:
    """The factors of a network's layers, in float32, with those of equal seed always the same."""

    def __init__(self, network: Network, layers: Sequence[str], *, rank: int, alpha: float, seed: int) -> None:
        shapes = {name: weight_shape(network.get_submodule(name)) for name in layers}
        self.layers = {name: _layer(name, shape, rank, alpha, seed) for name, shape in shapes.items()}
        self._network = network

    def parameters(self) -> list[Tensor]:
        """All factors, in the order of the layers."""
        return list(self.named().values())

    def named(self) -> dict[str, Tensor]:
        """All factors by name."""
        return {
            f"{name}.{part}": getattr(layer, part) for name, layer in self.layers.items() for part in ("down", "up")
        }

    def to(self, device: torch.device) -> None:
        """Move them to a device."""
        for parameter in self.parameters():
            parameter.data = parameter.data.to(device)

    @contextmanager
    def attached(self, strength: float = 1.0) -> Iterator[None]:
        """Context manager: the network's layers compute with the factors."""
        handles = [
            self._network.get_submodule(name).register_forward_hook(_hook(layer, strength))
            for name, layer in self.layers.items()
        ]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()


def trainable_layers(network: Network) -> tuple[str, ...]:
    """Names of the linear layers of attention and feed-forward in a denoiser's blocks, without modulation.

    Of a U-Net: everything inside its transformers, with their 1x1 convolutions, as kohya's scripts train it.
    """
    layers = list(branchable_layers(network))
    if hasattr(network, "down_blocks"):
        return tuple(name for name, layer in layers if ".attentions." in name and _is_flat(layer))
    blocks = tuple(f"{block}." for block in blocks_of(network))
    return tuple(
        name
        for name, layer in layers
        if name.startswith(blocks) and len(weight_shape(layer)) == 2 and not _MODULATION.search(_inside(name, blocks))
    )


def _inside(name: str, blocks: tuple[str, ...]) -> str:
    block = next(each for each in blocks if name.startswith(each))
    return name.removeprefix(block)


def _is_flat(layer: Any) -> bool:  # noqa: ANN401
    shape = weight_shape(layer)
    return len(shape) == 2 or tuple(shape[2:]) == (1, 1)


def _layer(name: str, shape: tuple[int, ...], rank: int, alpha: float, seed: int) -> LoraFactors:
    """Down drawn as torch initializes a linear layer, up zero, so that training begins with the unchanged model."""
    digest = hashlib.sha256(f"{seed} {name}".encode()).digest()
    generator = torch.Generator().manual_seed(int.from_bytes(digest[:7], "little"))
    rank = min(rank, shape[0], math.prod(shape[1:]))
    bound = 1 / math.sqrt(math.prod(shape[1:]))
    down = (torch.rand(rank, *shape[1:], generator=generator) * 2 - 1) * bound
    up = torch.zeros(shape[0], rank, *(1,) * (len(shape) - 2))
    return LoraFactors(down=nn.Parameter(down), up=nn.Parameter(up), alpha=alpha)


def _hook(layer: LoraFactors, strength: float) -> Any:  # noqa: ANN401  # torch's hooks are untyped
    def add(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> Tensor:
        x = inputs[0]
        branch = Branch(down=layer.down.to(x.dtype), up=(layer.up * (layer.scale * strength)).to(x.dtype))
        if layer.down.ndim == 2:
            return with_branch(output, x, branch)
        return convolved(output, x, [branch], module)  # type: ignore[arg-type]

    return add
