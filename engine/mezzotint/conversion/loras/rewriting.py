"""LoRA files rewritten with other factors, under the tensor names that they have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import ModelRefused
from mezzotint.families.lora.description import network_entries
from mezzotint.families.lora.factors import LoraFactors
from mezzotint.families.lora.file import LoraFile, LoraLayer
from mezzotint.families.lora.writing import write_tensors

_DTYPES = {"F16": torch.float16, "BF16": torch.bfloat16}
_UNTRUE = ("sshs_", "modelspec.hash_", "lora_adapter_metadata")  # starts of entries that hold for the file as it was


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenLora:
    """A LoRA file that was written. `kept`: the share of the energy (sum of squares) of all updates in it."""

    output: str
    layers: int
    lowest_rank: int
    highest_rank: int
    bytes: int
    kept: float = 1.0


@dataclass(slots=True, kw_only=True)
class Rewriting:
    """A file to be written, gathered layer by layer in its final format."""

    dtype: torch.dtype
    tensors: dict[str, Tensor] = field(default_factory=dict)
    ranks: list[int] = field(default_factory=list)
    alphas: list[float] = field(default_factory=list)
    alpha: float = 0.0  # that is written for every layer with one
    energy: float = 0.0
    kept: float = 0.0

    def add(self, layer: LoraLayer, factors: LoraFactors) -> None:
        """Give a layer these factors, with an alpha only if it had one: some programs accept none in their names.

        All layers get the alpha of the first: diffusers loses others of attention (get_peft_kwargs in 0.42.1).
        """
        names = layer.names
        if "alpha" in names:
            self.alpha = self.alpha or factors.alpha
            factors = factors.with_alpha(self.alpha)
        else:
            factors = factors.folded()
        self.tensors |= {names["down"]: factors.down.to(self.dtype), names["up"]: factors.up.to(self.dtype)}
        if "alpha" in names:
            self.tensors[names["alpha"]] = torch.tensor(factors.alpha, dtype=torch.float32)
        self.ranks.append(factors.rank)
        self.alphas.append(factors.alpha)

    def write(self, output: Path, metadata: Mapping[str, str]) -> WrittenLora:
        """Write the file; raises UsageError as `write_lora` does."""
        about = {**metadata, **network_entries(self.ranks, self.alphas)}
        write_tensors(output, self.tensors, about, dtype=self.dtype, overwrite=False)
        return WrittenLora(
            output=str(output),
            layers=len(self.ranks),
            lowest_rank=min(self.ranks),
            highest_rank=max(self.ranks),
            bytes=output.stat().st_size,
            kept=self.kept / self.energy if self.energy else 1.0,
        )


def dtype_of(files: Sequence[LoraFile]) -> torch.dtype:
    """The files' number format; float32 if they have several."""
    found = {
        file.header.tensors[layer.names[part]].dtype
        for file in files
        for layer in file.layers
        for part in ("down", "up")
    }
    return _DTYPES.get(found.pop(), torch.float32) if len(found) == 1 else torch.float32


def kept_metadata(file: LoraFile) -> dict[str, str]:
    """The file's metadata without what will no longer be true."""
    return {name: text for name, text in file.header.metadata.items() if not name.startswith(_UNTRUE)}


def check_known(file: LoraFile) -> None:
    """Raise ModelRefused if the file holds whole differences, or tensors of unknown meaning, which would be lost."""
    if file.differences:
        raise ModelRefused(
            f"{plain(file.path, 300)}: {len(file.differences)} of its tensors are whole differences, such as "
            f"'{plain(file.differences[0].name, 80)}', and would be lost; only plain LoRAs can be rewritten"
        )
    if file.unknown:
        raise ModelRefused(
            f"{plain(file.path, 300)}: {len(file.unknown)} of its tensors are of an unknown kind, such as "
            f"'{plain(file.unknown[0], 80)}', and would be lost"
        )
