"""Weights of convolutions in channels_last, kept so: where images are, cuDNN reorders other weights in each call."""

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor, nn

from mezzotint.memory.host import DiskTensor, Source
from mezzotint.quantization.layers import QuantizedConv2d

_SHORT = (torch.float16, torch.bfloat16)


def keep_channels_last(network: nn.Module, on_disk: Mapping[str, Source]) -> Mapping[str, Source]:
    """Lay out weights `(n, c, kh, kw)` as `(n, kh, kw, c)`; call it before the network is placed.

    Those of 16 bits, and those of 8 bits whose inputs have 8 bits, too.

    Returns `on_disk`, the sources of weights that are read from files, which arrive in that layout as well.
    """
    found = dict(on_disk)
    for name, module in network.named_modules():
        tensor = "quantized_weight" if _has_integer_products(module) else "weight"
        weight = _weight(module, tensor)
        if weight is None or weight.is_contiguous(memory_format=torch.channels_last):
            continue
        with torch.inference_mode(False), torch.no_grad():
            laid_out = weight.contiguous(memory_format=torch.channels_last)
        if tensor == "weight":
            module._parameters["weight"] = nn.Parameter(laid_out, requires_grad=False)
        else:
            module._buffers[tensor] = laid_out
        source = found.get(f"{name}.{tensor}")
        if isinstance(source, DiskTensor):
            found[f"{name}.{tensor}"] = replace(source, layout=replace(source.layout, stride=laid_out.stride()))
    return found


def _has_integer_products(module: nn.Module) -> bool:
    return isinstance(module, QuantizedConv2d) and module.has_integer_products


def _weight(module: nn.Module, tensor: str) -> Tensor | None:
    """The module's weight if it is to be laid out."""
    if _has_integer_products(module):
        return module.get_buffer(tensor)
    weight = module._parameters.get(tensor) if isinstance(module, nn.Conv2d) else None
    return weight if weight is not None and weight.dtype in _SHORT else None
