"""Which layers of a network are trained, and with which ranks."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mezzotint.errors import UsageError
from mezzotint.families.family import Network
from mezzotint.memory.blocks import blocks_of
from mezzotint.quantization.branched import branchable_layers, weight_shape
from mezzotint.training_protocol import TrainedLayers

_MODULATION = re.compile(r"(^|[._])(norm\w*|adaln\w*|\w*modulation\w*|time\w*|\w*embed\w*)([._]|$)", re.IGNORECASE)
_LARGEST = 512
Ranks = tuple[tuple[str, int], ...]  # by a part of the layer's name; the last that fits counts


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerChoice:
    """Layers and ranks; alpha is in the same proportion to all ranks."""

    layers: TrainedLayers = "attention"
    rank: int
    alpha: float  # of layers with that rank
    ranks: Ranks = ()

    def scaled_alpha(self, rank: int) -> float:
        """Alpha of a layer of another rank."""
        return self.alpha * rank / self.rank

    def ranks_of(self, network: Network) -> dict[str, int]:
        """The rank of each trained layer; raises UsageError for a part of a name that no layer has."""
        names = trainable_layers(network, self.layers)
        for part, _ in self.ranks:
            if not any(part in name for name in names):
                raise UsageError(f"--ranks: no trained layer has {part!r} in its name; one of them is {names[0]}")
        found = {}
        for name in names:
            shape = weight_shape(network.get_submodule(name))
            wanted = next((rank for part, rank in reversed(self.ranks) if part in name), self.rank)
            found[name] = min(wanted, shape[0], math.prod(shape[1:]))
        if not any(found.values()):
            raise UsageError("--ranks: no layer is left to train")
        return {name: rank for name, rank in found.items() if rank}


def parse_ranks(text: str) -> Ranks:
    """Parse `down_blocks=4,mid_block=16`; raises UsageError."""
    pairs = []
    for each in filter(None, map(str.strip, text.split(","))):
        part, sign, number = each.partition("=")
        if not part or not sign or not number.isascii() or not number.isdigit() or int(number) > _LARGEST:
            raise UsageError(
                f"--ranks: {each!r} is no part of layer names with a rank of 0 to {_LARGEST}, such as mid_block=16"
            )
        pairs.append((part.strip(), int(number)))
    return tuple(pairs)


def trainable_layers(network: Network, layers: TrainedLayers = "attention") -> Sequence[str]:
    """Names of the layers that are trained: "all", or the linear ones of attention and feed-forward in the blocks.

    The latter are without modulation; of a U-Net, everything inside its transformers, with their 1x1 convolutions, as
    kohya's scripts train it. "all" adds modulation and, of a U-Net, residual blocks and resampling (LoCon).
    """
    found = dict(branchable_layers(network))
    if hasattr(network, "down_blocks"):
        parts = (".attentions.",) if layers == "attention" else (".attentions.", ".resnets.", "samplers.")
        return [name for name, layer in found.items() if any(map(name.__contains__, parts)) and _fits(layer, layers)]
    blocks = tuple(f"{block}." for block in blocks_of(network))
    inside = {name: layer for name, layer in found.items() if name.startswith(blocks)}
    if layers == "all":
        return list(inside)
    return [
        name
        for name, layer in inside.items()
        if len(weight_shape(layer)) == 2 and not _MODULATION.search(_inside(name, blocks))
    ]


def factor_shapes(shape: tuple[int, ...], rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shapes of down and up for a layer whose weight has this shape."""
    rank = min(rank, shape[0], math.prod(shape[1:]))
    return (rank, *shape[1:]), (shape[0], rank, *(1,) * (len(shape) - 2))


def _fits(layer: Any, layers: TrainedLayers) -> bool:  # noqa: ANN401
    shape = weight_shape(layer)
    return layers == "all" or len(shape) == 2 or tuple(shape[2:]) == (1, 1)


def _inside(name: str, blocks: tuple[str, ...]) -> str:
    block = next(each for each in blocks if name.startswith(each))
    return name.removeprefix(block)
