"""Attention to image prompts beside that to the text, added before each layer's output projection (arXiv 2308.06721).

Hooks on the layers' queries and outputs leave the attention itself as it is, whichever kernels run it.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor

from mezzotint.attention.sdpa import attention_sdpa
from mezzotint.errors import MezzotintError
from mezzotint.families.control.settings import ControlSettings
from mezzotint.families.family import Conditioning, Network


@contextmanager
def attending_images(network: Network, conditioning: Conditioning) -> Iterator[None]:
    """Context manager: a U-Net's cross-attention also attends to the image prompts that are used in this step."""
    prompts = [one for one in conditioning.controls if one.kind == "ip-adapter" and one.weight]
    if not prompts:
        yield
        return
    layers = list(_layers(network, prompts, conditioning))
    with ExitStack() as stack:
        for layer in layers:
            layer.hook(stack)
        yield
    if not all(layer.called for layer in layers):
        raise MezzotintError(
            "the image prompt had no effect on some layers, as they run by kernels that pass it over; try --quant none"
        )


class _Layer:
    """A cross-attention layer while it attends to images."""

    def __init__(
        self,
        attention: Any,  # noqa: ANN401  diffusers has no types
        images: Sequence[tuple[ControlSettings, Tensor]],
        tensors: Mapping[str, Tensor],
    ) -> None:
        """`images`: their keys and values in this layer; `tensors`: of the conditioning."""
        self._attention, self._images, self._tensors = attention, images, tensors
        self._queries: Tensor | None = None
        self.called = False

    def hook(self, stack: ExitStack) -> None:
        """Attend to the images until the stack is closed."""
        stack.callback(self._attention.to_q.register_forward_hook(self._keep).remove)
        stack.callback(self._attention.to_out[0].register_forward_pre_hook(self._add).remove)

    def _keep(self, _: object, __: object, queries: Tensor) -> None:
        self._queries = queries

    def _add(self, _: object, inputs: tuple[Any, ...]) -> tuple[Any, ...] | None:
        queries, self._queries = self._queries, None
        if queries is None:
            return None
        self.called = True
        out, query = inputs[0], self._heads(queries)
        for settings, both in self._images:
            keys, values = map(self._heads, both.chunk(2, dim=-1))
            seen = attention_sdpa(query, keys, values).transpose(1, 2).flatten(2).to(query.dtype)
            mask = None if settings.mask is None else self._tensors[settings.mask]
            out = out + settings.weight * (seen if mask is None else seen * seen_part(mask, seen.shape[1]))
        return (out, *inputs[1:])

    def _heads(self, tokens: Tensor) -> Tensor:
        """Tokens `(b, n, c)` as `(b, heads, n, c / heads)`."""
        rows, count, _ = tokens.shape
        return tokens.view(rows, count, self._attention.heads, -1).transpose(1, 2)


def _layers(network: Network, prompts: Sequence[ControlSettings], conditioning: Conditioning) -> Iterator[_Layer]:
    """The cross-attention layers in the order of the network's modules, which is that of IP-Adapters' numbers."""
    found = [module for name, module in network.named_modules() if name.endswith(".attn2")]
    sizes = [2 * layer.inner_dim for layer in found]
    parts = [torch.split(conditioning.tensors[prompt.tensor], sizes, dim=-1) for prompt in prompts]
    for layer, *both in zip(found, *parts, strict=True):
        yield _Layer(layer, list(zip(prompts, both, strict=True)), conditioning.tensors)


def seen_part(mask: Tensor, tokens: int) -> Tensor:
    """A mask `(n, 1, h, w)` at the size of a level with so many tokens `(n, tokens, 1)`, as diffusers resizes it."""
    ratio = mask.shape[-1] / mask.shape[-2]
    height = int(math.sqrt(tokens / ratio))
    height += tokens % height != 0
    width = tokens // height
    small = torch.nn.functional.interpolate(mask, size=(height, width), mode="bicubic").flatten(1)
    return torch.nn.functional.pad(small, (0, tokens - small.shape[1]))[..., None]
