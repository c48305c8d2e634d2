"""Parameters that stay in 32 bits whatever the format of their network: what is added to them would else be lost."""

from collections.abc import Mapping

# Names of modules, by the class of the network; those of diffusers' `_keep_in_fp32_modules`.
_WIDE: Mapping[str, frozenset[str]] = {
    "Krea2Transformer2DModel": frozenset({"norm", "norm1", "norm2", "norm_q", "norm_k"}),  # scales are 1 + weight
}


def stays_wide(class_name: str, parameter: str) -> bool:
    """Whether a parameter of a network of that class is one of them."""
    return not _WIDE.get(class_name, frozenset()).isdisjoint(parameter.split("."))
