"""The tensors of safetensors files as sources of weights."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from torch import nn

from mezzotint.checkpoints.header import TensorSpec, read_header
from mezzotint.checkpoints.positioned import PositionedFile
from mezzotint.errors import ModelRefused
from mezzotint.memory.host import Convert, DiskTensor, disk_tensor


class DiskWeights:
    """Safetensors files that stay open while weights are read from them."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._files: list[PositionedFile] = []
        self._places: dict[str, tuple[PositionedFile, TensorSpec]] = {}
        try:
            for path in paths:
                self._open(path)
        except BaseException:
            self.close()
            raise

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of all tensors."""
        return iter(self._places)

    def __contains__(self, name: str) -> bool:
        """Whether there is a tensor with this name."""
        return name in self._places

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape stored in the file."""
        return self._places[name][1].shape

    def tensor(
        self, name: str, *, shape: tuple[int, ...], dtype: torch.dtype, convert: Convert | None = None
    ) -> DiskTensor:
        """Return a tensor as a source; raises KeyError if it is missing, ModelRefused if its shape does not match."""
        file, spec = self._places[name]
        if convert is None and torch.Size(spec.shape).numel() != torch.Size(shape).numel():
            raise ModelRefused(f"{file.path}: {name} has shape {spec.shape} instead of {shape}")
        return disk_tensor(file, spec, shape=shape, dtype=dtype, convert=convert)

    def fitting(self, network: nn.Module) -> dict[str, DiskTensor]:
        """Sources for the network's parameters and buffers that have the same names here, in the network's dtypes."""
        state = network.state_dict(keep_vars=True)
        return {
            name: self.tensor(name, shape=tuple(tensor.shape), dtype=tensor.dtype)
            for name, tensor in state.items()
            if name in self
        }

    def close(self) -> None:
        """Close the files; the sources can no longer be read."""
        for file in self._files:
            file.close()

    def _open(self, path: Path) -> None:
        header = read_header(path)
        file = PositionedFile(path)
        self._files.append(file)
        self._places |= {name: (file, spec) for name, spec in header.tensors.items()}
