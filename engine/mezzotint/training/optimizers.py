"""Optimizers by name."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from mezzotint.errors import UsageError
from mezzotint.training_protocol import OptimizerName

_DECAY = 0.01
_BETAS = (0.9, 0.99)
_Build = Callable[[list[Tensor], float], torch.optim.Optimizer]


def build_optimizer(name: OptimizerName, parameters: list[Tensor], rate: float) -> torch.optim.Optimizer:
    """The optimizer; raises UsageError if its package is missing."""
    return _OPTIMIZERS[name](parameters, rate)


def _adamw(parameters: list[Tensor], rate: float) -> torch.optim.Optimizer:
    return torch.optim.AdamW(parameters, lr=rate, betas=_BETAS, weight_decay=_DECAY, fused=True)


def _adafactor(parameters: list[Tensor], rate: float) -> torch.optim.Optimizer:
    return torch.optim.Adafactor(parameters, lr=rate)


def _adamw_8bit(parameters: list[Tensor], rate: float) -> torch.optim.Optimizer:
    return _bitsandbytes().AdamW8bit(parameters, lr=rate, betas=_BETAS, weight_decay=_DECAY)  # type: ignore[no-any-return]


def _lion(parameters: list[Tensor], rate: float) -> torch.optim.Optimizer:
    return _bitsandbytes().Lion(parameters, lr=rate, betas=(0.9, 0.99), weight_decay=_DECAY)  # type: ignore[no-any-return]


def _bitsandbytes() -> Any:  # noqa: ANN401  # an optional package
    try:
        import bitsandbytes
    except ImportError:
        raise UsageError(
            "the optimizers adamw-8bit and lion need the package bitsandbytes: pip install 'bitsandbytes>=0.50', or "
            "use --optimizer adamw or adafactor"
        ) from None
    return bitsandbytes.optim


_OPTIMIZERS: Mapping[OptimizerName, _Build] = {
    "adamw": _adamw,
    "adamw-8bit": _adamw_8bit,
    "adafactor": _adafactor,
    "lion": _lion,
}
