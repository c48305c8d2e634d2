"""The layers of a TAESD-like decoder, from the names and shapes of its tensors.

Layers are numbered as in a Sequential: `decoder.layers.N` in diffusers' files, `N`, `decoder.N` or `taesd_decoder.N` in
others. Numbers without tensors are the ReLU after the first convolution, and upsampling before each later one.
"""

import re
from collections.abc import Mapping, Sequence

from mezzotint.checkpoints.header import TensorSpec
from mezzotint.families.preview_decoder.separable import SeparableShape
from mezzotint.families.preview_decoder.tiny import Activation, BlockLayer, ConvolutionLayer, Layer, Upsampling

_PREFIXES = ("decoder.layers.", "taesd_decoder.", "decoder.", "")
_NUMBERED = re.compile(r"([0-9]{1,3})\.(.+)")
MAX_LAYERS = 64
MAX_CHANNELS = 1024
_GROUPS = 4  # of the group normalization, which divide its channels

_Parts = Mapping[str, TensorSpec]


def decoder_tensors(tensors: Mapping[str, TensorSpec]) -> dict[str, str]:
    """The decoder's tensors in a file, which may hold an encoder beside it: `N.NAME`, N from 0, by name in the file."""
    for prefix in _PREFIXES:
        own = {name: match for name in tensors if (match := _NUMBERED.fullmatch(name.removeprefix(prefix)))
               and name.startswith(prefix)}  # fmt: skip
        if own:
            first = min(int(match[1]) for match in own.values())
            return {name: f"{int(match[1]) - first}.{match[2]}" for name, match in own.items()}
    return {}


def layers_of(tensors: Mapping[str, TensorSpec]) -> Sequence[Layer]:
    """The layers for tensors named `N.NAME`; raises ValueError, with the reason, for anything but such a decoder."""
    numbered: dict[int, dict[str, TensorSpec]] = {}
    for name, spec in tensors.items():
        number, _, part = name.partition(".")
        numbered.setdefault(int(number), {})[part] = spec
    count = max(numbered, default=-1) + 1
    if not 3 <= count <= MAX_LAYERS:
        raise ValueError(f"it has {count} layers; expected 3 to {MAX_LAYERS}")
    layers = [_layer(numbered, index, last=index == count - 1) for index in range(count)]
    _check_chain(layers)
    return layers


def separable_of(tensors: Mapping[str, TensorSpec]) -> SeparableShape:
    """The shape of a decoder of our own; raises ValueError, with the reason, for anything else."""
    if "start.weight" not in tensors:
        raise ValueError("its layers are not numbered as a decoder's")
    widths = [_channels(tensors, "start.weight")[0]]
    while (narrower := f"narrow.{len(widths) - 1}.weight") in tensors and len(widths) <= MAX_LAYERS:
        widths.append(_channels(tensors, narrower)[0])
    blocks = [{name.split(".")[2] for name in tensors if name.startswith(f"stages.{stage}.")}
              for stage in range(len(widths))]  # fmt: skip
    if sum(map(len, blocks)) + len(widths) > MAX_LAYERS:
        raise ValueError(
            f"it has {sum(map(len, blocks))} blocks and {len(widths)} stages; expected {MAX_LAYERS} in all"
        )
    return SeparableShape(
        latent_channels=_channels(tensors, "start.weight")[1],
        widths=tuple(widths),
        depths=tuple(map(len, blocks)),
        expansion=max(1, _channels(tensors, "stages.0.0.expand.weight")[0] // widths[0]),
    )


def _check_chain(layers: Sequence[Layer]) -> None:
    made = None
    for index, layer in enumerate(layers):
        if isinstance(layer, ConvolutionLayer | BlockLayer):
            if made not in (None, layer.given):
                raise ValueError(f"layer {index} takes {layer.given} channels; the layers before it give {made}")
            made = layer.made


def _layer(numbered: Mapping[int, _Parts], index: int, *, last: bool) -> Layer:
    parts = numbered.get(index)
    if parts is None:
        if index + 1 not in numbered or (index > 1 and "weight" not in numbered[index + 1]):
            raise ValueError(f"layer {index} is missing")
        return Activation() if index == 1 else Upsampling()
    if index == 1:
        raise ValueError("no ReLU follows the first convolution: this is an encoder, or no decoder of this kind")
    if "weight" in parts:
        made, given = _channels(parts, "weight", f"layer {index}: ")
        return ConvolutionLayer(given=given, made=made, bias=index == 0 or last)
    if "conv.0.weight" not in parts:
        raise ValueError(f"layer {index} has {', '.join(sorted(parts)[:2])}: of videos' decoders, none is read")
    made, given = _channels(parts, "conv.0.weight", f"layer {index}: ")
    pooled = _channels(parts, "pool.0.weight", f"layer {index}: ")[0] if "pool.0.weight" in parts else 0
    if pooled % _GROUPS:
        raise ValueError(f"layer {index} normalizes {pooled} channels in {_GROUPS} groups")
    return BlockLayer(given=given, made=made, pooled=pooled)


def _channels(parts: _Parts, name: str, where: str = "") -> tuple[int, int]:
    """Output and input channels of a convolution."""
    shape = parts[name].shape if name in parts else ()
    if len(shape) != 4 or not all(0 < side <= MAX_CHANNELS for side in shape[:2]):
        raise ValueError(f"{where}{name} has the shape {list(shape)}")
    return shape[0], shape[1]
