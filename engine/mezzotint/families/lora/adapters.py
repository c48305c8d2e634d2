"""LoRAs in the networks of a loaded model: beside quantized weights, merged into other weights where they compute.

Beside a quantized weight, several LoRAs are joined into one pair of factors when the LoRAs or their weights change, not
when the layer is called. Original weights are never overwritten: without LoRAs the model is as before, bit for bit.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter

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
from mezzotint.families.lora.matching import Fit, Target, rows_for
from mezzotint.families.lora.rotations import rotations
from mezzotint.quantization.branched import set_branches
from mezzotint.quantization.dora import Dora
from mezzotint.quantization.layers import QuantizedLayer
from mezzotint.quantization.linear import Branch
from mezzotint.quantization.lycoris import Hadamard, Update
from mezzotint.quantization.oft import Rotation
from mezzotint.quantization.transform import Delta

_Branches = Mapping[str, Mapping[str, Delta]]  # by component and layer


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
        self._held: dict[Stamp, _Branches] = {}
        self._on: tuple[tuple[Stamp, float], ...] | None = ()  # None: unknown, as after an interrupted change

    def hold(self, loras: Sequence[FittingLora], cancelled: Callable[[], bool], sources: Sources = in_network) -> None:
        """Load the factors of these LoRAs and drop all others; those already in memory are not read again.

        `sources`: where the weights are that DoRAs rescale. Raises ModelRefused if a file's values are not finite, or
        overflow the network's dtype.
        """
        wanted = {lora.file.stamp: lora for lora in loras}
        self._held = {stamp: branches for stamp, branches in self._held.items() if stamp in wanted}
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
            for stamp, weight in wanted:
                for name, branch in self._held[stamp].get(component, {}).items():
                    branches.setdefault(name, []).append(replace(branch, scale=branch.scale * weight))
            set_branches(network, branches, merge_now=self._at_rest)
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

    def _read(self, lora: FittingLora, cancelled: Callable[[], bool], sources: Sources) -> _Branches:
        path = lora.file.path
        tensors = read_layers(lora.file, (layer for layer, _ in lora.fit.pairs), cancelled)
        branches: dict[str, dict[str, Delta]] = {}
        for layer, target, delta in self._deltas(lora, tensors, sources, cancelled):
            placed = self._placed(delta, target)
            if placed is None:
                raise ModelRefused(
                    f"{plain(path, 300)}: '{plain(layer.layer, 80)}' is too large for the network's numbers; "
                    "try --dtype float32"
                )
            branches.setdefault(target.component, {})[target.name] = placed
        return branches

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
        if beside and isinstance(update, Hadamard):  # multiplied before it is rounded
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
    down = whole_down(parts).reshape(layer.rank, *target.shape[1:])
    up = up.reshape(-1, layer.rank, 1, 1) if is_convolution else up.reshape(-1, layer.rank)
    return Branch(down=down, up=up, scale=scale)
