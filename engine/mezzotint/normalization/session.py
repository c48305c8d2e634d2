"""GroupNorm and SiLU of one job: by our kernels, with torch as the fallback."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Literal, TypeAlias

import torch
from torch import Tensor, nn

from mezzotint.dispatch.dispatcher import Dispatcher, FallbackLog, Tell
from mezzotint.normalization.compiled import CompiledGroupNorm
from mezzotint.protocol import KernelFallback

Norms: TypeAlias = Literal["kernels", "torch"]


class GroupNormSession(Dispatcher[Norms, int, Tensor | None, Tensor | None, float, bool]):
    """Dispatches GroupNorms, with the SiLU after them if there is one; counts fallbacks and reports the first."""

    def __init__(self, kernels: CompiledGroupNorm | None, tell: Tell, networks: Iterable[object] = ()) -> None:
        self._networks = tuple(networks)
        super().__init__(
            name="kernels",
            plain="torch",
            kernels=None if kernels is None else _positional(kernels),
            device_type=None if kernels is None else kernels.device_type,
            log=FallbackLog("group_norm_fell_back", tell),
            given_up="the kernels of GroupNorm failed; using torch instead",
            incomplete="the kernels do not support all GroupNorms here; torch handles the rest",
            silent_dtype=torch.float32,  # needed by some autoencoders
        )

    @property
    def fallbacks(self) -> tuple[KernelFallback, ...]:
        """Reasons for fallbacks, with their counts."""
        return self._log.fallbacks

    def norm_silu(self, norm: nn.GroupNorm, activation: nn.Module, x: Tensor) -> Tensor:
        """activation(norm(x)) `(b, c, ...)` for an activation that is SiLU."""
        made = self._by_kernels(norm, x, silu=True)
        if made is not None:
            return made
        plain: Tensor = activation(nn.GroupNorm.forward(norm, x))
        return plain

    def norm(self, norm: nn.GroupNorm, x: Tensor) -> Tensor:
        """norm(x) of images `(b, c, h, w)`, or of their pixels `(b, c, n)` in a row."""
        image = x if x.ndim == 4 else x.unsqueeze(-1)
        made = self._by_kernels(norm, self.in_layout(image), silu=False)
        return nn.GroupNorm.forward(norm, x) if made is None else made.view_as(x)

    def in_layout(self, x: Tensor) -> Tensor:
        """Return images `(b, c, h, w)` in channels_last, which convolutions keep, if the kernels may take them."""
        wanted = self.kernels is not None and x.ndim == 4 and x.dtype != torch.float32
        if not wanted or x.device.type != self._device_type or torch.compiler.is_compiling():
            return x
        return x.contiguous(memory_format=torch.channels_last)

    def _by_kernels(self, norm: nn.GroupNorm, x: Tensor, *, silu: bool) -> Tensor | None:
        if torch.compiler.is_compiling():
            return None
        return self.run(x, norm.num_groups, norm.weight, norm.bias, norm.eps, silu)

    @contextmanager
    def normalizing(self) -> Iterator[None]:
        """Use the session in blocks of its networks inside the context."""
        if self.kernels is None:
            yield
            return
        from mezzotint.normalization.networks import normalizing

        with normalizing(self, self._networks):
            yield


def _positional(kernels: CompiledGroupNorm) -> Callable[..., Tensor]:
    def run(x: Tensor, groups: int, weight: Tensor | None, bias: Tensor | None, eps: float, silu: bool) -> Tensor:
        return kernels(x, groups, weight, bias, eps, silu=silu)

    return run


def has_norms(networks: Iterable[object]) -> bool:
    """Whether one of the networks has a GroupNorm."""
    modules = (each for network in networks if isinstance(network, nn.Module) for each in network.modules())
    return any(isinstance(each, nn.GroupNorm) for each in modules)
