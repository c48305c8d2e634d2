"""Sana's text encoder and autoencoder in separate files: Gemma 2, and DC-AE (arXiv 2410.10733)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from mezzotint.families.flow.original import OriginalNetwork, Shapes, count, renamed, thirds
from mezzotint.families.flow.parts import GGUF_LANGUAGE_NAMES, LANGUAGE_PREFIXES, VAE_PREFIXES, PartNeeded

_HEAD = 256  # head dimension of Gemma 2 2B and 9B, which no shape shows

# ---- the text encoder


def _gemma2_config(shapes: Shapes) -> Mapping[str, object]:
    """Values that shapes do not show are those of gemma-2-2b-it's config.json."""
    vocabulary, width = shapes["embed_tokens.weight"]
    return {
        "architectures": ["Gemma2Model"],
        "model_type": "gemma2",
        "vocab_size": vocabulary,
        "hidden_size": width,
        "intermediate_size": shapes["layers.0.mlp.gate_proj.weight"][0],
        "num_hidden_layers": count(shapes, r"layers\.(\d+)\."),
        "num_attention_heads": shapes["layers.0.self_attn.q_proj.weight"][0] // _HEAD,
        "num_key_value_heads": shapes["layers.0.self_attn.k_proj.weight"][0] // _HEAD,
        "head_dim": _HEAD,
        "query_pre_attn_scalar": _HEAD,
        "max_position_embeddings": 8192,
        "sliding_window": 4096,
        "attn_logit_softcapping": 50.0,
        "rms_norm_eps": 1e-6,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
        "tie_word_embeddings": True,
    }


GEMMA2 = OriginalNetwork(
    name="a text encoder of Gemma 2",
    library="transformers",
    class_name="Gemma2Model",
    marks=(r"layers\.\d+\.pre_feedforward_layernorm\.weight$", r"embed_tokens\.weight$", r"norm\.weight$"),
    absent=(r"layers\.\d+\.self_attn\.q_norm\.",),  # Gemma 3's
    prefixes=LANGUAGE_PREFIXES,
    config=_gemma2_config,
    dropped=("lm_head.",),
)

_GGUF_NAMES = (
    *GGUF_LANGUAGE_NAMES,
    (r"\.ffn_norm\.", ".pre_feedforward_layernorm."),
    (r"\.post_attention_norm\.", ".post_attention_layernorm."),
    (r"\.post_ffw_norm\.", ".post_feedforward_layernorm."),
)


def _gemma2_gguf_config(shapes: Shapes) -> Mapping[str, object]:
    return _gemma2_config({renamed(name, _GGUF_NAMES)[0][0]: shape for name, shape in shapes.items()})


GEMMA2_GGUF = OriginalNetwork(
    name="a text encoder of Gemma 2 as llama.cpp names it",
    library="transformers",
    class_name="Gemma2Model",
    marks=(r"blk\.\d+\.post_ffw_norm\.weight$", r"token_embd\.weight$", r"output_norm\.weight$"),
    architectures=("gemma2",),
    config=_gemma2_gguf_config,
    renames=_GGUF_NAMES,
    forms={r"norm\.weight$": "raised"},
    dropped=("output.",),
)

# ---- the autoencoder

_DC_AE_NAMES = (
    (r"(?<=coder\.project_in\.)main\.", ""),
    (r"(?<=coder\.project_out\.)main\.", ""),
    (r"\bop_list\.", ""),
    (r"^encoder\.project_in\.conv\.", "encoder.conv_in."),
    (r"^encoder\.project_out\.0\.conv\.", "encoder.conv_out."),
    (r"^decoder\.project_in\.conv\.", "decoder.conv_in."),
    (r"^decoder\.project_out\.0\.", "decoder.norm_out."),
    (r"^decoder\.project_out\.2\.conv\.", "decoder.conv_out."),
    (r"^encoder\.stages\.", "encoder.down_blocks."),
    (r"^decoder\.stages\.", "decoder.up_blocks."),
    (r"\.context_module\.main\.", ".attn."),
    (r"\.local_module\.main\.", ".conv_out."),
    (r"\.aggreg\.(\d+)\.0\.", r".to_qkv_multiscale.\1.proj_in."),
    (r"\.aggreg\.(\d+)\.1\.", r".to_qkv_multiscale.\1.proj_out."),
    (r"\.attn\.proj\.conv\.", ".attn.to_out."),
    (r"\.attn\.proj\.norm\.", ".attn.norm_out."),
    (r"\.(inverted|depth|point)_conv\.conv\.", r".conv_\1."),
    (r"\.point_conv\.norm\.", ".norm."),
    (r"\.main\.(conv[12])\.conv\.", r".\1."),
    (r"\.main\.conv2\.norm\.", ".norm."),
    (r"\.main\.conv\.(?:conv\.)?", ".conv."),
)
_DC_AE_JOINED = {".attn.qkv.conv.": thirds(".attn.to_q.", ".attn.to_k.", ".attn.to_v.")}


def _dc_ae_config(shapes: Shapes) -> Mapping[str, object]:
    named = {name: shape for old, shape in shapes.items() for name, _ in renamed(old, _DC_AE_NAMES, _DC_AE_JOINED)}
    shortcuts = {
        "encoder_out_shortcut": "encoder.project_out.main.op_list.0.conv.weight" in shapes,
        "decoder_in_shortcut": "decoder.project_in.main.conv.weight" in shapes,
    }
    return {**_dc_ae_diffusers_config(named), **shortcuts}


def _dc_ae_diffusers_config(shapes: Shapes) -> Mapping[str, object]:
    """Values that shapes do not show are those of mit-han-lab/dc-ae-f32c32-sana-1.0-diffusers's config.json."""
    down, up = _levels(shapes, "encoder.down_blocks"), _levels(shapes, "decoder.up_blocks")
    samplers = (
        shapes[f"encoder.down_blocks.0.{down[0].layers}.conv.weight"],
        shapes["decoder.up_blocks.0.0.conv.weight"],
    )
    heads = [shape[1] for name, shape in shapes.items() if name.endswith(".to_qkv_multiscale.0.proj_out.weight")]
    return {
        "_class_name": "AutoencoderDC",
        "in_channels": shapes["encoder.conv_in.weight"][1],
        "latent_channels": shapes["decoder.conv_in.weight"][1],
        "attention_head_dim": heads[0] if heads else 32,
        **_settings("encoder", down),
        **_settings("decoder", up),
        "downsample_block_type": "conv" if samplers[0][0] == down[1].width else "pixel_unshuffle",
        "upsample_block_type": "interpolate" if samplers[1][0] == up[0].width else "pixel_shuffle",
        "scaling_factor": 0.41407,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Level:
    """The blocks of a resolution level of the autoencoder, which are of one kind."""

    kind: str
    width: int
    layers: int
    kernels: tuple[int, ...]  # sizes in the attention's further scales


def _levels(shapes: Shapes, path: str) -> list[_Level]:
    return [_level(shapes, f"{path}.{index}") for index in range(count(shapes, rf"{re.escape(path)}\.(\d+)\."))]


def _level(shapes: Shapes, path: str) -> _Level:
    kinds = {"ResBlock": "conv1", "EfficientViTBlock": "attn.to_q"}
    blocks = {
        kind: [shape for name, shape in shapes.items() if re.fullmatch(rf"{path}\.\d+\.{mark}\.weight", name)]
        for kind, mark in kinds.items()
    }
    kind = max(blocks, key=lambda each: len(blocks[each]))
    scale = re.compile(rf"{path}\.\d+\.attn\.to_qkv_multiscale\.(\d+)\.proj_in\.weight")
    kernels = {int(match[1]): shapes[match[0]][-1] for match in map(scale.fullmatch, shapes) if match}
    return _Level(
        kind=kind,
        width=blocks[kind][0][1],
        layers=len(blocks[kind]),
        kernels=tuple(kernels[index] for index in sorted(kernels)),
    )


def _settings(side: str, levels: list[_Level]) -> Mapping[str, object]:
    return {
        f"{side}_block_types": [level.kind for level in levels],
        f"{side}_block_out_channels": [level.width for level in levels],
        f"{side}_layers_per_block": [level.layers for level in levels],
        f"{side}_qkv_multiscales": [list(level.kernels) for level in levels],
    }


DC_AE = OriginalNetwork(
    name="Sana's autoencoder",
    library="diffusers",
    class_name="AutoencoderDC",
    marks=(
        r"encoder\.stages\.0\.op_list\.0\.main\.conv1\.conv\.weight$",
        r"decoder\.project_out\.op_list\.2\.conv\.weight$",
    ),
    prefixes=VAE_PREFIXES,
    config=_dc_ae_config,
    renames=_DC_AE_NAMES,
    joined=_DC_AE_JOINED,
)
DC_AE_DIFFUSERS = OriginalNetwork(
    name="Sana's autoencoder as diffusers names it",
    library="diffusers",
    class_name="AutoencoderDC",
    marks=(r"encoder\.down_blocks\.0\.0\.conv1\.weight$", r"decoder\.up_blocks\.0\.0\.conv\.weight$"),
    prefixes=VAE_PREFIXES,
    config=_dc_ae_diffusers_config,
)

# ---- components for the family

GEMMA2_2B = PartNeeded(
    component="text_encoder",
    networks=(GEMMA2, GEMMA2_GGUF),
    width="caption_channels",
    unlike=r"^gemma[-_]2[-_]2b(?![-_]it)",  # the base model, of Lumina 2
    usual=((None, "gemma_2_2b_it_elm_bf16.safetensors"),),
    where="https://huggingface.co/Comfy-Org/PixelDiT, folder text_encoders",
)
SANA_VAE = PartNeeded(
    component="vae",
    networks=(DC_AE, DC_AE_DIFFUSERS),
    usual=((None, "dc-ae-f32c32-sana-1.0.safetensors"),),
    where="https://huggingface.co/mit-han-lab/dc-ae-f32c32-sana-1.0, where it is called model.safetensors",
)
