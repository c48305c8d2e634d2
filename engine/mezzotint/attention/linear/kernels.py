"""The installed kernels of linear attention, used where they support a call and pass their self-test."""

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor

from mezzotint.attention.linear.compiled import CompiledLinearAttention
from mezzotint.attention.linear.features import FeatureMap
from mezzotint.attention.linear.self_test import run_linear_self_test
from mezzotint.attention.masks import Masks
from mezzotint.dispatch.dispatcher import FallbackLog, Tell
from mezzotint.dispatch.library import LaunchFailed, Unsupported, open_installed
from mezzotint.dispatch.registry import KernelBackend
from mezzotint.gpu import runs_kernels
from mezzotint.protocol import KernelFallback

_SHORT = ("float16", "bfloat16")
_GIVEN_UP = "the kernels of linear attention failed; using torch instead"
_INCOMPLETE = "the kernels do not support all linear attention here; torch handles the rest"


class LinearAttentionCalls:
    """What the kernels did in one job, and why torch did the rest."""

    def __init__(self, tell: Tell) -> None:
        self.calls = 0
        self._log = FallbackLog("attention_fell_back", tell)
        self._has_given_up = False

    @property
    def fallbacks(self) -> tuple[KernelFallback, ...]:
        """Reasons for fallbacks, with their counts."""
        return self._log.fallbacks

    def unsupported(self, reason: str) -> None:
        """Record that a call has no kernel."""
        self._log.unsupported(_INCOMPLETE, reason, tell=True)

    def give_up(self, reason: str, calls: int = 0) -> None:
        """Record, the first time, that the kernels are not used any more."""
        if not self._has_given_up:
            self._log.given_up(_GIVEN_UP, reason, calls)
        self._has_given_up = True

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count what is called inside the context."""
        before = _current.set(self)
        try:
            yield
        finally:
            _current.reset(before)


_current: ContextVar[LinearAttentionCalls | None] = ContextVar("linear_attention", default=None)
_NO_JOB = LinearAttentionCalls(lambda *_: None)


@functools.cache
def linear_backend() -> KernelBackend[CompiledLinearAttention]:
    """Return the installed kernels, which are tested once per device and dtype."""
    return KernelBackend(
        open_kernels=lambda: CompiledLinearAttention(open_installed()),
        test=run_linear_self_test,
        wrong_device=lambda device: None if runs_kernels(device, "cuda") else f"the device is {device}",
        wrong_dtype=lambda dtype: None if dtype in _SHORT else f"the dtype is {dtype}",
    )


def by_kernels(q: Tensor, k: Tensor, v: Tensor, features: FeatureMap, masks: Masks) -> Tensor | None:
    """Linear attention `(b, h, nq, d)` by the kernels; None if torch must compute it."""
    if torch.compiler.is_compiling():
        return None
    backend, device, dtype = linear_backend(), str(q.device), str(q.dtype).removeprefix("torch.")
    kernels, problem = backend.usable(device, dtype)
    job = _current.get() or _NO_JOB
    if kernels is None:
        return None
    if problem is not None:
        job.give_up(problem)
        return None
    try:
        made = kernels(q, k, v, features, masks)
    except Unsupported as error:
        job.unsupported(str(error))
        return None
    except LaunchFailed as error:
        backend.give_up(device, dtype, str(error))
        job.give_up(str(error), calls=1)
        return None
    job.calls += 1
    return made
