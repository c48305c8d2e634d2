"""A folder's `quantization_config`: what its weights bear out is read, and any other is refused by its name."""

from collections.abc import Mapping

from mezzotint.checkpoints.folder import Component
from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import ModelRefused
from mezzotint.families.loading.stored_layers import find_layers

_SCALED = ("fp8", "fbgemm_fp8", "compressed-tensors")  # whose weights have scales beside them
_READ = ("bitsandbytes", *_SCALED)


def check_quantization(component: Component) -> None:
    """Raise ModelRefused, naming the method, if a component is quantized in a way that is not read."""
    for config in (component.config, component.config.get("text_config")):
        said = config.get("quantization_config") if isinstance(config, Mapping) else None
        if said is not None and component.files:
            _check(component, said)


def _check(component: Component, said: object) -> None:
    config = said if isinstance(said, Mapping) else {}
    by_flag = config.get("load_in_4bit") is True or config.get("load_in_8bit") is True
    method = config.get("quant_method", "bitsandbytes" if by_flag else said)
    if method not in _READ:
        raise _refused(component, f"is quantized by {plain(method, 60)}, which is not supported")
    if method == "bitsandbytes":
        return
    from mezzotint.quantization.fp8 import Fp8, ScaledWeight

    size = config.get("weight_block_size")
    columns = size[1] if isinstance(size, list) and len(size) == 2 else None
    for name, layer in find_layers(component.files).items():
        if isinstance(layer.format, Fp8) and "weight_scale" not in layer.names:
            raise _refused(component, f"is said to be quantized by {method}, but {plain(name, 100)} has no scale")
        if isinstance(layer.format, ScaledWeight) and columns and layer.format.block not in (0, columns):
            raise _refused(component, f"has scales of {layer.format.block} columns where {plain(size, 40)} is said")


def _refused(component: Component, what: str) -> ModelRefused:
    return ModelRefused(
        f"{plain(component.folder, 300)}: {component.name} {what}; get the model in 16 bits, in fp8, as a GGUF or "
        "quantized by bitsandbytes"
    )
