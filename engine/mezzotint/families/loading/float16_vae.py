"""Autoencoders in float16: their activations are scaled down by a power of two, since they may exceed its range.

Images pass through an encoder or decoder as a sum that residual blocks add to and that only norms read. With
GroupNorm(s x, s^2 epsilon) = GroupNorm(x, epsilon) the sum can be s times as large: then what is added to it, and what
convolutions between the blocks add by their biases, is multiplied by s. Powers of two only change exponents, so nothing
is rounded but what becomes smaller than float16's least normal number, 6e-5.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import torch
from torch import Tensor, nn

from mezzotint.families.family import Network
from mezzotint.memory.host import DiskTensor, Source

SHIFT = 5  # SDXL's decoder has shown 3.1e5, which is 4.7 times what float16 holds; 2**5 is 32 times that
_CLASSES = ("AutoencoderKL", "AutoencoderKLFlux2")
_BLOCKS = {"down_block_types": "DownEncoderBlock2D", "up_block_types": "UpDecoderBlock2D"}
_IS_SCALED = "activations_scaled"


def can_scale(class_name: str, config: Mapping[str, object]) -> bool:
    """Whether an autoencoder of this configuration is made of blocks that can be scaled."""
    blocks = {key: config.get(key, (block,)) for key, block in _BLOCKS.items()}
    usual = all(isinstance(found, list | tuple) and set(found) == {_BLOCKS[key]} for key, found in blocks.items())
    return class_name in _CLASSES and usual


def is_scaled(vae: Network) -> bool:
    """Whether `scale_activations` was applied."""
    return bool(getattr(vae, _IS_SCALED, False))


def scale_activations(vae: Network, on_disk: Mapping[str, Source]) -> Mapping[str, Source]:
    """Make the activations between blocks 2**-SHIFT times as large; call it while the network is off the device.

    Returns `on_disk`, the sources of weights that are read from files, scaled as well.
    """
    factor, found = 2.0**-SHIFT, dict(on_disk)
    for half in ("encoder", "decoder"):
        network = vae.get_submodule(half)
        for name, layer, key in _added_to_the_sum(network):
            parameter = layer._parameters[key]
            if parameter is not None:
                layer._parameters[key] = _parameter(parameter, lambda tensor: tensor * factor)
                _scale_source(found, f"{half}.{name}.{key}", factor)
        for norm in network.modules():
            if isinstance(norm, nn.GroupNorm):
                norm.eps *= factor**2
    setattr(vae, _IS_SCALED, True)
    return found


def widen(vae: Network, on_disk: Mapping[str, Source]) -> Mapping[str, Source]:
    """Turn the network into float32; returns the sources of weights that are read from files, which become so, too."""
    for module in vae.modules():
        for key, parameter in module._parameters.items():
            if parameter is not None:
                module._parameters[key] = _parameter(parameter, lambda tensor: tensor.float())
        for key, buffer in module._buffers.items():
            module._buffers[key] = buffer.float() if buffer is not None and buffer.is_floating_point() else buffer
    return {
        name: replace(source, layout=replace(source.layout, dtype=torch.float32))
        if isinstance(source, DiskTensor) and source.layout.dtype == torch.float16
        else source
        for name, source in on_disk.items()
    }


def _added_to_the_sum(half: nn.Module) -> Iterator[tuple[str, nn.Module, str]]:
    """Layers of an encoder or decoder, by name, and their parameters that the sum is proportional to."""
    from diffusers.models.attention_processor import Attention
    from diffusers.models.downsampling import Downsample2D
    from diffusers.models.resnet import ResnetBlock2D
    from diffusers.models.upsampling import Upsample2D

    all_of, bias_of = ("weight", "bias"), ("bias",)
    scaled: Mapping[type[nn.Module], Mapping[str, tuple[str, ...]]] = {
        type(half): {"conv_in": all_of},
        ResnetBlock2D: {"conv1": all_of, "conv2": all_of, "conv_shortcut": bias_of},
        Attention: {"to_out.0": all_of},
        Downsample2D: {"conv": bias_of},
        Upsample2D: {"conv": bias_of},
    }
    for prefix, module in half.named_modules():
        for child, keys in scaled.get(type(module), {}).items():
            if getattr(module, child.partition(".")[0]) is not None:
                name = f"{prefix}.{child}" if prefix else child
                yield from ((name, module.get_submodule(child), key) for key in keys)


def _parameter(old: Tensor, change: Callable[[Tensor], Tensor]) -> nn.Parameter:
    with torch.inference_mode(False), torch.no_grad():
        return nn.Parameter(change(old.detach()), requires_grad=False)


def _scale_source(sources: dict[str, Source], name: str, factor: float) -> None:
    source = sources.get(name)
    if isinstance(source, DiskTensor):
        convert = source.convert

        def scaled(stored: Tensor) -> Tensor:
            return (stored if convert is None else convert(stored)) * factor

        sources[name] = replace(source, convert=scaled)
