"""VAE and text encoders in files of their own, for a checkpoint with a U-Net that lacks them (SDXL, SD 1.5)."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from mezzotint.checkpoints.header import Header, TensorSpec
from mezzotint.checkpoints.opening import FileCheckpoint
from mezzotint.checkpoints.weight_file import weight_header
from mezzotint.families.family import ModelSources, Original
from mezzotint.families.loading.original_names import (
    FIRST_ENCODER,
    REFINER_ENCODER,
    SD15_ENCODER,
    SECOND_ENCODER,
    UNET,
    VAE,
    Form,
    Layout,
    place,
)
from mezzotint.families.loading.sources import with_weights
from mezzotint.families.loading.stored_layers import logical_header

_TEXT_MODEL = "text_model."
_TOKENS = "embeddings.token_embedding.weight"
_OPEN_CLIP_MARK = "transformer.resblocks.0.mlp.c_fc.weight"
_PROJECTION = "text_projection.weight"
_WIDTH = UNET + "middle_block.1.transformer_blocks.0.attn2.to_k.weight"
_CHANNELS = UNET + "out.2.weight"
_SD2_WIDTH = 1024  # of its text encoder, which is of another kind
# transformers' names in the original ones, as far as configurations are read from them
_TO_ORIGINAL_VAE = ((r"^encoder\.down_blocks\.(\d+)\.resnets\.(\d+)\.", r"encoder.down.\1.block.\2."),)
_TO_OPEN_CLIP = (
    (r"^embeddings\.token_embedding\.", "token_embedding."),
    (r"^embeddings\.position_embedding\.weight$", "positional_embedding"),
    (r"^encoder\.layers\.(\d+)\.", r"transformer.resblocks.\1."),
    (r"\.mlp\.fc1\.", ".mlp.c_fc."),
    (r"^text_projection\.weight$", "text_projection"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A component in a file of its own: the prefix of its tensors, and whether a text encoder has OpenCLIP's names."""

    component: str
    prefix: str
    is_open_clip: bool = False


def lacking(names: Collection[str]) -> tuple[str, ...]:
    """The components that a checkpoint with an SDXL or SD 1.5 U-Net lacks; none of other files."""
    if _WIDTH not in names or any(name.startswith("cond_stage_model.model.") for name in names):
        return ()
    has_vae = VAE + "decoder.conv_in.weight" in names
    lacks = () if has_vae else ("vae",)
    if UNET + "label_emb.0.0.weight" not in names:
        has_text = any(name.startswith(SD15_ENCODER) and name.endswith(_TOKENS) for name in names)
        return lacks if has_text else (*lacks, "text_encoder")
    if REFINER_ENCODER + "text_projection" in names:
        return lacks
    has_first = f"{FIRST_ENCODER}{_TEXT_MODEL}{_TOKENS}" in names
    has_second = SECOND_ENCODER + "text_projection" in names
    return (*lacks, *(() if has_first else ("text_encoder",)), *(() if has_second else ("text_encoder_2",)))


def part_for(checkpoint: FileCheckpoint, path: Path) -> str | None:
    """The component that a checkpoint lacks and a file holds; None if it holds none. Raises ModelRefused as reading."""
    whole = whole_header(checkpoint)
    lacks = lacking(whole.tensors)
    found = _part(logical_header(weight_header(path)).tensors, whole.tensors, lacks) if lacks else None
    return None if found is None else found.component


def whole_header(checkpoint: FileCheckpoint) -> Header:
    """The header of a checkpoint, with the tensors of components that it lacks under their original names."""
    header = logical_header(checkpoint.header)
    tensors = dict(header.tensors)
    for component, path in _added(checkpoint, header):
        own = logical_header(weight_header(path)).tensors
        part = _part(own, tensors, [component])
        if part is not None:
            tensors |= _as_original(part, own, is_sdxl=UNET + "label_emb.0.0.weight" in tensors)
    return replace(header, tensors=tensors)


def with_added(sources: ModelSources, checkpoint: FileCheckpoint) -> ModelSources:
    """The sources with the components that the checkpoint lacks in their own files."""
    header = logical_header(checkpoint.header)
    for component, path in _added(checkpoint, header):
        replaced = with_weights(sources, component, path)
        part = _part(logical_header(weight_header(path)).tensors, header.tensors, [component])
        if part is not None and component != "vae":
            source = replace(replaced.components[component], replaced=False, original=_original(part))
            replaced = replace(replaced, components={**replaced.components, component: source})
        sources = replaced
    return sources


def _added(checkpoint: FileCheckpoint, header: Header) -> Iterable[tuple[str, Path]]:
    lacks = lacking(header.tensors)
    return [(component, path) for component, path in checkpoint.parts.items() if component in lacks]


def _part(tensors: Mapping[str, TensorSpec], whole: Mapping[str, TensorSpec], lacks: Collection[str]) -> _Part | None:
    """The first lacking component in a file that fits the U-Net."""
    if "vae" in lacks:
        for prefix in ("", VAE):
            first = tensors.get(f"{prefix}decoder.conv_in.weight")
            if first is None or f"{prefix}encoder.conv_in.weight" not in tensors:
                continue
            if first.shape[1:2] == whole[_CHANNELS].shape[:1]:
                return _Part(component="vae", prefix=prefix)
    found = _text_encoder(tensors)
    if found is None:
        return None
    prefix, width, is_open_clip = found
    wanted = whole[_WIDTH].shape[1]
    if UNET + "label_emb.0.0.weight" not in whole:
        fits = width == wanted != _SD2_WIDTH and not is_open_clip
        return _Part(component="text_encoder", prefix=prefix) if fits and "text_encoder" in lacks else None
    halves = width * 2 == wanted
    is_second = is_open_clip or (prefix + _PROJECTION in tensors if halves else width * 2 > wanted)
    component = "text_encoder_2" if is_second else "text_encoder"
    fits = component in lacks and width < wanted
    return _Part(component=component, prefix=prefix, is_open_clip=is_open_clip) if fits else None


def _text_encoder(tensors: Mapping[str, TensorSpec]) -> tuple[str, int, bool] | None:
    """Prefix and width of a CLIP text encoder, and whether it has OpenCLIP's names; None if there is none."""
    for mark, tokens, is_open_clip in (
        (_OPEN_CLIP_MARK, "token_embedding.weight", True),
        ("encoder.layers.0.self_attn.q_proj.weight", _TOKENS, False),
    ):
        for name in tensors:
            prefix = name.removesuffix(mark)
            if name != prefix and "vision" not in prefix and prefix + tokens in tensors:
                width = tensors[prefix + tokens].shape[-1]
                return prefix.removesuffix(_TEXT_MODEL), width, is_open_clip
    return None


def _as_original(part: _Part, tensors: Mapping[str, TensorSpec], *, is_sdxl: bool) -> dict[str, TensorSpec]:
    own = {name.removeprefix(part.prefix): spec for name, spec in tensors.items() if name.startswith(part.prefix)}
    if part.component == "vae":
        return {VAE + _renamed(name, _TO_ORIGINAL_VAE): spec for name, spec in own.items()}
    if part.component == "text_encoder":
        start = (FIRST_ENCODER if is_sdxl else SD15_ENCODER) + _TEXT_MODEL
        return {start + name.removeprefix(_TEXT_MODEL): spec for name, spec in own.items()}
    if not part.is_open_clip:
        own = {_renamed(name.removeprefix(_TEXT_MODEL), _TO_OPEN_CLIP): spec for name, spec in own.items()}
    return {SECOND_ENCODER + name: spec for name, spec in own.items()}


def _renamed(name: str, renames: Iterable[tuple[str, str]]) -> str:
    for pattern, new in renames:
        name = re.sub(pattern, new, name)
    return name


def _original(part: _Part) -> Original:
    """How a text encoder's tensors are placed: transformers' names without `text_model.` in the first one alone."""

    def open_clip(name: str) -> tuple[tuple[str, Form], ...]:
        placed = place(SECOND_ENCODER + name, Layout(unet_layers=1, vae_levels=1))
        return tuple((each.name, each.form) for each in placed)

    def transformers_s(name: str) -> tuple[tuple[str, Form], ...]:
        short = name.removeprefix(_TEXT_MODEL)
        if part.component == "text_encoder" or name == _PROJECTION:
            return ((short, "whole"),)
        return ((_TEXT_MODEL + short, "whole"),)

    return Original(prefix=part.prefix, place=open_clip if part.is_open_clip else transformers_s)
