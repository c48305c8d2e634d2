"""Optimizers by name."""

import contextlib
import importlib
import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from mezzotint.errors import UsageError
from mezzotint.training.adapters.adapter import Group
from mezzotint.training_protocol import OptimizerName

_DECAY = 0.01
_BETAS = (0.9, 0.99)
_Groups = list[dict[str, Any]]
_Build = Callable[[_Groups, float], torch.optim.Optimizer]


def build_optimizer(name: OptimizerName, groups: Sequence[Group], rate: float) -> torch.optim.Optimizer:
    """The optimizer; raises UsageError if its package is missing."""
    return build_of(name, options_of(groups), rate)


def build_of(name: OptimizerName, groups: _Groups, rate: float) -> torch.optim.Optimizer:
    """The same from groups as torch's optimizers take them."""
    return _OPTIMIZERS[name](groups, rate)


def options_of(groups: Sequence[Group]) -> _Groups:
    """Groups as torch's optimizers take them."""
    return [
        {"params": list(group.parameters), "share": group.share, **({} if group.decays else {"weight_decay": 0.0})}
        for group in groups
    ]


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Set the learning rate, of which each group has its `share`; torchao keeps it in a tensor."""
    for group in optimizer.param_groups:
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(rate * group.get("share", 1.0))
        else:
            group["lr"] = rate * group.get("share", 1.0)


# ---- construction


def _adamw(groups: _Groups, rate: float) -> torch.optim.Optimizer:
    return torch.optim.AdamW(groups, lr=rate, betas=_BETAS, weight_decay=_DECAY, fused=True)


def _adafactor(groups: _Groups, rate: float) -> torch.optim.Optimizer:
    return torch.optim.Adafactor(groups, lr=rate)


def _adamw_8bit(groups: _Groups, rate: float) -> torch.optim.Optimizer:
    return _bitsandbytes("AdamW8bit", groups, rate)


def _adamw_8bit_paged(groups: _Groups, rate: float) -> torch.optim.Optimizer:
    return _bitsandbytes("PagedAdamW8bit", groups, rate)


def _lion(groups: _Groups, rate: float) -> torch.optim.Optimizer:
    return _bitsandbytes("Lion", groups, rate)


def _bitsandbytes(name: str, groups: _Groups, rate: float) -> torch.optim.Optimizer:
    module = _package("bitsandbytes.optim", "bitsandbytes>=0.50")
    return getattr(module, name)(groups, lr=rate, betas=_BETAS, weight_decay=_DECAY)  # type: ignore[no-any-return]


def _adamw_4bit(groups: _Groups, rate: float) -> torch.optim.Optimizer:
    optimizer = _package("torchao.optim", "torchao>=0.18").AdamW4bit(groups, lr=rate, betas=_BETAS, weight_decay=_DECAY)
    # Compiling takes seconds for each shape and needs a compiler; a LoRA's factors are too small to repay that.
    optimizer.step = torch.compiler.set_stance("force_eager")(optimizer.step)
    return optimizer  # type: ignore[no-any-return]


def _prodigy(groups: _Groups, rate: float) -> torch.optim.Optimizer:
    package = _package("prodigyopt", "prodigyopt>=1.1")
    with contextlib.redirect_stdout(io.StringIO()):  # it prints which kind of weight decay it uses
        return package.Prodigy(  # type: ignore[no-any-return]
            groups,
            lr=rate,
            betas=_BETAS,
            weight_decay=_DECAY,
            use_bias_correction=True,  # both as its authors recommend for diffusion models
            safeguard_warmup=True,
        )


def _schedule_free(groups: _Groups, rate: float) -> torch.optim.Optimizer:
    package = _package("schedulefree", "schedulefree>=1.4")
    optimizer = package.AdamWScheduleFree(groups, lr=rate, betas=_BETAS, weight_decay=_DECAY)
    optimizer.train()
    return optimizer  # type: ignore[no-any-return]


def _package(module: str, requirement: str) -> Any:  # noqa: ANN401  # optional packages
    try:
        return importlib.import_module(module)
    except ImportError:
        name = module.partition(".")[0]
        raise UsageError(
            f"this optimizer needs the package {name}, which is not installed: pip install '{requirement}', or use "
            "--optimizer adamw"
        ) from None


_OPTIMIZERS: Mapping[OptimizerName, _Build] = {
    "adamw": _adamw,
    "adamw-8bit": _adamw_8bit,
    "adamw-8bit-paged": _adamw_8bit_paged,
    "adamw-4bit": _adamw_4bit,
    "adafactor": _adafactor,
    "lion": _lion,
    "prodigy": _prodigy,
    "schedule-free": _schedule_free,
}
