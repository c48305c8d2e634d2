"""Tiny networks of the kinds that are streamed, with their blocks and example inputs."""

import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from hypothesis import strategies as st
from tiny_pixart import _transformer
from tiny_sdxl import _unet
from torch import Tensor, nn
from torch.utils._pytree import tree_map_only

from mezzotint.quantization.formats import Format, Int8, LowRank4, Nf4
from mezzotint.quantization.layers import layers_of, swap_in

CPU = torch.device("cpu")
NAMES = ("sdxl", "pixart", "flux")
SCHEMES = ("none", "int8", "int4", "int4-lowrank")
_BLOCK = re.compile(r".*(transformer_blocks|resnets|downsamplers|upsamplers)\.\d+")


@dataclass(frozen=True)
class Case:
    """A network and its output while it is entirely on the CPU."""

    network: nn.Module
    blocks: tuple[str, ...]
    call_on: Callable[[torch.device], Tensor]
    answer: Tensor
    fingerprint: int

    def call(self) -> Tensor:
        """Return its current output."""
        return self.call_on(CPU)


@functools.cache
def case(name: str, scheme: str = "none") -> Case:
    """Return one of the networks, quantized or not; cached, so leave it unchanged."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        network, call = _BUILDERS[name]()
        if scheme != "none":
            _quantize(network, scheme)
    names = [each for each, _ in network.named_modules() if _BLOCK.fullmatch(each)]
    blocks = tuple(each for each in names if not any(each.startswith(f"{other}.") for other in names))
    return Case(network, blocks, call, call(CPU), fingerprint(network))


def fingerprint(network: nn.Module) -> int:
    """Return a hash of all values and of their memory addresses."""
    return hash(tuple(_told(name, tensor) for name, tensor in tensors_of(network)))


def tensors_of(network: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """Yield all parameters and buffers."""
    yield from network.named_parameters(remove_duplicate=False)
    yield from network.named_buffers(remove_duplicate=False)


def cases() -> st.SearchStrategy[tuple[Case, int, int]]:
    """Draw a network, the number of resident blocks, and the number of slots for the others."""

    def numbers(chosen: Case) -> st.SearchStrategy[tuple[Case, int, int]]:
        return st.tuples(st.just(chosen), st.integers(0, len(chosen.blocks)), st.integers(1, 4))

    names, schemes = st.sampled_from(NAMES), st.sampled_from(SCHEMES)
    return st.builds(case, names, schemes).flatmap(numbers)


def _told(name: str, tensor: Tensor) -> tuple[str, int, bytes]:
    return name, tensor.data_ptr(), tensor.detach().contiguous().view(-1).view(torch.uint8).numpy().tobytes()


def _sdxl() -> tuple[nn.Module, Callable[[torch.device], Tensor]]:
    network = _still(_unet(refiner=False))
    x, words = torch.randn(2, 4, 16, 16), torch.randn(2, 7, 96)
    added = {"text_embeds": torch.randn(2, 64), "time_ids": torch.randn(2, 6)}
    return network, _calling(network, x, torch.tensor(5), encoder_hidden_states=words, added_cond_kwargs=added)


def _pixart() -> tuple[nn.Module, Callable[[torch.device], Tensor]]:
    network = _still(_transformer(told_sizes=False))
    words = torch.randn(2, 5, 32)
    return network, _calling(
        network, torch.randn(2, 4, 16, 16), encoder_hidden_states=words, timestep=torch.tensor([5, 5])
    )


def _flux() -> tuple[nn.Module, Callable[[torch.device], Tensor]]:
    from diffusers import FluxTransformer2DModel

    network = _still(
        FluxTransformer2DModel(
            in_channels=16,
            num_layers=2,
            num_single_layers=3,
            attention_head_dim=16,
            num_attention_heads=2,
            joint_attention_dim=32,
            pooled_projection_dim=16,
            axes_dims_rope=(4, 4, 8),
        )
    )
    return network, _calling(
        network,
        torch.randn(1, 16, 16),
        encoder_hidden_states=torch.randn(1, 6, 32),
        pooled_projections=torch.randn(1, 16),
        timestep=torch.tensor([0.5]),
        img_ids=torch.randint(4, (16, 3)).float(),
        txt_ids=torch.zeros(6, 3),
    )


def _still(network: Any) -> nn.Module:
    for parameter in network.parameters():
        parameter.data.add_(torch.randn_like(parameter) * 0.02)  # diffusers initializes some with zeros
    return network.requires_grad_(False).eval()


def _calling(network: nn.Module, *words: Any, **named: Any) -> Callable[[torch.device], Tensor]:
    def call(device: torch.device) -> Tensor:
        with torch.inference_mode():
            placed, kept = tree_map_only(Tensor, lambda tensor: tensor.to(device), (words, named))
            return network(*placed, **kept, return_dict=False)[0]

    return call


def _quantize(network: nn.Module, scheme: str) -> None:
    formats = {layer.name: _format(scheme, layer.shape) for layer in layers_of(network)}
    chosen = {name: each for name, each in formats.items() if each is not None}
    quantized = {name: each.quantize(network.get_submodule(name).weight) for name, each in chosen.items()}
    swap_in(network, chosen)
    for name, tensors in quantized.items():
        network.get_submodule(name).set_tensors(tensors)


def _format(scheme: str, shape: tuple[int, ...]) -> Format | None:
    known: dict[str, Format] = {"int8": Int8(dynamic=len(shape) == 2), "int4": Nf4(), "int4-lowrank": LowRank4(rank=4)}
    tried = known[scheme]
    return tried if tried.shape_problem(shape) is None else None


_BUILDERS = {"sdxl": _sdxl, "pixart": _pixart, "flux": _flux}
