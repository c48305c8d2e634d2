"""What attends in one job: the implementation that was chosen, and torch's own wherever that one cannot."""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias, TypeVar

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from mezzotint.attention.compiled import CompiledAttention
from mezzotint.attention.masks import NO_MASKS, Masks
from mezzotint.attention.operation import Implementation, attention
from mezzotint.attention.reference import attention_reference
from mezzotint.attention.sdpa import attention_sdpa
from mezzotint.dispatch.library import LaunchFailed, Unavailable, Unsupported
from mezzotint.protocol import Attention, AttentionFallback

T = TypeVar("T")
_FEW_KEYS = 128  # and fewer, as of a prompt, are one launch in 16 bits; in 8 bits they are three
Tell: TypeAlias = Callable[[str, str], None]  # a notice: its code and its words


class AttentionSession:
    """Counts what it could not do as it was asked, and tells of the first."""

    def __init__(
        self, *, asked: Attention, chosen: Implementation, kernels: CompiledAttention | None, tell: Tell
    ) -> None:
        self.asked = asked
        self._used = chosen
        self._kernels = kernels
        self._tell = tell
        self._told = False  # of what cannot be done
        self._reasons: Counter[str] = Counter()
        self.kernel_calls = 0

    @property
    def used(self) -> Implementation:
        """What attends now, where it can."""
        return self._used

    @property
    def ran(self) -> Implementation:
        """What attended up to now: kernels of ours only if one of them was called."""
        return "sdpa" if self._kernels is not None and not self.kernel_calls else self._used

    @property
    def fallbacks(self) -> tuple[AttentionFallback, ...]:
        """Why something else attended, and how often; 0 calls: it was given up before it began."""
        return tuple(AttentionFallback(reason=reason, calls=calls) for reason, calls in self._reasons.items())

    def attend(self, q: Tensor, k: Tensor, v: Tensor, masks: Masks = NO_MASKS, scale: float | None = None) -> Tensor:
        """softmax(q k^T * scale + bias) v `(b, h, nq, d)`, of q `(b, h, nq, d)`, k and v `(b, h / g, nk, d)`."""
        if torch.compiler.is_compiling():
            return attention(q, k, v, masks, scale, implementation=self._used)
        if self._used == "reference":
            return attention_reference(q, k, v, masks, scale)[0]
        if self._kernels is not None and self._used != "sdpa" and q.device.type == self._kernels.device_type:
            try:
                out = self._by_kernels(self._kernels, q, k, v, masks, scale)
                self.kernel_calls += 1
                return out
            except Unsupported as error:
                self._fall_back(str(error), tell=q.dtype != torch.float32)  # which some autoencoders want
            except (LaunchFailed, Unavailable) as error:
                self.give_up(str(error), calls=1)
        return attention_sdpa(q, k, v, masks, scale)

    def _by_kernels(
        self, kernels: CompiledAttention, q: Tensor, k: Tensor, v: Tensor, masks: Masks, scale: float | None
    ) -> Tensor:
        few_keys = k.shape[2] <= _FEW_KEYS < q.shape[2]
        if self._used == "int8" and not few_keys:
            with suppress(Unsupported):  # by the kernels of 16 bits, then, before torch's own
                return kernels(q, k, v, masks, scale, int8=True)[0]
        return kernels(q, k, v, masks, scale)[0]

    def finite(self, make: Callable[[], T], what: str) -> T:
        """What `make` gives, tensors; when kernels of ours make one of them not-a-number, once more without them.

        Looks at the numbers, and so waits for the device: for whole stages, not for steps or single calls.
        """
        made = make()
        if self._kernels is None or self._used == "sdpa" or all(_finite(each) for each in tree_leaves(made)):
            return made
        self.give_up(f"{what} came out as not-a-number")
        return make()

    def give_up(self, reason: str, calls: int = 0) -> None:
        """From here on torch's own attends."""
        self._reasons[reason] += calls
        self._tell("attention_fell_back", f"attention {self._used!r} is given up for torch's own: {reason}")
        self._used = "sdpa"

    def _fall_back(self, reason: str, *, tell: bool) -> None:
        self._reasons[reason] += 1
        if tell and not self._told:
            self._told = True
            message = f"attention {self._used!r} cannot do everything here, torch's own does the rest: {reason}"
            self._tell("attention_fell_back", message)


def finite(session: AttentionSession | None, make: Callable[[], T], what: str) -> T:
    """`AttentionSession.finite`, where there may be no session."""
    return make() if session is None else session.finite(make, what)


def _finite(made: object) -> bool:
    return not isinstance(made, Tensor) or bool(torch.isfinite(made).all())
