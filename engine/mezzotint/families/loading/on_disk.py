"""Weights that stay in their files: checked by their headers, and read whenever they are needed."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import torch
from torch import Tensor

from mezzotint.checkpoints.header import TensorSpec, read_header
from mezzotint.checkpoints.positioned import PositionedFile
from mezzotint.checkpoints.regular_file import is_file
from mezzotint.checkpoints.weight_file import is_gguf
from mezzotint.families.loading.original_names import Placement
from mezzotint.families.loading.quantized_cache import QuantizedCache
from mezzotint.families.loading.stored_layers import find_layers
from mezzotint.families.loading.weight_loader import WeightLoader
from mezzotint.memory.host import DiskTensor, disk_tensor, stored_dtype
from mezzotint.quantization.formats import Format
from mezzotint.quantization.layouts.gguf import specs_on_disk

_WEIGHT = ".weight"
_LEAST = 2**16  # bytes; smaller tensors are kept in RAM


class OnDisk:
    """Files from which networks stream tensors."""

    def __init__(self, files: tuple[Path, ...]) -> None:
        self._files = files
        self._opened: dict[Path, PositionedFile] = {}
        specs = {path: specs_on_disk(path) if is_gguf(path) else read_header(path).tensors for path in files}
        self._specs = {name: (path, spec) for path, each in specs.items() for name, spec in each.items()}

    def place(self, filling: WeightLoader, wanted: Mapping[str, tuple[Placement, ...]]) -> set[str]:
        """Leave a network's unquantized tensors in these files; returns the names of the parameters."""
        done = set()
        stored = {part for layer in find_layers(self._files).values() for part in layer.names.values()}
        for name, placements in wanted.items():
            for placed in placements:
                if placed.component == filling.source.name and name in self._specs and name not in stored:
                    source = self._source(filling, placed, name)
                    if source is not None:
                        filling.put_on_disk(placed.name, source)
                        done.add(placed.name)
        return done

    def place_stored(self, filling: WeightLoader, wanted: Mapping[str, tuple[Placement, ...]]) -> set[str]:
        """Leave a network's layers that are quantized in these files there; returns the names of their weights."""
        done = set()
        for layer in find_layers(self._files).values():
            for placed in wanted.get(layer.name + _WEIGHT, ()):
                if placed.component != filling.source.name or placed.form != "whole":
                    continue
                sources = dict(self._parts(layer.format, layer.shape, layer.names))
                if filling.put_quantized_on_disk(placed.name.removesuffix(_WEIGHT), layer.format, layer.shape, sources):
                    done.add(placed.name)
        return done

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
        return OnDisk((place,)).place_stored(filling, kept)

    def _whole(self, name: str) -> Tensor:
        path, spec = self._specs[name]
        return disk_tensor(self._file(path), spec, shape=spec.shape, dtype=stored_dtype(spec)).tensor()

    def _source(self, filling: WeightLoader, placed: Placement, name: str) -> DiskTensor | None:
        path, spec = self._specs[name]
        if spec.end - spec.start < _LEAST or filling.is_quantized(placed.name):
            return None
        shape = filling.checked_shape(placed, spec.shape, path)
        dtype = stored_dtype(spec)
        wanted = filling.dtype_of(placed.name) if dtype.is_floating_point else dtype
        convert = None if placed.form == "whole" else placed.take
        return disk_tensor(self._file(path), spec, shape=shape, dtype=wanted, convert=convert)

    def _parts(
        self, format_: Format, shape: tuple[int, ...], names: Mapping[str, str]
    ) -> Iterator[tuple[str, DiskTensor]]:
        """The format's tensors that lie in a file as they are."""
        for part, wanted in format_.part_specs(shape).items():
            found = self._specs.get(names.get(part, ""))
            if found is not None and _is(found[1], wanted.shape, wanted.dtype):
                yield part, disk_tensor(self._file(found[0]), found[1], shape=wanted.shape, dtype=wanted.dtype)

    def _file(self, path: Path) -> PositionedFile:
        if path not in self._opened:
            self._opened[path] = PositionedFile(path)
        return self._opened[path]


def _is(spec: TensorSpec, shape: tuple[int, ...], dtype: torch.dtype) -> bool:
    return spec.shape == shape and stored_dtype(spec) == dtype
