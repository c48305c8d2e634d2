"""GroupNorm and SiLU in torch, in float64: what kernels are compared with."""

from torch import Tensor
from torch.nn import functional


def group_norm_reference(
    x: Tensor, groups: int, weight: Tensor | None, bias: Tensor | None, epsilon: float, *, silu: bool
) -> Tensor:
    """Same as `CompiledGroupNorm`, in float64."""
    weight, bias = (None if each is None else each.double() for each in (weight, bias))
    normalized = functional.group_norm(x.double(), groups, weight, bias, epsilon)
    return functional.silu(normalized) if silu else normalized
