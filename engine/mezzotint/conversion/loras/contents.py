"""What a LoRA file holds, for people and programs to read."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from mezzotint.checkpoints.read import read_tensors
from mezzotint.families.lora.factors import kind_of, scale_of
from mezzotint.families.lora.file import LoraFile, open_lora


@dataclass(frozen=True, slots=True, kw_only=True)
class LoraContents:
    """A LoRA file's kinds of layers, and what it is made for, as far as names and shapes tell."""

    path: str
    bytes: int
    kinds: Mapping[str, int]  # number of layers of each: LoRA, DoRA, LoHa, LoKr, OFT
    layers: Mapping[str, int]  # by component
    ranks: tuple[int, ...]  # all that occur
    alphas: tuple[float, ...]
    formats: tuple[str, ...]  # of numbers, as safetensors names them
    base: str  # kind of model; empty: not known
    families: tuple[str, ...]  # of this program that it may be for
    unknown: tuple[str, ...]  # tensors of unknown meaning
    metadata: Mapping[str, str]


def contents(path: Path) -> LoraContents:
    """Read a LoRA's header and alphas; raises ModelRefused if the file is no LoRA that can be used."""
    file = open_lora(path)
    scaled = [layer for layer in file.layers if layer.rank]
    return LoraContents(
        path=str(path),
        bytes=file.header.bytes,
        kinds=dict(Counter(kind_of(layer).split()[1] for layer in file.layers).most_common()),
        layers=dict(Counter(layer.place for layer in file.layers)),
        ranks=tuple(sorted({layer.rank for layer in scaled})),
        alphas=_alphas(file),
        formats=tuple(sorted(set(_formats(file)))),
        base="" if file.base is None else file.base.words,
        families=() if file.base is None else file.base.families,
        unknown=file.unknown,
        metadata=file.header.metadata,
    )


def _formats(file: LoraFile) -> Iterator[str]:
    for layer in file.layers:
        yield from (file.header.tensors[name].dtype for part, name in layer.names.items() if part != "alpha")


def _alphas(file: LoraFile) -> tuple[float, ...]:
    """All alphas that occur: stored ones, those that the metadata tells, or the ranks."""
    names = {layer.names["alpha"] for layer in file.layers if "alpha" in layer.names}
    tensors = dict(read_tensors([file.path], on_bytes=lambda _: None, cancelled=lambda: False, names=names))
    return tuple(sorted({round(scale_of(file, layer, tensors) * layer.rank, 6) for layer in file.layers if layer.rank}))
