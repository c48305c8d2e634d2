"""What attends in one job: the implementation that was chosen, and torch's own wherever that one cannot."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from mezzotint.attention.compiled import CompiledAttention
from mezzotint.attention.masks import NO_MASKS, Masks
from mezzotint.attention.operation import Implementation, attention
from mezzotint.attention.reference import attention_reference
from mezzotint.attention.sdpa import attention_sdpa
from mezzotint.dispatch.dispatcher import Dispatcher, FallbackLog, Tell
from mezzotint.dispatch.library import Unsupported
from mezzotint.protocol import Attention, KernelFallback

T = TypeVar("T")
_FEW_KEYS = 128  # and fewer, as of a prompt, are one launch in 16 bits; in 8 bits they are three


class AttentionSession(Dispatcher[Implementation, Tensor, Tensor, Masks, float | None]):
    """Counts what it could not do as it was asked, and tells of the first."""

    def __init__(
        self, *, asked: Attention, chosen: Implementation, kernels: CompiledAttention | None, tell: Tell
    ) -> None:
        self.asked = asked
        super().__init__(
            name=chosen,
            plain="reference" if chosen == "reference" else "sdpa",
            kernels=None if kernels is None else partial(_in_8_bits if chosen == "int8" else _in_16_bits, kernels),
            device_type=None if kernels is None else kernels.device_type,
            log=FallbackLog("attention_fell_back", tell),
            given_up=f"attention {chosen!r} is given up for torch's own",
            incomplete=f"attention {chosen!r} cannot do everything here, torch's own does the rest",
            untold=torch.float32,  # which some autoencoders want
        )

    @property
    def fallbacks(self) -> tuple[KernelFallback, ...]:
        """Why something else attended, and how often."""
        return self._log.fallbacks

    def attend(self, q: Tensor, k: Tensor, v: Tensor, masks: Masks = NO_MASKS, scale: float | None = None) -> Tensor:
        """softmax(q k^T * scale + bias) v `(b, h, nq, d)`, of q `(b, h, nq, d)`, k and v `(b, h / g, nk, d)`."""
        if torch.compiler.is_compiling():
            return attention(q, k, v, masks, scale, implementation=self.used)
        made = self.run(q, k, v, masks, scale)
        if made is not None:
            return made
        if self.plain == "reference":
            return attention_reference(q, k, v, masks, scale)[0]
        return attention_sdpa(q, k, v, masks, scale)

    def finite(self, make: Callable[[], T], what: str) -> T:
        """What `make` gives, tensors; when kernels of ours make one of them not-a-number, once more without them.

        Looks at the numbers, and so waits for the device: for whole stages, not for steps or single calls.
        """
        made = make()
        if self.kernels is None or all(_finite(each) for each in tree_leaves(made)):
            return made
        self.give_up(f"{what} came out as not-a-number")
        return make()


def _in_16_bits(
    kernels: CompiledAttention, q: Tensor, k: Tensor, v: Tensor, masks: Masks, scale: float | None
) -> Tensor:
    return kernels(q, k, v, masks, scale)[0]


def _in_8_bits(
    kernels: CompiledAttention, q: Tensor, k: Tensor, v: Tensor, masks: Masks, scale: float | None
) -> Tensor:
    few_keys = k.shape[2] <= _FEW_KEYS < q.shape[2]
    try:
        return kernels(q, k, v, masks, scale, int8=not few_keys)[0]
    except Unsupported:
        if few_keys:
            raise
    return kernels(q, k, v, masks, scale)[0]


def finite(session: AttentionSession | None, make: Callable[[], T], what: str) -> T:
    """`AttentionSession.finite`, where there may be no session."""
    return make() if session is None else session.finite(make, what)


def _finite(made: object) -> bool:
    return not isinstance(made, Tensor) or bool(torch.isfinite(made).all())
