"""Optimizers by name, and the memory that their states take."""

import contextlib
import importlib
import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
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

_STEP = 4  # bytes of torch's count of steps
_QUANTIZED = 4096  # values from which bitsandbytes and torchao quantize a state
_BLOCK_8, _BLOCK_4 = 256, 128  # values with a common scale
_CODEBOOKS_8 = 2 * 256 * 4  # bytes, once
_CODEBOOKS_4 = 2 * 16 * 4  # bytes, for each parameter


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


def state_bytes(name: OptimizerName, shapes: Iterable[Sequence[int]]) -> int:
    """Bytes of the state for float32 parameters of these shapes, once all have been stepped.

    Prodigy's is the most that it can be: it keeps no copy of parameters that begin as zeros.
    """
    shapes = [tuple(shape) for shape in shapes]
    shared = _CODEBOOKS_8 if any(math.prod(shape) >= _QUANTIZED for shape in shapes) else 0
    return sum(_STATE_BYTES[name](shape) for shape in shapes) + (shared if "8bit" in name else 0)


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


# ---- memory


def _adamw_bytes(shape: Sequence[int]) -> int:
    return 8 * math.prod(shape) + _STEP


def _adamw_8bit_bytes(shape: Sequence[int]) -> int:
    values = math.prod(shape)
    return 8 * values if values < _QUANTIZED else 2 * (values + 4 * math.ceil(values / _BLOCK_8))


def _adamw_4bit_bytes(shape: Sequence[int]) -> int:
    values = math.prod(shape)
    if values < _QUANTIZED or values % _BLOCK_4:
        return 8 * values + _STEP
    return values + 2 * 4 * values // _BLOCK_4 + _CODEBOOKS_4 + _STEP


def _adafactor_bytes(shape: Sequence[int]) -> int:
    """Means of rows and of columns (arXiv 1804.04235)."""
    values = math.prod(shape)
    return _STEP + 4 * (values // shape[-1] + values // shape[-2] if len(shape) > 1 else values)


_STATE_BYTES: Mapping[OptimizerName, Callable[[Sequence[int]], int]] = {
    "adamw": _adamw_bytes,
    "adamw-8bit": _adamw_8bit_bytes,
    "adamw-8bit-paged": _adamw_8bit_bytes,
    "adamw-4bit": _adamw_4bit_bytes,
    "adafactor": _adafactor_bytes,
    "lion": lambda shape: 4 * math.prod(shape),
    "prodigy": lambda shape: 16 * math.prod(shape),
    "schedule-free": lambda shape: 8 * math.prod(shape),
}
