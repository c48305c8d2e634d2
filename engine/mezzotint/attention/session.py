"""Attention of one job: the chosen implementation, with a fallback to torch's where it cannot run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeAlias, TypeVar

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from mezzotint.attention.blocks.kernels import kernel_attention
from mezzotint.attention.blocks.plain import block_attention
from mezzotint.attention.blocks.reference import block_reference
from mezzotint.attention.blocks.table import BlockTable
from mezzotint.attention.blocks.tail import tail_attention, tail_reference
from mezzotint.attention.compiled import CompiledAttention
from mezzotint.attention.differentiable import attention_with_gradients, wants_gradients
from mezzotint.attention.masks import NO_MASKS, Masks
from mezzotint.attention.operation import Implementation, attention
from mezzotint.attention.reference import attention_reference
from mezzotint.attention.sdpa import attention_sdpa
from mezzotint.dispatch.dispatcher import Dispatcher, FallbackLog, Tell
from mezzotint.dispatch.library import Unsupported
from mezzotint.protocol import Attention, KernelFallback

T = TypeVar("T")


class Attend(Protocol):
    """Attention of `AttentionSession.attend`, without any reduction."""

    def __call__(
        self, q: Tensor, k: Tensor, v: Tensor, masks: Masks, scale: float | None, table: BlockTable | None = None
    ) -> Tensor:
        """Return `(b, h, nq, d)`."""


Reduction: TypeAlias = Callable[[Attend, Tensor, Tensor, Tensor, Masks, float | None], Tensor]
_FEW_KEYS = 128  # up to this many keys, as in cross-attention, take one launch in 16 bits but three in 8 bits


@dataclass(frozen=True, slots=True, kw_only=True)
class _Special:
    """Kernels that do not take every call."""

    options: Mapping[str, Any]  # of CompiledAttention
    otherwise: Callable[..., Tensor]
    no_table: str
    incomplete: str


class AttentionSession(Dispatcher[Implementation, Tensor, Tensor, Masks, float | None, BlockTable | None]):
    """Dispatches attention calls, counts fallbacks and reports the first."""

    def __init__(
        self, *, asked: Attention, chosen: Implementation, kernels: CompiledAttention | None, tell: Tell
    ) -> None:
        log = FallbackLog("attention_fell_back", tell)
        ways: dict[str, Callable[..., Tensor]] = {
            "flash-fp16": partial(_special, _HALF_SUMS, log),
            "int8": _in_8_bits,
            "int8-all": partial(_special, _ALL_INT8, log),
            "int8-fp8": partial(_special, _INT8_FP8, log),
        }
        attend = ways.get(chosen, _in_16_bits)
        self.asked = asked
        self.reduction: Reduction | None = None  # of the tokens of the layer that is running
        super().__init__(
            name=chosen,
            plain="reference" if chosen == "reference" else "sdpa",
            kernels=None if kernels is None else partial(attend, kernels),
            device_type=None if kernels is None else kernels.device_type,
            log=log,
            given_up=f"attention {chosen!r} failed; using torch's attention instead",
            incomplete=f"attention {chosen!r} does not support all calls here; torch handles the rest",
            silent_dtype=torch.float32,  # needed by some autoencoders
        )

    @property
    def fallbacks(self) -> tuple[KernelFallback, ...]:
        """Reasons for fallbacks, with their counts."""
        return self._log.fallbacks

    def attend(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        masks: Masks = NO_MASKS,
        scale: float | None = None,
        table: BlockTable | None = None,
    ) -> Tensor:
        """softmax(q k^T * scale + bias) v `(b, h, nq, d)` for q `(b, h, nq, d)`, k and v `(b, h / g, nk, d)`.

        With a table, of its blocks, and of the means of the others if it says so; without masks.
        """
        if table is not None and masks is not NO_MASKS:
            raise ValueError("attention takes masks or a block table; let the table hide keys")
        if self.reduction is not None and table is None:
            return self.reduction(self._attend, q, k, v, masks, scale)
        return self._attend(q, k, v, masks, scale, table)

    def _attend(
        self, q: Tensor, k: Tensor, v: Tensor, masks: Masks, scale: float | None, table: BlockTable | None = None
    ) -> Tensor:
        if torch.compiler.is_compiling() and table is None:
            return attention(q, k, v, masks, scale, implementation=self.used)
        made = self.run(q, k, v, masks, scale, table)
        if made is not None:
            return made
        if table is not None:
            return self._attend_blocks(q, k, v, table, scale)
        if self.plain == "reference":
            return attention_reference(q, k, v, masks, scale)[0]
        return attention_sdpa(q, k, v, masks, scale)

    def _attend_blocks(self, q: Tensor, k: Tensor, v: Tensor, table: BlockTable, scale: float | None) -> Tensor:
        if self.plain == "reference":
            exact = tail_reference(q, k, v, table, scale) if table.pooled else block_reference(q, k, v, table, scale)[0]
            return exact.to(q.dtype)
        return block_attention(q, k, v, table, scale)

    def finite(self, make: Callable[[], T], what: str) -> T:
        """Return the tensors from `make`; if our kernels produced a NaN or infinity, give them up and run it again.

        Synchronizes with the device, so use it for whole stages, not for steps or single calls.
        """
        made = make()
        if self.kernels is None or all(_finite(each) for each in tree_leaves(made)):
            return made
        self.give_up(f"{what} contains NaN or infinity")
        return make()


def _in_16_bits(
    kernels: CompiledAttention,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    masks: Masks,
    scale: float | None,
    table: BlockTable | None,
) -> Tensor:
    if table is not None:
        return _blocks(kernels, q, k, v, table, scale, int8=False)
    if wants_gradients(q, k, v, masks.bias):
        return attention_with_gradients(kernels, q, k, v, masks, scale)
    return kernels(q, k, v, masks, scale)[0]


def _in_8_bits(
    kernels: CompiledAttention,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    masks: Masks,
    scale: float | None,
    table: BlockTable | None,
) -> Tensor:
    if table is not None:
        return _blocks_in_8_bits(kernels, q, k, v, table, scale)
    if wants_gradients(q, k, v, masks.bias):  # of 8-bit scores there are none
        return attention_with_gradients(kernels, q, k, v, masks, scale)
    few_keys = k.shape[2] <= _FEW_KEYS < q.shape[2]
    try:
        return kernels(q, k, v, masks, scale, int8=not few_keys)[0]
    except Unsupported:
        if few_keys:
            raise
    return kernels(q, k, v, masks, scale)[0]


def _special(
    way: _Special,
    log: FallbackLog,
    kernels: CompiledAttention,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    masks: Masks,
    scale: float | None,
    table: BlockTable | None,
) -> Tensor:
    """By that way's kernels where there are such; what others do instead is recorded."""
    if wants_gradients(q, k, v, masks.bias) or k.shape[2] <= _FEW_KEYS < q.shape[2]:
        return way.otherwise(kernels, q, k, v, masks, scale, table)
    try:
        if table is not None:
            raise Unsupported(way.no_table)
        return kernels(q, k, v, masks, scale, **way.options)[0]
    except Unsupported as error:
        out = way.otherwise(kernels, q, k, v, masks, scale, table)
        log.unsupported(way.incomplete, str(error), tell=True)
        return out


def _blocks_in_8_bits(
    kernels: CompiledAttention, q: Tensor, k: Tensor, v: Tensor, table: BlockTable, scale: float | None
) -> Tensor:
    try:
        return _blocks(kernels, q, k, v, table, scale, int8=True)
    except Unsupported:
        return _blocks(kernels, q, k, v, table, scale, int8=False)


def _blocks(
    kernels: CompiledAttention, q: Tensor, k: Tensor, v: Tensor, table: BlockTable, scale: float | None, *, int8: bool
) -> Tensor:
    if table.pooled:
        return tail_attention(kernels, q, k, v, table, scale, int8=int8)
    return kernel_attention(kernels, q, k, v, table, scale, int8=int8)[0]


class InSession:
    """A processor with an attention of its own: by the session of the job that runs, if there is one."""

    session: AttentionSession | None = None


def finite(session: AttentionSession | None, make: Callable[[], T], what: str) -> T:
    """Same as `AttentionSession.finite`, for an optional session."""
    return make() if session is None else session.finite(make, what)


def _finite(made: object) -> bool:
    return not isinstance(made, Tensor) or bool(torch.isfinite(made).all())


_HALF_SUMS = _Special(
    options={"half_sums": True},
    otherwise=_in_16_bits,
    no_table="block tables take the kernels of 'flash'",
    incomplete="attention 'flash-fp16' does not support all calls here; 'flash' handles the rest",
)
_ALL_INT8 = _Special(
    options={"int8": True, "int8_values": True},
    otherwise=_in_8_bits,
    no_table="no int8-all kernel follows block tables",
    incomplete="attention 'int8-all' does not support all calls here; 'int8' or 'flash' handles the rest",
)
_INT8_FP8 = _Special(
    options={"int8": True, "fp8_values": True},
    otherwise=_in_8_bits,
    no_table="no int8-fp8 kernel follows block tables",
    incomplete="attention 'int8-fp8' does not support all calls here; 'int8' or 'flash' handles the rest",
)
