"""Begin training a variant from the weights of PixArt's network with the same settings."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import torch
from torch import Tensor

from mezzotint.families.architectures.depth import DEPTHS, dense_block
from mezzotint.families.architectures.table import read_architecture

Network: TypeAlias = Any  # PixArtVariantTransformer2DModel
Weights: TypeAlias = Mapping[str, Tensor]

_BLOCKS = "transformer_blocks."


def load_dense(network: Network, weights: Weights) -> tuple[str, ...]:
    """Load what fits by name and shape; returns the names of the network's own weights, which keep their values.

    A set of weights that several blocks share begins as one of theirs. Each block's own modulation begins as the
    shared one, and further input channels do not change the result.
    """
    own = network.state_dict()
    found = {name: value for name in own if (value := _dense(network, name, weights, own[name])) is not None}
    network.load_state_dict(found, strict=False)
    return tuple(name for name in own if name not in found)


def _dense(network: Network, name: str, weights: Weights, own: Tensor) -> Tensor | None:
    source = _source(network, name)
    if source.endswith((".modulation.weight", ".modulation.bias")):
        return _modulation(source, weights)
    value = weights.get(source)
    if value is not None and source == "pos_embed.proj.weight":
        value = torch.cat([value, value.new_zeros(len(value), own.shape[1] - value.shape[1], *value.shape[2:])], dim=1)
    return value if value is not None and value.shape == own.shape else None


def _source(network: Network, name: str) -> str:
    """The dense network's name of a weight."""
    if not name.startswith(_BLOCKS):
        return name
    depth = read_architecture(network.config["architecture"]).depth
    number, _, rest = name.removeprefix(_BLOCKS).partition(".")
    return f"{_BLOCKS}{dense_block(DEPTHS[depth].order(network.config['num_layers']), int(number))}.{rest}"


def _modulation(source: str, weights: Weights) -> Tensor:
    block, _, kind = source.rpartition("modulation.")
    shared = weights[f"adaln_single.linear.{kind}"]
    return shared if kind == "weight" else shared + weights[f"{block}scale_shift_table"].flatten()
