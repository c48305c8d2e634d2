"""Writes LoRA files, in the dialect of each family; complete or absent, and nothing is replaced unasked."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.write import SafetensorsWriter, header_room
from mezzotint.errors import UsageError
from mezzotint.families.flow.original import Parameters
from mezzotint.families.loading.original_names import Rows
from mezzotint.families.lora.description import Description, described
from mezzotint.families.lora.dialects import DIALECTS
from mezzotint.families.lora.written import WrittenLayer

Networks = Mapping[str, Mapping[str, WrittenLayer]]  # by component and layer, as diffusers and transformers name them
SUFFIX = ".safetensors"


def write_lora(
    path: Path,
    networks: Networks,
    family: str,
    description: Description,
    *,
    dtype: torch.dtype = torch.float16,
    overwrite: bool = False,
) -> None:
    """Write layers as one file. Raises UsageError for a file that exists, and for numbers that are too large."""
    dialect, written = DIALECTS[family], {}
    for component, layers in networks.items():
        for name, parts in dialect.names(component, layers).items():
            written[name] = _for_name(layers, parts)
    if dialect.is_kohya:
        written = _with_one_alpha(written)
    tensors: dict[str, Tensor] = {}
    for name, layer in written.items():
        tensors |= layer.tensors(name, dialect)
    metadata = described(description, dialect, list(written.values()))
    write_tensors(path, tensors, metadata, dtype=dtype, overwrite=overwrite)


def write_tensors(
    path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str], *, dtype: torch.dtype, overwrite: bool
) -> None:
    """Write a LoRA's tensors, converting all but alphas; raises UsageError as `write_lora` does."""
    check_output(path, overwrite=overwrite)
    with SafetensorsWriter(path, header_room(dict.fromkeys(tensors, 1), metadata)) as file:
        file.metadata = dict(metadata)
        for name, tensor in tensors.items():
            converted = tensor if tensor.ndim == 0 else tensor.detach().to(dtype)
            if not bool(torch.isfinite(converted).all()):
                raise UsageError(
                    f"{plain(path, 300)} was not written: '{plain(name, 80)}' has numbers that are not finite in "
                    f"{str(dtype).removeprefix('torch.')}; {_advice(dtype)}"
                )
            file.add(name, converted)


def check_output(path: Path, *, overwrite: bool = False) -> None:
    """Raise UsageError if a LoRA cannot be written there."""
    if path.suffix != SUFFIX:
        raise UsageError(
            f"{plain(path, 300)}: LoRAs are written as safetensors: name it {plain(path.name, 300)}{SUFFIX}"
        )
    if path.exists() and not overwrite:
        raise UsageError(f"{plain(path, 300)} exists already; name another place, or remove it first")


def _with_one_alpha(layers: Mapping[str, WrittenLayer]) -> dict[str, WrittenLayer]:
    """The same with the alpha of most layers: diffusers loses others of attention (get_peft_kwargs in 0.42.1)."""
    alphas = Counter(layer.alpha for layer in layers.values() if layer.alpha)
    if not alphas:
        return dict(layers)
    ((alpha, _),) = alphas.most_common(1)
    return {name: layer.with_alpha(alpha) for name, layer in layers.items()}


def _for_name(layers: Mapping[str, WrittenLayer], parts: Parameters) -> WrittenLayer:
    """What is written under one name, which may be for several layers."""
    known = [(form, layers[layer]) for layer, form in parts if layer in layers]
    rows = [(form, each) for form, each in known if isinstance(form, Rows)]
    if rows:
        return type(rows[0][1]).fused(rows)
    ((form, layer),) = known
    return layer.swapped() if form == "swapped" else layer


def _advice(dtype: torch.dtype) -> str:
    return "choose bfloat16 or float32" if dtype == torch.float16 else "the training has diverged, or a file is damaged"
