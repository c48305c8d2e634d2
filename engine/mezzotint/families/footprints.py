"""Memory footprint of a model, from known graphs or traced once; with bytes as stored if its files are quantized."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.checkpoints.gguf_header import TYPES
from mezzotint.checkpoints.header import TensorSpec
from mezzotint.checkpoints.opening import FileCheckpoint
from mezzotint.checkpoints.weight_file import weight_header
from mezzotint.families.control.fitting import is_control, kind_of_component
from mezzotint.families.family import ComponentSource, ModelSources
from mezzotint.families.flow.family import FlowFamily
from mezzotint.families.known import family_of
from mezzotint.families.loading.original_names import layout_of, place
from mezzotint.families.loading.routing import route
from mezzotint.families.loading.stored_layers import can_dequantize, find_layers, is_always_dequantized
from mezzotint.families.pixart.family import MAX_TOKENS
from mezzotint.memory.footprints.footprint import BlockFootprint, ComponentFootprint, ModelFootprint
from mezzotint.memory.footprints.graph_hash import graph_hash
from mezzotint.memory.footprints.shipped import known_graph
from mezzotint.memory.footprints.traced_cache import TracedCache
from mezzotint.quantization.policy import is_kept

if TYPE_CHECKING:
    from mezzotint.memory.footprints.forward_calls import Call
    from mezzotint.quantization.layouts.stored import StoredLayer

CLIP_TOKENS = 77
_ENCODERS = ("text_encoder", "text_encoder_2", "text_encoder_3", "ip-adapter", "redux")
_CONTROLS = ("controlnet", "t2i-adapter", "flux-controlnet", "qwen-controlnet", "z-image-controlnet")
_ORDER = (*_ENCODERS, "unet", "transformer", *_CONTROLS, "vae")
# Text encoders that take padded prompts with a mask.
_MASKED = {"Gemma2Model", "T5EncoderModel", "Qwen3Model", "Qwen3VLTextModel"}
_WEIGHT = ".weight"
_EMBEDDING = re.compile(r"(?:^|\.)(?:embed_tokens|shared)\.weight$")  # of tokens: looked up, not multiplied
_FLOATS = {"F64", "F32", "F16", "BF16", "F8_E4M3", "F8_E5M2", *(name for name, _, _ in TYPES.values())}


def footprint_of(
    sources: ModelSources,
    *,
    model_id: str,
    cache: Path | None = None,
    use_shipped: bool = True,
    on_progress: Callable[[str, float], None] = lambda *_: None,
) -> ModelFootprint:
    """The footprint of a model, from its configurations and file headers; reads no weights.

    Unknown graphs are traced, which takes seconds; `cache` is the folder for the results, and
    `on_progress(component, part)` is called meanwhile. Raises ModelRefused if a configuration describes no network.
    """
    kept = None if cache is None else TracedCache(cache)
    parts = []
    for name in sorted((name for name, part in sources.components.items() if part.files), key=_order):
        known = _component(sources, name, kept, use_shipped, on_progress)
        part = replace(known, name=name, float32=_float32(sources.components[name]), shared=_shared(sources, name))
        parts.append(_as_stored(sources, part))
    defaults, family = sources.detected.defaults, family_of(sources.family)
    return ModelFootprint(
        id=model_id,
        family=sources.family,
        components=tuple(parts),
        vae_factor=sources.vae_factor,
        text_tokens=_tokens_read(sources),
        width=defaults.width,
        height=defaults.height,
        steps=defaults.steps,
        guided=family.has_halves(sources, defaults.guidance_scale),
        halves=family.spec.halves if isinstance(family, FlowFamily) else ("batched", "sequential"),
    )


def _order(component: str) -> tuple[int, str]:
    return _ORDER.index(kind_of_component(component) or component), component


def graph_of(sources: ModelSources, component: str) -> str:
    """Hash of a network's graph, including its prompt length."""
    source = sources.components[component]
    return graph_hash(source.class_name, source.config, _tokens_for(sources, component))


def _tokens_for(sources: ModelSources, component: str) -> int:
    """Prompt length seen by the denoiser and ControlNets, or by an encoder that pads under a mask; 0 for others."""
    if component == family_of(sources.family).denoiser_component or is_control(component):
        return prompt_tokens(sources)
    masks = _masks_padding(sources) and sources.components[component].class_name in _MASKED
    return _tokens_read(sources) if masks else 0


def _masks_padding(sources: ModelSources) -> bool:
    family = family_of(sources.family)
    return not isinstance(family, FlowFamily) or family.spec.masks_padding


def prompt_tokens(sources: ModelSources) -> int:
    """Tokens of a prompt as the denoiser takes them."""
    family = family_of(sources.family)
    if isinstance(family, FlowFamily):
        return family.text_tokens(sources)
    return MAX_TOKENS[sources.detected.variant] if sources.family == "pixart" else CLIP_TOKENS


def _tokens_read(sources: ModelSources) -> int:
    """Prompt length including the instruction that the encoder reads before it."""
    family = family_of(sources.family)
    return prompt_tokens(sources) + (family.spec.instruction_tokens if isinstance(family, FlowFamily) else 0)


def _component(
    sources: ModelSources,
    name: str,
    kept: TracedCache | None,
    use_shipped: bool,
    on_progress: Callable[[str, float], None],
) -> ComponentFootprint:
    key = graph_of(sources, name)
    known = known_graph(key) if use_shipped else None
    known = known or (kept.get(key) if kept else None)
    if known is None:
        known = _traced(sources, name, lambda part: on_progress(name, part))
        if kept is not None:
            kept.put(key, known)
    return known


def _traced(sources: ModelSources, name: str, on_progress: Callable[[float], None]) -> ComponentFootprint:
    from mezzotint.families.loading.networks import empty_network
    from mezzotint.memory.footprints.component import component_footprint

    source, family = sources.components[name], family_of(sources.family)
    network = empty_network(source)
    if hasattr(network, "tie_weights"):
        network.tie_weights()
    return component_footprint(
        network,
        name=source.name,
        class_name=source.class_name,
        tokens=_tokens_for(sources, name),
        call=denoiser_call(sources) if name == family.denoiser_component else None,
        on_progress=on_progress,
    )


def denoiser_call(sources: ModelSources) -> "Call | None":
    """How to call the denoiser for tracing; None: as known for its class."""
    family = family_of(sources.family)
    if not isinstance(family, FlowFamily):
        return None
    return family.traced_call(sources.components[family.denoiser_component].config, sources.latent_channels)


def _float32(source: ComponentSource) -> bool:
    import torch

    from mezzotint.families.loading.networks import component_dtype

    return component_dtype(source, torch.float16) == torch.float32


def _shared(sources: ModelSources, component: str) -> str:
    """A key that is equal for weights from the same files."""
    paths = "|".join(str(path.resolve()) for path in sources.components[component].files)
    return f"{paths}#{component}" if isinstance(sources.checkpoint, FileCheckpoint) else paths


# ---- quantized files


def _as_stored(sources: ModelSources, part: ComponentFootprint) -> ComponentFootprint:
    """The footprint with the bytes of the files if those are quantized: no other scheme can be chosen then."""
    files = sources.components[part.name].files
    layers = find_layers(files)
    if not layers:
        return part
    tensors = {name: spec for path in files for name, spec in weight_header(path).tensors.items()}
    mine = _belonging(sources, part.name, {*tensors, *(f"{name}{_WEIGHT}" for name in layers)})
    if not any(f"{name}{_WEIGHT}" in mine for name in layers):
        return part
    blocks = _Inside([block.name for block in part.blocks])
    routed = route(sources, [part.name], {part.name: blocks})
    inside, outside = dict.fromkeys(blocks.names, 0), 0
    for name, size in _sizes(tensors, layers):
        if name in mine:
            placed = [each.name for each in routed.get(name, ()) if each.component == part.name]
            layer = layers.get(name.removesuffix(_WEIGHT))
            if layer is not None and _is_dequantized(part.class_name, layer, placed or [name]):
                size = 2 * prod(layer.shape)
            for each in placed:
                inside[blocks.block_of(each)] += size // len(placed)
            outside += 0 if placed else size
    return replace(
        part,
        blocks=tuple(BlockFootprint(name=name, bytes={"none": size}) for name, size in inside.items()),
        outside={"none": outside},
    )


def _is_dequantized(class_name: str, layer: "StoredLayer", names: Sequence[str]) -> bool:
    """Whether a layer that is quantized in its file has 16 bits in memory."""
    kept = any(is_kept(class_name, name.removesuffix(_WEIGHT)) or _EMBEDDING.search(name) for name in names)
    return is_always_dequantized(layer.format) or (kept and can_dequantize(layer.format))


class _Inside(Collection[str]):
    """The names of everything inside some blocks."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    def __contains__(self, name: object) -> bool:
        return bool(self.block_of(str(name)))

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def block_of(self, name: str) -> str:
        """The block that contains this name; empty if none."""
        return next((block for block in self.names if name.startswith(f"{block}.")), "")


def _belonging(sources: ModelSources, component: str, tensors: Collection[str]) -> set[str]:
    """The tensors in the files that belong to a component."""
    original = sources.components[component].original
    if original is not None:
        return {name for name in tensors if name.startswith(original.prefix)}
    if not isinstance(sources.checkpoint, FileCheckpoint) or sources.components[component].replaced:
        return set(tensors)
    layout = layout_of(tensors)
    return {name for name in tensors if any(part.component == component for part in place(name, layout))}


def _sizes(tensors: dict[str, TensorSpec], layers: "dict[str, StoredLayer]") -> Iterator[tuple[str, int]]:
    """Bytes in memory of each layer and each other tensor: as stored if quantized, else in 16 bits."""
    parts = {part for layer in layers.values() for part in layer.names.values()}
    for name, layer in layers.items():
        bias = 2 * layer.shape[0] if "bias" in layer.names else 0
        yield name + _WEIGHT, bias + sum(spec.bytes for spec in layer.format.part_specs(layer.shape).values())
    for name, spec in tensors.items():
        if name not in parts:
            floats = spec.dtype in _FLOATS  # of GGUF files also blocks, which are dequantized
            yield name, 2 * prod(spec.shape) if floats else spec.end - spec.start
