"""Weights that stay in their files: checked by their headers, and read whenever they are needed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from mezzotint.checkpoints.header import TensorSpec, read_header
from mezzotint.checkpoints.positioned import PositionedFile
from mezzotint.checkpoints.regular_file import is_file
from mezzotint.checkpoints.weight_file import is_gguf
from mezzotint.errors import ModelRefused, StorageError
from mezzotint.families.loading.original_names import Form, Placement, Rows
from mezzotint.families.loading.quantized_cache import QuantizedCache, discard_entry
from mezzotint.families.loading.stored_layers import WholeLayer, dequantized, find_layers, in_form, whole_layer
from mezzotint.families.loading.weight_loader import WeightLoader
from mezzotint.memory.host import Convert, DiskTensor, disk_tensor, stored_dtype
from mezzotint.quantization.formats import Tensors
from mezzotint.quantization.layouts.gguf import specs_on_disk
from mezzotint.quantization.layouts.stored import StoredLayer

_WEIGHT = ".weight"
_LEAST = 2**16  # bytes; smaller tensors are kept in RAM


class OnDisk:
    """Files from which networks stream tensors."""

    def __init__(self, files: tuple[Path, ...]) -> None:
        self._files = files
        self._opened: dict[Path, PositionedFile] = {}
        specs = {path: specs_on_disk(path) if is_gguf(path) else read_header(path).tensors for path in files}
        self._specs = {name: (path, spec) for path, each in specs.items() for name, spec in each.items()}
        self._layers = find_layers(files)

    def place(self, filling: WeightLoader, wanted: Mapping[str, tuple[Placement, ...]]) -> set[str]:
        """Leave a network's unquantized tensors in these files; returns the names of the parameters."""
        done = set()
        stored = {part for layer in self._layers.values() for part in layer.names.values()}
        for name, placements in wanted.items():
            for placed in placements:
                if placed.component == filling.source.name and name in self._specs and name not in stored:
                    source = self._source(filling, placed, name)
                    if source is not None:
                        filling.put_on_disk(placed.name, source)
                        done.add(placed.name)
        return done

    def place_stored(self, filling: WeightLoader, wanted: Mapping[str, tuple[Placement, ...]]) -> set[str]:
        """Leave a network's layers that are quantized in these files there; returns the names of their weights.

        Raises ModelRefused for what `decode_layer` refuses, except numbers of the weights, which are not read here.
        """
        ready = []
        for layer in self._layers.values():
            placements = [
                placed
                for placed in wanted.get(layer.name + _WEIGHT, ())
                if placed.component == filling.source.name and _is_of_rows(placed.form)
            ]
            forms = self._formed(layer, [placed.form for placed in placements]) if placements else []
            ready += [(formed, placed.name) for formed, placed in zip(forms, placements, strict=True)]
        return {name for formed, name in ready if self._put(filling, formed, name)}

    def place_entry(
        self,
        filling: WeightLoader,
        wanted: Mapping[str, tuple[Placement, ...]],
        cache: QuantizedCache,
        cancelled: Callable[[], bool],
    ) -> set[str]:
        """Stream layers to be quantized from the cache, writing its entry tensor by tensor if absent."""
        entry = filling.entry
        place = None if entry is None else cache.place_of(entry)
        if entry is None or place is None:
            return set()
        raw = {placed.name: (placed, name) for name, each in wanted.items() for placed in each
               if placed.component == filling.source.name and name in self._specs}  # fmt: skip
        if not is_file(place):

            def quantized(layer: str) -> Mapping[str, Tensor]:
                placed, name = raw[layer + _WEIGHT]
                return filling.quantize(placed, self._whole(name), self._specs[name][0])

            if any(layer + _WEIGHT not in raw for layer in entry.layers):
                return set()
            cache.keep(entry, place, quantized, cancelled)
        if not is_file(place):
            return set()  # already reported
        kept = {layer + _WEIGHT: (Placement(component=filling.source.name, name=layer + _WEIGHT, form="whole"),)
                for layer in entry.layers}  # fmt: skip
        try:
            return OnDisk((place,)).place_stored(filling, kept)
        except (ModelRefused, StorageError):
            discard_entry(place)  # it is damaged, and made again next time
            return set()

    def _whole(self, name: str) -> Tensor:
        path, spec = self._specs[name]
        return disk_tensor(self._file(path), spec, shape=spec.shape, dtype=stored_dtype(spec)).tensor()

    def _source(self, filling: WeightLoader, placed: Placement, name: str) -> DiskTensor | None:
        path, spec = self._specs[name]
        if spec.end - spec.start < _LEAST or filling.changes(placed.name):
            return None
        shape = filling.checked_shape(placed, spec.shape, path)
        dtype = stored_dtype(spec)
        wanted = filling.dtype_of(placed.name) if dtype.is_floating_point else dtype
        spec, convert = _narrowed(spec, placed.form), None if _is_range(spec, placed.form) else placed.take
        return disk_tensor(self._file(path), spec, shape=shape, dtype=wanted, convert=convert)

    def _formed(self, layer: StoredLayer, forms: Sequence[Form]) -> "list[_Formed]":
        """A layer in these forms, without the data of its weight; what they have in common is there once."""
        weight = layer.names["weight"]
        empty = _without_data(self._specs[weight][1])
        parts = {name: self._whole(name) for name in set(layer.names.values()) - {weight}}
        decoded = whole_layer(layer, {**parts, weight: self._whole(weight) if layer.turned else empty})
        parts[weight] = empty
        if layer.turned:  # it had to be read for the bias
            bare = decoded.tensors["weight"].to("meta")
            decoded = replace(decoded, tensors={**decoded.tensors, "weight": bare})
        return [
            _Formed(layer=layer, form=form, parts=parts, decoded=decoded.tensors, whole=in_form(decoded, form))
            for form in forms
        ]

    def _put(self, filling: WeightLoader, formed: "_Formed", name: str) -> bool:
        whole = formed.whole
        filling.put_bias(name, whole, self._specs[formed.layer.names["weight"]][0])
        if filling.is_dequantized(name, whole):
            return self._put_dequantized(filling, formed, name)
        sources = {part: self._part(formed, part) for part in formed.large_parts()}
        kept = {part: tensor for part, tensor in whole.tensors.items() if part not in sources}
        return filling.put_quantized_on_disk(name, replace(whole, tensors=kept), sources)

    def _put_dequantized(self, filling: WeightLoader, formed: "_Formed", name: str) -> bool:
        """Dequantize a weight whenever it is read; False if it is small, or quantized otherwise on load."""
        path, spec = self._specs[formed.layer.names["weight"]]
        if spec.end - spec.start < _LEAST or filling.changes(name):
            return False
        placed = Placement(component=filling.source.name, name=name, form="whole")
        shape, dtype = filling.checked_shape(placed, formed.whole.shape, path), filling.dtype_of(name)
        computed = filling.dtype  # the loader itself would keep all that it has loaded
        convert = formed.conversion("weight", lambda whole: dequantized(whole, computed))
        filling.put_on_disk(name, disk_tensor(self._file(path), spec, shape=shape, dtype=dtype, convert=convert))
        return True

    def _part(self, formed: "_Formed", part: str) -> DiskTensor:
        """The source of one of a layer's tensors: a range of the file's, or made of all of it."""
        path, spec = self._specs[formed.layer.names[part]]
        made, convert = formed.whole.tensors[part], None
        if formed.is_as_stored(part):
            spec = _narrowed(replace(spec, shape=tuple(formed.decoded[part].shape)), formed.form)
        else:
            convert = formed.conversion(part, lambda whole: whole.tensors[part])
        return disk_tensor(self._file(path), spec, shape=tuple(made.shape), dtype=made.dtype, convert=convert)

    def _file(self, path: Path) -> PositionedFile:
        if path not in self._opened:
            self._opened[path] = PositionedFile(path)
        return self._opened[path]


def _is_of_rows(form: Form) -> bool:
    return form in ("whole", "swapped") or isinstance(form, Rows)


def _narrowed(spec: TensorSpec, form: Form) -> TensorSpec:
    """The bytes of some rows of a tensor; all of them if its rows do not divide, or are not asked for."""
    if not _is_range(spec, form) or not isinstance(form, Rows):
        return spec
    share = (spec.end - spec.start) // form.of
    start = spec.start + form.first * share
    shape = (form.share(spec.shape[0]), *spec.shape[1:])
    return replace(spec, shape=shape, start=start, end=start + form.count * share)


def _is_range(spec: TensorSpec, form: Form) -> bool:
    """Whether a tensor in that form is a range of the file's bytes."""
    if isinstance(form, Rows):
        return bool(spec.shape) and spec.shape[0] % form.of == 0
    return form == "whole"


def _without_data(spec: TensorSpec) -> Tensor:
    return torch.empty(spec.shape, dtype=stored_dtype(spec), device="meta")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Formed:
    """A layer that is quantized in its files, in a form; its weight is a tensor without data."""

    layer: StoredLayer
    form: Form
    parts: Tensors  # the file's
    decoded: Tensors  # the format's, of the layer as it is in the file
    whole: WholeLayer  # in that form

    def large_parts(self) -> Iterator[str]:
        """The tensors to leave on disk: the weight, and others of the file's that are large."""
        for part, tensor in self.whole.tensors.items():
            kept = part in self.layer.names and not self.layer.turned
            if part == "weight" or (kept and tensor.nbytes >= _LEAST):
                yield part

    def is_as_stored(self, part: str) -> bool:
        """Whether a tensor is, in that form, a range of the file's bytes."""
        if part == "weight":
            return self.form != "swapped" and not self.layer.turned
        return self.form == "whole" and self.decoded[part] is self.parts[self.layer.names[part]]

    def conversion(self, part: str, take: Callable[[WholeLayer], Tensor]) -> Convert:
        """Makes a tensor of the layer from one of the file's; keeps only the others."""
        layer, form, name = self.layer, self.form, self.layer.names[part]
        others = {other: tensor for other, tensor in self.parts.items() if other != name}
        return lambda stored: take(in_form(whole_layer(layer, {**others, name: stored}), form))
