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
_POINTWISE = {"ff.layers.0.": "ff.net.0.proj.", "ff.layers.5.": "ff.net.2."}  # of MBConv, from the MLP


def load_dense(network: Network, weights: Weights) -> tuple[str, ...]:
    """Load what fits by name and shape; returns the names of the network's own weights, which keep their values.

    A set of weights that several blocks share begins as one of theirs. Each block's own modulation begins as the
    shared one, further input channels do not change the result, and an MBConv's two pointwise layers are the MLP's.
    """
    own = network.state_dict()
    found = {name: value for name in own if (value := _dense(network, name, weights, own[name])) is not None}
    network.load_state_dict(found, strict=False)
    return tuple(name for name in own if name not in found)


def _dense(network: Network, name: str, weights: Weights, own: Tensor) -> Tensor | None:
    source = dense_name(network, name)
    if source.endswith((".modulation.weight", ".modulation.bias")):
        return _modulation(source, weights)
    value = weights.get(source)
    if value is not None and source == "pos_embed.proj.weight":
        value = torch.cat([value, value.new_zeros(len(value), own.shape[1] - value.shape[1], *value.shape[2:])], dim=1)
    return value.view_as(own) if value is not None and _shape(value) == _shape(own) else None


def _shape(weight: Tensor) -> tuple[int, ...]:
    """The shape of a weight, without a kernel of one pixel."""
    return tuple(weight.shape[:2]) if weight.shape[2:] == (1, 1) else tuple(weight.shape)


def dense_name(network: Network, name: str) -> str:
    """The dense network's name of a weight, whether or not that has one."""
    if not name.startswith(_BLOCKS):
        return name
    architecture = read_architecture(network.config.get("architecture", {}))
    number, _, rest = name.removeprefix(_BLOCKS).partition(".")
    if architecture.feed_forward == "mbconv":
        for own, dense in _POINTWISE.items():
            rest = rest.replace(own, dense)
    order = DEPTHS[architecture.depth].order(network.config["num_layers"])
    return f"{_BLOCKS}{dense_block(order, int(number))}.{rest}"


def _modulation(source: str, weights: Weights) -> Tensor:
    block, _, kind = source.rpartition("modulation.")
    shared = weights[f"adaln_single.linear.{kind}"]
    return shared if kind == "weight" else shared + weights[f"{block}scale_shift_table"].flatten()
