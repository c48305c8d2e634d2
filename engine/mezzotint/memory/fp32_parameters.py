"""Parameters kept in float32 whatever their network's dtype, because they would lose too much precision."""

from collections.abc import Mapping

# Module names by network class, as in diffusers' `_keep_in_fp32_modules`.
_KEEP_IN_FP32: Mapping[str, frozenset[str]] = {
    "Krea2Transformer2DModel": frozenset({"norm", "norm1", "norm2", "norm_q", "norm_k"}),  # scales are 1 + weight
}


def keep_in_fp32(class_name: str, parameter: str) -> bool:
    """Whether a parameter of a network of this class stays in float32."""
    return not _KEEP_IN_FP32.get(class_name, frozenset()).isdisjoint(parameter.split("."))
