"""Matches a LoRA to the layers of a model, and decides whether it is for that model at all."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import get_args

from torch import Tensor, nn

from mezzotint.checkpoints.plain_text import plain
from mezzotint.families.flow.original import OriginalNetwork
from mezzotint.families.loading.original_names import Form, Rows, swapped
from mezzotint.families.lora.file import LoraFile, LoraLayer
from mezzotint.families.lora.keys import Place, flat, from_original
from mezzotint.quantization.branched import branchable_layers, weight_shape

_FEWEST = 0.5  # of a LoRA's layers; with fewer matches it is for another model


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """The layers of a LoRA that a model has, those that it lacks, and those of another shape."""

    pairs: tuple[tuple[LoraLayer, Target], ...]
    missing: tuple[LoraLayer, ...]
    misshapen: tuple[tuple[LoraLayer, Target], ...]


def rows_for(target: Target) -> Callable[[Tensor], Tensor] | None:
    """What selects the rows for a target from those of a LoRA's weight; None if they are the same."""
    if isinstance(target.form, Rows):
        return target.form.take
    return swapped if target.form == "swapped" else None


class LayerIndex:
    """The layers of a model's networks, by their names in LoRA files."""

    def __init__(
        self, networks: Mapping[str, nn.Module], denoiser: str, original: OriginalNetwork | None = None
    ) -> None:
        """`original`: the denoiser's original naming, unless it is a U-Net."""
        self._original = original
        self._targets: dict[tuple[Place, str], Target] = {}
        for component, network in networks.items():
            place = _place(component, denoiser)
            if place is not None:
                for name, layer in branchable_layers(network):
                    target = Target(component=component, name=name, shape=weight_shape(layer))
                    self._targets[place, flat(name)] = target
        self._layers_per_block = _layers_per_block(networks[denoiser])

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
    """Match every layer of the file to the model."""
    pairs, missing, misshapen = [], [], []
    for layer in file.layers:
        targets = index.find(layer.place, layer.layer)
        if not targets:
            missing.append(layer)
        elif all(target.is_meant(layer) for target in targets):
            pairs += [(layer, target) for target in targets]
        else:
            misshapen.append((layer, targets[0]))
    return Fit(pairs=tuple(pairs), missing=tuple(missing), misshapen=tuple(misshapen))


def why_not(file: LoraFile, found: Fit, model: str) -> str | None:
    """Why the LoRA is not for that model, as a clause; None if it is."""
    meant = f"seems to be for {file.base.words}" if file.base is not None else "is for another model"
    if found.misshapen:
        layer, target = found.misshapen[0]
        return (
            f"the LoRA {meant}: its '{plain(layer.layer, 80)}' is for {layer.meant_for}, "
            f"{plain(model, 100)} has {target.shape}"
        )
    has = len(file.layers) - len(found.missing)
    if has < _FEWEST * len(file.layers):
        return (
            f"the LoRA {meant}: {plain(model, 100)} has {has} of its {len(file.layers)} layers; "
            f"it lacks '{plain(found.missing[0].layer, 80)}'"
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
