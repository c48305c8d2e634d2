"""LoRAs in the networks of a loaded model: beside quantized weights, merged into other weights where they compute.

Beside a quantized weight, several LoRAs are joined into one pair of factors when the LoRAs or their weights change, not
when the layer is called. Original weights are never overwritten: without LoRAs the model is as before, bit for bit.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import TypeVar

import torch
from torch import Tensor, nn

from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import Cancelled, ModelRefused
from mezzotint.families.lora.base_weights import Sources, in_network
from mezzotint.families.lora.factors import read_layers, scale_of, whole_down
from mezzotint.families.lora.file import LoraFile, LoraLayer, Stamp
from mezzotint.families.lora.gains import gains
from mezzotint.families.lora.keys import Part
from mezzotint.families.lora.lycoris import added_by, is_lycoris
from mezzotint.families.lora.matching import Fit, Target, rows_for, selecting
from mezzotint.families.lora.rotations import rotations
from mezzotint.quantization.branched import is_branchable, set_branches
from mezzotint.quantization.dora import Dora
from mezzotint.quantization.layers import QuantizedLayer
from mezzotint.quantization.linear import Branch
from mezzotint.quantization.lycoris import Difference, Hadamard, Update
from mezzotint.quantization.oft import Rotation
from mezzotint.quantization.transform import Delta

_D = TypeVar("_D", bound=Delta)
_Branches = Mapping[str, Mapping[str, Sequence[Delta]]]  # by component and layer
_Changes = Mapping[str, Mapping[str, Sequence[Difference]]]  # by component and parameter


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """What one LoRA adds: to the weights of layers, and to other parameters."""

    branches: _Branches
    changes: _Changes


@dataclass(frozen=True, slots=True, kw_only=True)
class FittingLora:
    """A LoRA, and the layers of a model that it applies to."""

    file: LoraFile
    fit: Fit


class Adapters:
    """The LoRAs in the networks of one model, and the factors held in memory."""

    def __init__(
        self, networks: Mapping[str, nn.Module], device: torch.device | None = None, *, at_rest: bool = True
    ) -> None:
        """`device`: where the networks run; None: where their weights are. `at_rest`: whether weights stay there."""
        self._networks, self._device, self._at_rest = networks, device, at_rest
        self._latest: Sequence[tuple[FittingLora, float]] = ()
        self._held: dict[Stamp, _Held] = {}
        self._on: tuple[tuple[Stamp, float], ...] | None = ()  # None: unknown, as after an interrupted change

    def hold(self, loras: Sequence[FittingLora], cancelled: Callable[[], bool], sources: Sources = in_network) -> None:
        """Load the factors of these LoRAs and drop all others; those already in memory are not read again.

        `sources`: where the weights are that DoRAs rescale. Raises ModelRefused if a file's values are not finite, or
        overflow the network's dtype.
        """
        wanted = {lora.file.stamp: lora for lora in loras}
        self._held = {stamp: held for stamp, held in self._held.items() if stamp in wanted}
        for stamp, lora in wanted.items():
            if stamp not in self._held:
                self._held[stamp] = self._read(lora, cancelled, sources)

    def apply(self, loras: Sequence[tuple[FittingLora, float]]) -> None:
        """Have these LoRAs, which are held, with their weights in the networks, and no others. Weight 0 is none."""
        self._latest = tuple(loras)
        wanted = tuple((lora.file.stamp, weight) for lora, weight in loras if weight)
        if wanted == self._on:
            return
        self._on = None
        for component, network in self._networks.items():
            branches: dict[str, list[Delta]] = {}
            changes: dict[str, list[Difference]] = {}
            for stamp, weight in wanted:
                for name, several in self._held[stamp].branches.get(component, {}).items():
                    branches.setdefault(name, []).extend(replace(each, scale=each.scale * weight) for each in several)
                for name, added in self._held[stamp].changes.get(component, {}).items():
                    changes.setdefault(name, []).extend(replace(each, scale=each.scale * weight) for each in added)
            set_branches(network, branches, changes, merge_now=self._at_rest)
        self._on = wanted

    def let_go(self) -> None:
        """Have none in the networks nor in memory."""
        self.apply([])
        self._held = {}

    def forget(self) -> None:
        """Discard the record of what is in the networks, which others may have changed."""
        self._on = None

    def put_back(self) -> None:
        """Reapply the same LoRAs after layers of the networks were replaced."""
        self.forget()
        self.apply(self._latest)

    def _read(self, lora: FittingLora, cancelled: Callable[[], bool], sources: Sources) -> _Held:
        whole = [difference.name for difference, _ in lora.fit.differences]
        tensors = read_layers(lora.file, (layer for layer, _ in lora.fit.pairs), cancelled, whole)
        branches: dict[str, dict[str, list[Delta]]] = {}
        changes: dict[str, dict[str, list[Difference]]] = {}
        for layer, target, delta in self._deltas(lora, tensors, sources, cancelled):
            placed = self._checked(lora, layer.layer, self._placed(delta, target))
            branches.setdefault(target.component, {}).setdefault(target.name, []).append(placed)
        for where, name, difference in self._differences(lora, tensors):
            network = self._networks[where]
            path, _, parameter = name.rpartition(".")
            if parameter == "weight" and is_branchable(network.get_submodule(path)):
                added = self._placed(difference, Target(component=where, name=path, shape=difference.whole.shape))
                branches.setdefault(where, {}).setdefault(path, []).append(self._checked(lora, path, added))
            else:
                changed = self._checked(lora, name, self._moved(difference, network))
                changes.setdefault(where, {}).setdefault(name, []).append(changed)
        return _Held(branches=branches, changes=changes)

    def _checked(self, lora: FittingLora, layer: str, placed: _D | None) -> _D:
        if placed is None:
            raise ModelRefused(
                f"{plain(lora.file.path, 300)}: '{plain(layer, 80)}' is too large for the network's numbers; "
                "try --dtype float32"
            )
        return placed

    def _differences(self, lora: FittingLora, tensors: Mapping[str, Tensor]) -> Iterator[tuple[str, str, Difference]]:
        """What is added to single parameters: component, name of the parameter, and the difference."""
        for difference, module in lora.fit.differences:
            shape = module.shapes[difference.parameter]
            rows = selecting(module.form)
            whole = tensors[difference.name]
            chosen = (whole if rows is None else rows(whole)).reshape(shape)
            yield module.component, f"{module.name}.{difference.parameter}", Difference(whole=chosen)
        for layer, target in lora.fit.pairs:
            if "bias" in layer.names and layer.names["bias"] not in lora.fit.left_out:
                rows, whole = rows_for(target), tensors[layer.names["bias"]]
                scale = scale_of(lora.file, layer, tensors)
                chosen = whole if rows is None else rows(whole)
                yield target.component, f"{target.name}.bias", Difference(whole=chosen, scale=scale)

    def _moved(self, difference: Difference, network: nn.Module) -> Difference | None:
        like = next(each for each in network.parameters() if each.is_floating_point())
        if not bool(torch.isfinite(difference.whole.to(like.dtype)).all()):
            return None
        return difference.map_factors(lambda factor: factor.to(self._device or like.device).contiguous())

    def _deltas(
        self, lora: FittingLora, tensors: Mapping[str, Tensor], sources: Sources, cancelled: Callable[[], bool]
    ) -> Iterator[tuple[LoraLayer, Target, Delta]]:
        """What all layers add to their targets."""
        for layer, pairs in groupby(lora.fit.pairs, key=itemgetter(0)):
            if cancelled():
                raise Cancelled
            if layer.rotated is not None:
                targets = [target for _, target in pairs]
                turned = rotations(lora.file.path, layer, _parts(layer, tensors), targets)
                yield from ((layer, *each) for each in zip(targets, turned, strict=True))
                continue
            updates = [(target, _update(lora.file, layer, target, tensors)) for _, target in pairs]
            if layer.magnitude is None:
                yield from ((layer, *each) for each in updates)
                continue
            magnitudes = tensors[layer.magnitude]
            found = gains(lora.file.path, layer, magnitudes, updates, self._networks, sources, self._device)
            for (target, update), gain in zip(updates, found, strict=True):
                yield layer, target, Dora(update=update, gain=gain)

    def _placed(self, delta: Delta, target: Target) -> Delta | None:
        """Move it to where it is used: in the network's dtype beside a quantized weight, else as exact as in the file.

        None if its values overflow the network's dtype.
        """
        network = self._networks[target.component]
        like = next(each for each in network.parameters() if each.is_floating_point())
        beside = isinstance(network.get_submodule(target.name), QuantizedLayer)
        update = delta.update if isinstance(delta, Dora) else delta
        if beside and isinstance(update, Hadamard | Difference):  # multiplied before it is rounded
            update = update.map_factors(Tensor.float).as_branch()
        rounded = update.map_factors(lambda factor: factor.to(like.dtype))
        gains = (delta.gain.to(like.dtype),) if isinstance(delta, Dora) else ()  # which stay exact
        if not all(bool(torch.isfinite(factor).all()) for factor in (*rounded.factors, *gains)):
            return None
        update = rounded if beside else update
        used = replace(delta, update=update) if isinstance(delta, Dora) and not isinstance(update, Rotation) else update
        return used.map_factors(lambda factor: factor.to(self._device or like.device).contiguous())


def _update(file: LoraFile, layer: LoraLayer, target: Target, tensors: Mapping[str, Tensor]) -> Update:
    """What a layer adds to its target weight, in the shape of that weight."""
    parts = _parts(layer, tensors)
    scale = scale_of(file, layer, tensors)
    delta = added_by(parts, target.shape[2:], scale) if is_lycoris(parts) else _branch(layer, target, parts, scale)
    select = rows_for(target)
    return delta if select is None else delta.select_rows(select)


def _parts(layer: LoraLayer, tensors: Mapping[str, Tensor]) -> dict[Part, Tensor]:
    return {part: tensors[name] for part, name in layer.names.items()}


def _branch(layer: LoraLayer, target: Target, parts: Mapping[Part, Tensor], scale: float) -> Branch:
    is_convolution, up = len(target.shape) == 4, parts["up"]
    down = whole_down(parts)
    if layer.shape[1] < target.shape[1] and target.is_wider_for(layer):  # nothing is added to what the others give
        more = down.new_zeros(layer.rank, target.shape[1] - layer.shape[1], *down.shape[2:])
        down = torch.cat([down, more], dim=1)
    down = down.reshape(layer.rank, *target.shape[1:])
    up = up.reshape(-1, layer.rank, 1, 1) if is_convolution else up.reshape(-1, layer.rank)
    return Branch(down=down, up=up, scale=scale)
