"""Matches a LoRA to the layers of a model, and decides whether it is for that model at all."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import get_args

from torch import Tensor, nn

from mezzotint.checkpoints.plain_text import plain
from mezzotint.families.flow.original import OriginalNetwork
from mezzotint.families.loading.original_names import Form, Rows, swapped
from mezzotint.families.lora.differences import WeightDifference
from mezzotint.families.lora.file import LoraFile, LoraLayer
from mezzotint.families.lora.keys import Place, flat, from_original, number_of
from mezzotint.quantization.branched import branchable_layers, weight_shape
from mezzotint.quantization.layers import QuantizedLayer

_FEWEST = 0.5  # of a LoRA's layers; with fewer matches it is for another model
_MOST_MISSHAPEN = 0.1  # of them; with more it is for another model, otherwise they are left out
_INPUT_LAYERS = ("x_embedder", "img_in", "conv_in")  # of denoisers: latents come first, whatever else they take
# Parts of a U-Net in the order in which diffusers 0.10 made them, and of a block; cloneofsimo's files number them.
_IN_ORDER = re.compile(
    r"(?P<stage>down_blocks|up_blocks|mid_block)(?:\.(?P<block>\d+))?\.attentions\.(?P<depth>\d+)"
    r"\.transformer_blocks\.(?P<inner>\d+)\.(?P<part>attn1|ff|attn2)\.(?P<layer>to_q|to_k|to_v|to_out\.0|net\.0\.proj)"
)
_STAGES, _PARTS = ("down_blocks", "up_blocks", "mid_block"), ("attn1", "ff", "attn2")
_LAYERS = ("to_q", "to_k", "to_v", "to_out.0", "net.0.proj")
_TEXT_IN_ORDER = re.compile(r"(?:text_model\.)?encoder\.layers\.(?P<inner>\d+)\.self_attn\.(?P<layer>[kvq]|out)_proj")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A layer that a LoRA can be applied to."""

    component: str
    name: str
    shape: tuple[int, ...]
    form: Form = "whole"  # which of a LoRA's rows are for it

    def is_meant(self, layer: LoraLayer) -> bool:
        """Whether the LoRA's layer is for a weight of this shape, or for a fused weight that contains it."""
        rows, *others = self.shape
        return layer.fits((self.form.whole(rows) if isinstance(self.form, Rows) else rows, *others))

    def is_wider_for(self, layer: LoraLayer) -> bool:
        """Whether it is a denoiser's first layer that takes more than the LoRA's, such as a mask: latents are first."""
        if self.name not in _INPUT_LAYERS or "down" not in layer.names or layer.magnitude is not None:
            return False
        (rows, inputs, *window), (wanted, taken, *others) = layer.shape, self.shape
        return rows == wanted and inputs < taken and window == others and self.form == "whole"


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """Any module of a network with a weight or a bias, to which differences can be added."""

    component: str
    name: str
    shapes: Mapping[str, tuple[int, ...]]  # by parameter, of the whole where `form` is only a part
    form: Form = "whole"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """The layers of a LoRA that a model has, those that it lacks, and those of another shape.

    `wider`: pairs of which the target takes more inputs than the layer. `left_out`: names of differences that fit no
    parameter.
    """

    pairs: tuple[tuple[LoraLayer, Target], ...]
    missing: tuple[LoraLayer, ...]
    misshapen: tuple[tuple[LoraLayer, Target], ...]
    differences: tuple[tuple[WeightDifference, Module], ...] = ()
    wider: tuple[tuple[LoraLayer, Target], ...] = ()
    left_out: tuple[str, ...] = ()


def rows_for(target: Target) -> Callable[[Tensor], Tensor] | None:
    """What selects the rows for a target from those of a LoRA's weight; None if they are the same."""
    return selecting(target.form)


def selecting(form: Form) -> Callable[[Tensor], Tensor] | None:
    """What selects the rows of that form; None for all in order."""
    if isinstance(form, Rows):
        return form.take
    return swapped if form == "swapped" else None


class LayerIndex:
    """The layers of a model's networks, by their names in LoRA files."""

    def __init__(
        self, networks: Mapping[str, nn.Module], denoiser: str, original: OriginalNetwork | None = None
    ) -> None:
        """`original`: the denoiser's original naming, unless it is a U-Net."""
        self._original = original
        self._targets: dict[tuple[Place, str], Target] = {}
        self._modules: dict[tuple[Place, str], Module] = {}
        for component, network in networks.items():
            place = _place(component, denoiser)
            if place is not None:
                for name, layer in branchable_layers(network):
                    target = Target(component=component, name=name, shape=weight_shape(layer))
                    self._targets[place, flat(name)] = target
                self._modules |= {(place, flat(each.name)): each for each in _modules(component, network)}
        self._layers_per_block = _layers_per_block(networks[denoiser])

    def numbered(self, place: Place) -> tuple[Target, ...]:
        """The layers that files which number them have, in their order."""
        return tuple(target for _, target in sorted(self._orders(place), key=itemgetter(0)))

    def modules(self, place: Place, layer: str) -> tuple[Module, ...]:
        """Like `find`, for every kind of layer."""
        found = self._modules.get((place, layer)) or self._modules.get((place, layer.removesuffix("_0")))
        if found is not None or place != "denoiser":
            return () if found is None else (found,)
        if self._original is not None:
            parts = [(self._modules.get((place, name)), form) for name, form in self._original.place_flat(layer)]
            return tuple(replace(module, form=form) for module, form in parts if module is not None)
        today = None if self._layers_per_block is None else from_original(layer, self._layers_per_block)
        found = None if today is None else self._modules.get((place, today))
        return () if found is None else (found,)

    def has_bias(self, target: Target) -> bool:
        """Whether the layer has a bias, to which something can be added."""
        return any("bias" in each.shapes for each in self._modules.values() if each.name == target.name)

    def _orders(self, place: Place) -> Iterator[tuple[tuple[int, ...], Target]]:
        for (where, _), target in self._targets.items():
            if where != place:
                continue
            if place == "denoiser" and (found := _IN_ORDER.fullmatch(target.name)):
                numbers = (int(found[each] or 0) for each in ("block", "depth", "inner"))
                inside = (_PARTS.index(found["part"]), _LAYERS.index(found["layer"]))
                yield (_STAGES.index(found["stage"]), *numbers, *inside), target
            elif place != "denoiser" and (found := _TEXT_IN_ORDER.fullmatch(target.name)):
                yield (int(found["inner"]), ("k", "v", "q", "out").index(found["layer"])), target

    def find(self, place: Place, layer: str) -> tuple[Target, ...]:
        """Layers with that flat name in current or original naming; an original layer may be several current ones."""
        found = self._targets.get((place, layer)) or self._targets.get((place, layer.removesuffix("_0")))
        if found is None and place == "text_encoder_3":  # kohya's name for T5, FLUX.1's second encoder
            found = self._targets.get(("text_encoder_2", layer))
        if found is not None or place != "denoiser":
            return () if found is None else (found,)
        if self._original is not None:
            parts = [(self._targets.get((place, name)), form) for name, form in self._original.place_flat(layer)]
            return tuple(replace(target, form=form) for target, form in parts if target is not None)
        today = None if self._layers_per_block is None else from_original(layer, self._layers_per_block)
        found = None if today is None else self._targets.get((place, today))
        return () if found is None else (found,)


def fit(file: LoraFile, index: LayerIndex) -> Fit:
    """Match every layer and every difference of the file to the model."""
    pairs, missing, misshapen, wider = [], [], [], []
    by_number = {place: _in_order(file, place, index) for place in {layer.place for layer in file.layers}}
    for layer in file.layers:
        number = number_of(layer.layer)
        targets = (
            index.find(layer.place, layer.layer) if number is None else by_number[layer.place][number : number + 1]
        )
        if not targets:
            missing.append(layer)
        elif all(target.is_meant(layer) for target in targets):
            pairs += [(layer, target) for target in targets]
        elif targets[0].is_wider_for(layer):
            pairs.append((layer, targets[0]))
            wider.append((layer, targets[0]))
        else:
            misshapen.append((layer, targets[0]))
    found, left_out = _fit_differences(file, index)
    left_out += tuple(
        layer.names["bias"] for layer, target in pairs if "bias" in layer.names and not index.has_bias(target)
    )
    return Fit(
        pairs=tuple(pairs),
        missing=tuple(missing),
        misshapen=tuple(misshapen),
        differences=found,
        wider=tuple(wider),
        left_out=left_out,
    )


def _in_order(file: LoraFile, place: Place, index: LayerIndex) -> tuple[Target, ...]:
    """The model's layers by a file's numbers; none if it numbers more or fewer, and so those of another model."""
    numbers = {number_of(layer.layer) for layer in file.layers if layer.place == place} - {None}
    found = index.numbered(place) if numbers else ()
    return found if len(numbers) == len(found) else ()


def _fit_differences(
    file: LoraFile, index: LayerIndex
) -> tuple[tuple[tuple[WeightDifference, Module], ...], tuple[str, ...]]:
    found, left_out = [], []
    for difference in file.differences:
        modules = index.modules(difference.place, difference.layer)
        if modules and all(_takes(module, difference) for module in modules):
            found += [(difference, module) for module in modules]
        else:
            left_out.append(difference.name)
    return tuple(found), tuple(left_out)


def _takes(module: Module, difference: WeightDifference) -> bool:
    shape = module.shapes.get(difference.parameter)
    if shape is None:
        return False
    rows = module.form.whole(shape[0]) if isinstance(module.form, Rows) else shape[0]
    return difference.shape == (rows, *shape[1:]) or (
        difference.shape[:2] == (rows, *shape[1:2]) and math.prod(difference.shape[2:]) == math.prod(shape[2:])
    )


def _modules(component: str, network: nn.Module) -> Iterator[Module]:
    for name, module in network.named_modules():
        shapes = {
            each: tuple(value.shape) for each in ("weight", "bias") if (value := _parameter(module, each)) is not None
        }
        if isinstance(module, QuantizedLayer):
            shapes["weight"] = tuple(module.shape)
        if shapes:
            yield Module(component=component, name=name, shapes=shapes)


def _parameter(module: nn.Module, name: str) -> Tensor | None:
    return module._parameters.get(name, module._buffers.get(name))


def why_not(file: LoraFile, found: Fit, model: str) -> str | None:
    """Why the LoRA is not for that model, as a clause; None if it is."""
    meant = f"seems to be for {file.base.words}" if file.base is not None else "is for another model"
    every = len(file.layers) + len(file.differences)
    if len(found.misshapen) > _MOST_MISSHAPEN * len(file.layers):
        layer, target = found.misshapen[0]
        return (
            f"the LoRA {meant}: its '{plain(layer.layer, 80)}' is for {layer.meant_for}, "
            f"{plain(model, 100)} has {target.shape}"
        )
    has = len(file.layers) - len(found.missing) + len({difference.name for difference, _ in found.differences})
    if has < _FEWEST * every:
        lacks = (*(layer.layer for layer in found.missing), *found.left_out)
        return (
            f"the LoRA {meant}: {plain(model, 100)} has {has} of its {every} layers; it lacks '{plain(lacks[0], 80)}'"
        )
    return None


def _place(component: str, denoiser: str) -> Place | None:
    if component == denoiser:
        return "denoiser"
    return next((place for place in get_args(Place) if place == component), None)


def _layers_per_block(denoiser: nn.Module) -> int | None:
    """Residual blocks per level of a U-Net; None for other denoisers."""
    layers = getattr(getattr(denoiser, "config", None), "layers_per_block", None)
    if isinstance(layers, list | tuple):
        layers = layers[0]
    return layers if isinstance(layers, int) else None
