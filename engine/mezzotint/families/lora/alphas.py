"""LoRA alphas, and which LoRAs are DoRAs, that peft and diffusers store as JSON instead of tensors.

Diffusers stores them in the file's metadata, peft in `adapter_config.json` beside it, for its one network.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from mezzotint.checkpoints.header import Header
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_file
from mezzotint.checkpoints.strict_json import parse_json_object, read_json_object
from mezzotint.errors import ModelRefused
from mezzotint.families.lora.keys import Place, flat

_ENTRY = "lora_adapter_metadata"
_BESIDE, _PEFT = "adapter_config.json", "base_model.model."
_LARGEST = 2**20  # bytes
_NOT_SUPPORTED = ("fan_in_fan_out", "layer_replication", "megatron_config", "trainable_token_indices")
_CHANGING_THE_BASE = ("pissa", "corda", "olora", "loftq")  # ways to begin with a part of the weights
_PLACES: dict[str, Place] = {
    "unet": "denoiser",
    "transformer": "denoiser",
    "text_encoder": "text_encoder",
    "text_encoder_2": "text_encoder_2",
    "text_encoder_3": "text_encoder_3",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenAlphas:
    """The alpha of a network's layers, with exceptions by suffix of the layer name; `by_root`: scaled as in rsLoRA."""

    alpha: float
    layers: Mapping[str, float]
    by_root: bool

    def scale(self, layer: str, rank: int) -> float:
        """Scale of the product of a layer's factors."""
        words = layer.split("_")
        ends = ("_".join(words[first:]) for first in range(len(words)))
        alpha = next((self.layers[end] for end in ends if end in self.layers), self.alpha)
        return alpha / (math.sqrt(rank) if self.by_root else rank)


def written_alphas(header: Header) -> dict[Place, WrittenAlphas]:
    """Alphas by network; raises ModelRefused if the metadata is invalid."""
    alphas: dict[Place, WrittenAlphas] = {}
    for where, own in _written(header):
        key = next((name for name in ("lora_alpha", "alpha") if name in own), None)
        if key is not None:
            pattern = own.get("alpha_pattern")
            layers = pattern if isinstance(pattern, dict) else {}
            alphas[where] = WrittenAlphas(
                alpha=_number(header.path, own[key]),
                layers={flat(name): _number(header.path, value) for name, value in layers.items()},
                by_root=own.get("use_rslora") is True,
            )
    return alphas


def written_doras(header: Header) -> set[Place]:
    """The networks whose LoRA is a DoRA, according to the metadata."""
    return {where for where, own in _written(header) if own.get("use_dora")}


def _written(header: Header) -> Iterator[tuple[Place, dict[str, object]]]:
    """The settings of each network."""
    text = header.metadata.get(_ENTRY)
    beside = header.path.with_name(_BESIDE)
    if text is None and any(name.startswith(_PEFT) for name in header.tensors) and is_file(beside):
        config = _checked(beside, read_json_object(beside, _LARGEST))
        yield from ((where, config) for where in _PLACES.values())
        return
    data = {} if text is None else parse_json_object(text.encode("utf-8", "replace"), header.path)
    for network, where in _PLACES.items():
        start = f"{network}."
        yield where, {key.removeprefix(start): value for key, value in data.items() if key.startswith(start)}


def _checked(path: Path, config: dict[str, object]) -> dict[str, object]:
    """The settings of an adapter; raises ModelRefused, naming it, for one that changes it in another way."""
    for name in _NOT_SUPPORTED:
        if config.get(name):
            raise ModelRefused(f"{plain(path, 300)}: {name} {plain(config[name], 40)} is not supported")
    start = config.get("init_lora_weights")
    if isinstance(start, str) and start.partition("_")[0] in _CHANGING_THE_BASE:
        raise ModelRefused(
            f"{plain(path, 300)}: an adapter of a changed base model (init_lora_weights {plain(start, 40)}); convert "
            "it to a usual LoRA with peft"
        )
    return config


def _number(path: Path, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e9:
        raise ModelRefused(f"{plain(path, 300)}: its lora_alpha is {plain(value, 30)}, which is no number to scale by")
    return float(value)
