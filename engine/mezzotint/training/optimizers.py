"""Optimizers by name."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from mezzotint.errors import UsageError
from mezzotint.training.adapters.adapter import Group
from mezzotint.training_protocol import OptimizerName

_DECAY = 0.01
_BETAS = (0.9, 0.99)
_Groups = list[dict[str, Any]]
_Build = Callable[[_Groups, float], torch.optim.Optimizer]


def build_optimizer(name: OptimizerName, groups: Sequence[Group], rate: float) -> torch.optim.Optimizer:
    """The optimizer, whose groups have their `share` of the rate; raises UsageError if its package is missing."""
    return _OPTIMIZERS[name]([_options(group) for group in groups], rate)


def _options(group: Group) -> dict[str, Any]:
    options = {"params": list(group.parameters), "share": group.share}
    return options if group.decays else options | {"weight_decay": 0.0}


def _adamw(groups: _Groups, rate: float) -> torch.optim.Optimizer:
    return torch.optim.AdamW(groups, lr=rate, betas=_BETAS, weight_decay=_DECAY, fused=True)


def _adafactor(groups: _Groups, rate: float) -> torch.optim.Optimizer:
    return torch.optim.Adafactor(groups, lr=rate)


def _adamw_8bit(groups: _Groups, rate: float) -> torch.optim.Optimizer:
    return _bitsandbytes().AdamW8bit(groups, lr=rate, betas=_BETAS, weight_decay=_DECAY)  # type: ignore[no-any-return]


def _lion(groups: _Groups, rate: float) -> torch.optim.Optimizer:
    return _bitsandbytes().Lion(groups, lr=rate, betas=(0.9, 0.99), weight_decay=_DECAY)  # type: ignore[no-any-return]


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
