"""A network's quantized layers in a cache file: the key that identifies them, and their contents.

Layers are stored as `mezzotint quantize` writes them, under their names in the network; all else comes from the
model's own files. Every value must be what quantizing again would give, so the key includes the library versions, the
device and the number of threads, which affect the last bits of sums.
"""

import hashlib
import json
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from mezzotint import __version__
from mezzotint.checkpoints.header import read_header
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.read import read_tensors
from mezzotint.checkpoints.weight_file import with_trunks
from mezzotint.checkpoints.write import SafetensorsWriter, header_room
from mezzotint.errors import Cancelled, ModelRefused
from mezzotint.families.family import ComponentSource
from mezzotint.families.loading.stored_layers import StoredLayers, WholeLayer
from mezzotint.quantization.formats import Format, Tensors
from mezzotint.quantization.layouts.stored import encode_layer, file_metadata
from mezzotint.quantization.policy import Choice, LayerShape

VERSION = 1  # of the layout and the rounding
SUFFIX = ".safetensors"
_TENSORS_OF_A_LAYER = 8
_WEIGHT = ".weight"
_SUM = "mezzotint_crc32"
_SETTLED_NS = 2 * 10**9  # the coarsest file timestamp in use (FAT): a newer file may change without it showing


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedLayer:
    """A layer to be quantized."""

    shape: LayerShape
    format: Format

    @property
    def bytes(self) -> int:
        """What its weight takes, quantized."""
        return sum(each.bytes for each in self.format.part_specs(self.shape.shape).values())


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantizedEntry:
    """Everything that must match for a cache entry to be used."""

    source: ComponentSource
    choice: Choice
    layers: Mapping[str, PlannedLayer]  # by name
    device: torch.device

    @property
    def bytes(self) -> int:
        """Bytes of all layers, quantized."""
        return sum(layer.bytes for layer in self.layers.values())

    def key(self) -> str:
        """Name of the entry; raises OSError or StorageError if a file of the model is gone."""
        told = {
            "version": [VERSION, __version__, torch.__version__],
            "device": [_device_name(self.device), torch.get_num_threads()],
            "files": [list(_stamp(path)) for path in with_trunks(self.source.files)],
            "network": [self.source.name, self.source.class_name],
            "choice": asdict(self.choice),
            "layers": {name: [layer.shape.shape, repr(layer.format)] for name, layer in self.layers.items()},
        }
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()

    def is_settled(self) -> bool:
        """Whether the model's files are old enough that any change would show in their modification times."""
        return all(time.time_ns() - path.stat().st_mtime_ns > _SETTLED_NS for path in with_trunks(self.source.files))

    def read(self, path: Path, cancelled: Callable[[], bool]) -> Iterator[WholeLayer]:
        """Yield the layers; raises ModelRefused, at the latest after the last, if they are not what was written."""
        stored, left, checksum = StoredLayers([path]), dict(self.layers), 0
        for name, tensor in read_tensors([path], on_bytes=lambda _: None, cancelled=cancelled):
            checksum = _checksum(tensor, checksum)
            whole = stored.take(name, tensor)
            if whole is None:
                continue
            planned = left.pop(whole.weight_name.removesuffix(_WEIGHT), None)
            if planned is None or (planned.shape.shape, planned.format) != (whole.shape, whole.format):
                raise ModelRefused(f"{plain(path, 300)}: {plain(whole.weight_name, 200)} is not what is wanted")
            yield whole
        if left or read_header(path).metadata.get(_SUM) != _shown(checksum):
            raise ModelRefused(f"{plain(path, 300)} is damaged")

    def write(self, path: Path, tensors_of: Callable[[str], Tensors], cancelled: Callable[[], bool]) -> None:
        """Write the layers; raises StorageError if the disk is full."""
        formats = {name: layer.format for name, layer in self.layers.items()}
        metadata = {**file_metadata(formats), _SUM: _shown(0)}
        counts = dict.fromkeys(self.layers, _TENSORS_OF_A_LAYER)
        checksum = 0
        with SafetensorsWriter(path, header_room(counts, metadata)) as file:
            for name, layer in self.layers.items():
                if cancelled():
                    raise Cancelled(f"Stopped while the quantized {self.source.name} was kept")
                whole = {key: tensor.cpu() for key, tensor in tensors_of(name).items()}
                encoded = encode_layer(name, layer.format, layer.shape.shape, whole, torch.float16)
                for part, tensor in encoded.items():
                    checksum = _checksum(tensor, checksum)
                    file.add(part, tensor)
            file.metadata = {**metadata, _SUM: _shown(checksum)}


def _checksum(tensor: torch.Tensor, before: int) -> int:
    return zlib.crc32(tensor.contiguous().flatten().view(torch.uint8).numpy().data, before)


def _shown(checksum: int) -> str:
    return f"{checksum:08x}"


def _stamp(path: Path) -> tuple[str, int, int]:
    stat = path.stat()
    return str(path.resolve()), stat.st_size, stat.st_mtime_ns


def _device_name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
