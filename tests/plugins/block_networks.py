"""Small networks of every family of diffusion transformers, quantized, and how each is called."""

import contextlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any
from unittest.mock import patch

import tiny_chroma
import tiny_flux1
import tiny_flux2
import tiny_krea2
import tiny_qwen_image
import tiny_sana
import tiny_sd3
import tiny_z_image
import torch
from small_networks import small_networks
from torch.utils._pytree import tree_map

from mezzotint.families.known import family_of
from mezzotint.memory.footprints.forward_calls import known_call
from mezzotint.quantization.layers import layers_of, quantized_layers, swap_in
from mezzotint.quantization.policy import Choice, formats_for

SIDE, TOKENS = 16, 7  # latents, and words
FAMILIES: Mapping[str, tuple[Callable[[], Any], int]] = {  # a network, and the channels of its latents
    "pixart": (lambda: small_networks()["PixArtTransformer2DModel"](), 4),
    "sd3": (tiny_sd3.transformer, 16),
    "flux": (tiny_flux1.transformer, 16),
    "flux2-klein": (tiny_flux2.transformer, 32),
    "chroma": (tiny_chroma.transformer, 16),
    "qwen-image": (tiny_qwen_image.transformer, 16),
    "z-image": (tiny_z_image.transformer, 16),
    "sana": (tiny_sana.transformer, 32),
    "krea2": (tiny_krea2.transformer, 16),
    "sdxl": (lambda: small_networks()["UNet2DConditionModel"](), 4),
}


def block_network(family: str, dtype: torch.dtype = torch.bfloat16) -> torch.nn.Module:
    """Return a network with int8 layers, as the policy has them."""
    torch.manual_seed(0)
    return quantized(FAMILIES[family][0](), dtype)


def quantized(network: Any, dtype: torch.dtype = torch.bfloat16) -> torch.nn.Module:
    """Return a new network with random weights, the same in each call, in int8."""
    torch.manual_seed(0)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=1 if parameter.ndim < 2 else 1.5 * parameter.flatten(1).shape[1] ** -0.5)
    network = network.eval().requires_grad_(requires_grad=False)
    formats = formats_for(type(network).__name__, layers_of(network), Choice(scheme="int8"))
    weights = {name: network.get_submodule(name).weight.float() for name in formats}
    network.to(dtype)
    swap_in(network, formats)
    for name, layer in quantized_layers(network):
        layer.set_tensors(layer.format.quantize(weights[name]))
    return network


def output_of(family: str, network: Any, batch: int = 2, given: Mapping[str, Any] | None = None) -> torch.Tensor:
    """Return the network's output for what is given, or for the same random latents and words in each call."""
    found: Any = network(**given or arguments_of(family, network, batch))
    return found[0][0] if isinstance(found[0], list) else found[0]


def arguments_of(family: str, network: Any, batch: int = 2) -> dict[str, Any]:
    """Return arguments as the family gives them, with random numbers."""
    given: dict[str, Any] = {}
    with patch.object(network, "forward", _Noted(network, given)), contextlib.suppress(_Enough):
        if family in ("pixart", "sdxl"):
            known_call(type(network).__name__, network, SIDE, batch, TOKENS)
        else:
            flow: Any = family_of(family)
            flow.traced_call(network.config, FAMILIES[family][1])(network, SIDE, batch, TOKENS)
    generator = torch.Generator().manual_seed(1)
    return tree_map(lambda each: _random(each, generator), given)


class _Enough(Exception):
    """The arguments are known."""


class _Noted:
    """Notes the arguments of a network."""

    def __init__(self, network: Any, given: dict[str, Any]) -> None:
        self._names, self._given = inspect.signature(network.forward), given

    def __call__(self, *args: Any, **words: Any) -> Any:
        self._given |= self._names.bind(*args, **words).arguments
        raise _Enough


def _random(given: Any, generator: torch.Generator) -> Any:
    if not isinstance(given, torch.Tensor) or not given.is_floating_point():
        return given
    return torch.randn(given.shape, generator=generator).to(given.dtype)
