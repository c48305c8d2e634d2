"""Competing implementations of products: torch in 16 bits, its bare integer product, torchao and bitsandbytes."""

import importlib
import importlib.util
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional

from mezzotint.quantization.int8 import multiply, quantize_rows

Run: TypeAlias = Callable[[], Tensor]

LINEAR = "torch linear"  # the baseline


def peers(device: torch.device) -> Iterator[tuple[str, Callable[[Tensor, Tensor], Run]]]:
    """Yield each peer's name and a function that prepares it for x `(m, k)` and a weight `(n, k)` in 16 bits."""
    yield LINEAR, _linear
    yield "torch._int_mm", _int_mm
    if device.type == "cuda":
        if importlib.util.find_spec("torchao") is not None:
            yield "torchao int8", _torchao
        if importlib.util.find_spec("bitsandbytes") is not None:
            yield "bitsandbytes int8", _bitsandbytes


def _linear(x: Tensor, weight: Tensor) -> Run:
    return lambda: functional.linear(x, weight)


def _int_mm(x: Tensor, weight: Tensor) -> Run:
    """The bare integer product, without quantization and scales."""
    rows, codes = (quantize_rows(each.float())[0] for each in (x, weight))
    return lambda: multiply(rows, codes)


def _torchao(x: Tensor, weight: Tensor) -> Run:
    torchao: Any = importlib.import_module("torchao.quantization")
    layer = nn.Linear(weight.shape[1], weight.shape[0], bias=False, device="meta")
    layer.weight = nn.Parameter(weight, requires_grad=False)
    torchao.quantize_(layer, torchao.Int8DynamicActivationInt8WeightConfig())
    return lambda: layer(x)


def _bitsandbytes(x: Tensor, weight: Tensor) -> Run:
    bitsandbytes: Any = importlib.import_module("bitsandbytes.nn")
    layer = bitsandbytes.Linear8bitLt(*reversed(weight.shape), bias=False, has_fp16_weights=False, threshold=0.0)
    layer.weight = bitsandbytes.Int8Params(weight.half().cpu(), requires_grad=False, has_fp16_weights=False)
    layer = layer.to(weight.device)
    return lambda: layer(x)
