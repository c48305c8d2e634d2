"""Weights of convolutions in channels_last, kept so: where images are, cuDNN reorders other weights in each call."""

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import nn

from mezzotint.memory.host import DiskTensor, Source

_SHORT = (torch.float16, torch.bfloat16)


def keep_channels_last(network: nn.Module, on_disk: Mapping[str, Source]) -> Mapping[str, Source]:
    """Lay out weights `(n, c, kh, kw)` of 16 bits as `(n, kh, kw, c)`; call it before the network is placed.

    Returns `on_disk`, the sources of weights that are read from files, which arrive in that layout as well.
    """
    found = dict(on_disk)
    for name, module in network.named_modules():
        weight = module._parameters.get("weight") if isinstance(module, nn.Conv2d) else None
        if weight is None or weight.dtype not in _SHORT or weight.is_contiguous(memory_format=torch.channels_last):
            continue
        with torch.inference_mode(False), torch.no_grad():
            laid_out = weight.contiguous(memory_format=torch.channels_last)
        module._parameters["weight"] = nn.Parameter(laid_out, requires_grad=False)
        source = found.get(f"{name}.weight")
        if isinstance(source, DiskTensor):
            found[f"{name}.weight"] = replace(source, layout=replace(source.layout, stride=laid_out.stride()))
    return found
