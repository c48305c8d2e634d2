"""Merges LoRAs for the same model into one file."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from mezzotint.checkpoints.plain_text import plain
from mezzotint.conversion.loras.rewriting import Rewriting, WrittenLora, check_known, dtype_of
from mezzotint.errors import ModelRefused
from mezzotint.families.lora.factors import LoraFactors, check_plain, read_factors
from mezzotint.families.lora.file import LARGEST_RANK, LoraFile, LoraLayer, open_lora
from mezzotint.families.lora.keys import Place
from mezzotint.families.lora.low_rank import concatenated, truncated
from mezzotint.families.lora.writing import check_output

_Key = tuple[Place, str]
_Layers = dict[_Key, list[tuple[LoraFile, LoraLayer, float]]]  # the layers of all files by what they are for
_ABOUT_BASE = (
    "ss_v2",
    "ss_base_model_version",
    "ss_network_args",
    "modelspec.sai_model_spec",
    "modelspec.architecture",
    "modelspec.implementation",
    "modelspec.resolution",
)
_PHRASE = "modelspec.trigger_phrase"
_NAMINGS = (  # two names of the same layers, of which a file may only have one
    (r"(input|middle|output)_blocks?_", r"(down|mid|up)_blocks?_"),
    (r"(double_|single_|joint_)?blocks_", r"(single_)?transformer_blocks_"),
    (r".+_(qkv|linear1|kv_linear)$", r".+_(to_[qkv]|add_[qkv]_proj)$"),
    (r".+_attention_out$", r".+_attention_to_out(_0)?$"),
)


def merge_loras(
    loras: Sequence[tuple[Path, float]],
    output: Path,
    *,
    rank: int | None = None,
    dtype: torch.dtype | None = None,
    on_layer: Callable[[int, int], None] = lambda _, __: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> WrittenLora:
    """Write the sum of LoRAs, each times its weight: exactly, with their ranks added, or of at most a rank.

    `on_layer(done, total)` tells the progress. Raises ModelRefused for LoRAs of different models or namings and for
    those that are not plain, UsageError if the output exists, Cancelled between layers.
    """
    check_output(output)
    files = [open_lora(path) for path, _ in loras]
    for file in files:
        check_plain(file)
        check_known(file)
        _check_same_model(files[0], file)
    layers = _by_key([(file, weight) for file, (_, weight) in zip(files, loras, strict=True)])
    rewriting = Rewriting(dtype=dtype or dtype_of(files))
    for done, several in enumerate(layers.values(), 1):
        parts = [(read_factors(file, layer, cancelled), weight) for file, layer, weight in several]
        rewriting.add(several[0][1], _merged(parts, rank, rewriting, several[0][1]))
        on_layer(done, len(layers))
    return rewriting.write(output, _metadata(files, output))


def _merged(
    parts: list[tuple[LoraFactors, float]], rank: int | None, rewriting: Rewriting, layer: LoraLayer
) -> LoraFactors:
    whole = concatenated(parts)
    if rank is not None:
        found = truncated(whole, rank=rank)
        rewriting.energy += found.energy
        rewriting.kept += found.kept
        return found.factors
    if whole.rank > LARGEST_RANK:
        raise ModelRefused(
            f"'{plain(layer.layer, 80)}' would have the rank {whole.rank}; a LoRA has a rank up to {LARGEST_RANK}: "
            "give --rank"
        )
    return whole


def _by_key(files: Sequence[tuple[LoraFile, float]]) -> _Layers:
    """Raises ModelRefused for layers of different shapes or names."""
    layers: _Layers = {}
    for file, weight in files:
        for layer in file.layers:
            several = layers.setdefault((layer.place, layer.layer), [])
            if several and not several[0][1].fits(layer.shape):
                raise ModelRefused(
                    f"{plain(file.path, 300)} and {plain(several[0][0].path, 300)} are for different models: their "
                    f"'{plain(layer.layer, 80)}' is for weights of shape {layer.shape} and {several[0][1].shape}"
                )
            several.append((file, layer, weight))
    names = [layer for place, layer in layers if place == "denoiser"]
    for one, other in _NAMINGS:
        first = next((name for name in names if re.match(one, name)), None)
        second = next((name for name in names if re.match(other, name)), None)
        if first is not None and second is not None:
            raise ModelRefused(
                f"the LoRAs name the same layers differently ('{plain(first, 60)}', '{plain(second, 60)}'); merge "
                "LoRAs from the same program, or apply both when generating"
            )
    return layers


def _check_same_model(first: LoraFile, other: LoraFile) -> None:
    if first.base is not None and other.base is not None and first.base != other.base:
        raise ModelRefused(
            f"{plain(first.path, 300)} seems to be for {first.base.words}, {plain(other.path, 300)} for "
            f"{other.base.words}; merge LoRAs for the same model"
        )


def _metadata(files: Sequence[LoraFile], output: Path) -> dict[str, str]:
    """What the first says about its base model, the trigger phrases of all, and what was merged."""
    known = files[0].header.metadata
    phrases = dict.fromkeys(file.header.metadata[_PHRASE] for file in files if file.header.metadata.get(_PHRASE))
    return {
        **{name: known[name] for name in _ABOUT_BASE if name in known},
        **({_PHRASE: ", ".join(phrases)} if phrases else {}),
        "modelspec.title": output.stem,
        "modelspec.merged_from": ", ".join(file.path.stem for file in files),
    }
