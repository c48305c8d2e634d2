"""Writes LoRA files, in the dialect of each family; complete or absent, and nothing is replaced unasked."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import torch
from torch import Tensor

from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.write import SafetensorsWriter, header_room
from mezzotint.errors import UsageError
from mezzotint.families.flow.original import Parameters
from mezzotint.families.loading.original_names import Rows, swapped
from mezzotint.families.lora.description import Description, described
from mezzotint.families.lora.dialects import DIALECTS
from mezzotint.families.lora.factors import LoraFactors

Networks = Mapping[str, Mapping[str, LoraFactors]]  # by component and layer, as diffusers and transformers name them
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
    """Write factors as one file. Raises UsageError for a file that exists, and for numbers that are too large."""
    dialect, written = DIALECTS[family], {}
    for component, layers in networks.items():
        for name, parts in dialect.names(component, layers).items():
            factors = _for_name(layers, parts)
            written[name] = factors if dialect.is_kohya else factors.folded()
    tensors: dict[str, Tensor] = {}
    for name, factors in written.items():
        tensors |= factor_tensors(name, factors, is_kohya=dialect.is_kohya)
    ranks, alphas = [each.rank for each in written.values()], [each.alpha for each in written.values()]
    metadata = described(description, dialect, ranks, alphas)
    write_tensors(path, tensors, metadata, dtype=dtype, overwrite=overwrite)


def factor_tensors(name: str, factors: LoraFactors, *, is_kohya: bool) -> dict[str, Tensor]:
    """A layer's tensors by name: with an alpha if as by kohya's scripts, else with the scale in the factors."""
    if is_kohya:
        alpha = torch.tensor(factors.alpha, dtype=torch.float32)
        return {
            f"{name}.lora_down.weight": factors.down,
            f"{name}.lora_up.weight": factors.up,
            f"{name}.alpha": alpha,
        }
    factors = factors.folded()
    return {f"{name}.lora_A.weight": factors.down, f"{name}.lora_B.weight": factors.up}


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


def joined(parts: Iterable[tuple[Rows, LoraFactors]]) -> LoraFactors:
    """The LoRA of a fused layer, of which these are some rows: exactly what they add, and nothing to other rows.

    Parts that share down and scale keep their rank; otherwise the ranks are stacked, with zeros beside each part's up.
    """
    rows, several = zip(*parts, strict=True)
    first, start = several[0], 0
    is_shared = all(each.alpha == first.alpha and torch.equal(each.down, first.down) for each in several)
    if not is_shared:
        several = tuple(each.folded() for each in several)
    rank = first.rank if is_shared else sum(each.rank for each in several)
    up = several[0].up.new_zeros(rows[0].whole(len(first.up)), rank, *first.up.shape[2:])
    for place, each in zip(rows, several, strict=True):
        place.take(up)[:, start : start + each.rank] = each.up
        start += 0 if is_shared else each.rank
    if is_shared:
        return LoraFactors(down=first.down, up=up, alpha=first.alpha)
    return LoraFactors(down=torch.cat([each.down for each in several]), up=up, alpha=float(rank))


def _for_name(layers: Mapping[str, LoraFactors], parts: Parameters) -> LoraFactors:
    """The factors of one name in the file, which may be for several layers."""
    known = [(form, layers[layer]) for layer, form in parts if layer in layers]
    rows = [(form, each) for form, each in known if isinstance(form, Rows)]
    if rows:
        return joined(rows)
    ((form, factors),) = known
    if form == "swapped":
        return LoraFactors(down=factors.down, up=swapped(factors.up), alpha=factors.alpha)
    return factors


def _advice(dtype: torch.dtype) -> str:
    return "choose bfloat16 or float32" if dtype == torch.float16 else "the training has diverged, or a file is damaged"
