"""The kernels of `flash-fp16`, `int8...` in plain torch, slow on any device: to see their effect on images."""

from typing import TYPE_CHECKING, cast

from torch import Tensor

from mezzotint.attention.blocks.table import BlockTable
from mezzotint.attention.int8_reference import (
    half_sums_reference,
    int8_all_reference,
    int8_fp8_reference,
    int8_scores_reference,
)
from mezzotint.attention.masks import NO_MASKS, Masks
from mezzotint.attention.sdpa import attention_sdpa
from mezzotint.attention.selection import AttentionBackends
from mezzotint.attention.session import AttentionSession
from mezzotint.dispatch.library import Unsupported
from mezzotint.protocol import Attention

if TYPE_CHECKING:
    from mezzotint.attention.compiled import CompiledAttention
    from mezzotint.dispatch.dispatcher import Tell

_WIDEST = 128  # head size of the 8-bit kernels; here smaller ones are simulated, too


class SimulatedKernels:
    """Computes what these kernels compute; plain 16 bits are torch's."""

    def __init__(self, device_type: str) -> None:
        self.device_type = device_type

    def __call__(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        masks: Masks = NO_MASKS,
        scale: float | None = None,
        *,
        int8: bool = False,
        int8_values: bool = False,
        half_sums: bool = False,
        fp8_values: bool = False,
        with_lse: bool = False,
        table: BlockTable | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """Same as `CompiledAttention`, without block tables. Raises Unsupported where there would be no kernel."""
        if table is not None:
            raise Unsupported("block tables are not simulated")
        if not int8 and not half_sums:
            return attention_sdpa(q, k, v, masks, scale), None
        if q.shape[3] > _WIDEST or k.shape[2] == 0:
            raise Unsupported(f"no {'int8' if int8 else 'flash-fp16'} kernel for head size {q.shape[3]}")
        if (int8_values or fp8_values) and (masks.key_mask is not None or masks.bias is not None):
            raise Unsupported(f"no {'int8-all' if int8_values else 'int8-fp8'} kernel with masks")
        attend = int8_scores_reference if int8 else half_sums_reference
        if int8_values or fp8_values:
            attend = int8_all_reference if int8_values else int8_fp8_reference
        out, lse = attend(q, k, v, masks, scale)
        return out, lse if with_lse else None


class SimulatedBackends(AttentionBackends):
    """Attention backends of which those less exact than `flash` are simulated."""

    def session(self, asked: Attention, device: str, dtype: str, tell: "Tell") -> AttentionSession:
        """Return the attention session for a job."""
        if asked not in ("flash-fp16", "int8", "int8-all", "int8-fp8"):
            return super().session(asked, device, dtype, tell)
        kernels = cast("CompiledAttention", SimulatedKernels(device.partition(":")[0]))
        return AttentionSession(asked=asked, chosen=asked, kernels=kernels, tell=tell)
