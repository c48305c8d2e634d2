"""Components shared by Krea 2 and Qwen-Image: Qwen's vision-language models as text encoders, and the autoencoder."""

import re
from collections.abc import Mapping
from dataclasses import replace

from mezzotint.families.flow.original import OriginalNetwork, Parameters, Shapes, count, renamed
from mezzotint.families.flow.parts import GGUF_NAMES, LANGUAGE_PREFIXES, VAE_PREFIXES, PartNeeded

_HEAD = 128  # head dimension of Qwen2.5-VL in all sizes, which no shape shows
_HALF = (16, 24, 24)  # of its rotary frequencies for time, row and column
_VISION_HEAD = 80  # of its vision tower
_BLOCKS = 2  # residual blocks per level of the autoencoder's encoder; its decoder has one more


# ---- text encoders


def _reader(shapes: Shapes, head: int, rope: Mapping[str, object]) -> Mapping[str, object]:
    vocabulary, width = shapes["embed_tokens.weight"]
    return {
        "vocab_size": vocabulary,
        "hidden_size": width,
        "intermediate_size": shapes["layers.0.mlp.gate_proj.weight"][0],
        "num_hidden_layers": count(shapes, r"layers\.(\d+)\."),
        "num_attention_heads": shapes["layers.0.self_attn.q_proj.weight"][0] // head,
        "num_key_value_heads": shapes["layers.0.self_attn.k_proj.weight"][0] // head,
        "max_position_embeddings": 128000,
        "rms_norm_eps": 1e-6,
        "rope_parameters": {"rope_type": "default", **rope},
    }


def _qwen3_vl_config(shapes: Shapes) -> Mapping[str, object]:
    """Values that shapes do not show are those of Qwen3-VL-4B-Instruct's config.json."""
    (head,) = shapes["layers.0.self_attn.q_norm.weight"]
    side = head * 5 // 32
    rope = {"rope_theta": 5000000.0, "mrope_section": [head // 2 - 2 * side, side, side], "mrope_interleaved": True}
    return {**_reader(shapes, head, rope), "head_dim": head, "max_position_embeddings": 262144}


def _qwen2_5_vl_config(shapes: Shapes) -> Mapping[str, object]:
    """Values that shapes do not show are those of Qwen2.5-VL-7B-Instruct's config.json."""
    return _reader(shapes, _HEAD, {"rope_theta": 1000000.0, "mrope_section": list(_HALF)})


_READER_PREFIXES = (*LANGUAGE_PREFIXES, r"model\.language_model\.", r"language_model\.(?:model\.)?")
_LAYER = (r"embed_tokens\.weight$", r"norm\.weight$")

QWEN3_VL = OriginalNetwork(
    name="a text encoder of Qwen3-VL",
    library="transformers",
    class_name="Qwen3VLTextModel",
    marks=(r"layers\.0\.self_attn\.q_norm\.weight$", *_LAYER),
    beside=(r"visual\.deepstack_merger_list\.0\.",),  # distinguishes it from Qwen3
    prefixes=_READER_PREFIXES,
    config=_qwen3_vl_config,
    dropped=("lm_head.", "visual."),
)
QWEN2_5_VL = OriginalNetwork(
    name="a text encoder of Qwen2.5-VL",
    library="transformers",
    class_name="Qwen2_5_VLTextModel",
    marks=(r"layers\.0\.self_attn\.k_proj\.bias$", *_LAYER),
    beside=(r"visual\.",),  # distinguishes it from Qwen2.5
    prefixes=_READER_PREFIXES,
    config=_qwen2_5_vl_config,
    dropped=("lm_head.", "visual."),
)


_SEEING_NAMES = (
    (r"^model\.(?=visual\.|language_model\.)", ""),
    (r"^(?:language_model\.)?model\.", "language_model."),
)


def _seeing_config(shapes: Shapes) -> Mapping[str, object]:
    """Values that shapes do not show are those of Qwen2.5-VL-7B-Instruct's config.json."""
    named = {renamed(name, _SEEING_NAMES)[0][0].removeprefix("language_model."): each for name, each in shapes.items()}
    width, channels, frames, side, _ = named["visual.patch_embed.proj.weight"]
    vision = {
        "hidden_size": width,
        "in_channels": channels,
        "temporal_patch_size": frames,
        "patch_size": side,
        "depth": count(named, r"visual\.blocks\.(\d+)\."),
        "intermediate_size": named["visual.blocks.0.mlp.gate_proj.weight"][0],
        "num_heads": width // _VISION_HEAD,
        "out_hidden_size": named["visual.merger.mlp.2.weight"][0],
        "spatial_merge_size": 2,
        "window_size": 112,
        "fullatt_block_indexes": [7, 15, 23, 31],
    }
    return {**_qwen2_5_vl_config(named), "vision_config": vision}


QWEN2_5_VL_SEEING = OriginalNetwork(
    name="a text encoder of Qwen2.5-VL with its vision tower",
    library="transformers",
    class_name="Qwen2_5_VLModel",
    marks=(
        r"(?:model\.)?(?:language_model\.(?:model\.)?)?layers\.0\.self_attn\.k_proj\.bias$",
        r"(?:model\.)?visual\.patch_embed\.proj\.weight$",
    ),
    prefixes=("", r"text_encoders\.\w+\.transformer\."),
    config=_seeing_config,
    renames=_SEEING_NAMES,
    dropped=("lm_head.",),
)


def _in_gguf(network: OriginalNetwork, mark: str, architecture: str) -> OriginalNetwork:
    """The same network in llama.cpp's naming, where the vision tower is a separate file."""

    def config(shapes: Shapes) -> Mapping[str, object]:
        return network.config({renamed(name, GGUF_NAMES)[0][0]: shape for name, shape in shapes.items()})

    return replace(
        network,
        name=f"{network.name} as llama.cpp names it",
        marks=(mark, r"token_embd\.weight$", r"output_norm\.weight$"),
        beside=(),
        architectures=(architecture,),
        prefixes=("",),
        config=config,
        renames=GGUF_NAMES,
        dropped=("output.",),
    )


# ---- the autoencoder


def _vae_config(shapes: Shapes) -> Mapping[str, object]:
    """Values that shapes do not show are those of Qwen-Image's vae/config.json, which are also the class's defaults."""
    base = shapes["encoder.conv1.weight"][0]
    first = [name for name in shapes if re.fullmatch(r"encoder\.downsamples\.\d+\.residual\.6\.weight", name)]
    blocks = sorted(first, key=lambda name: int(name.split(".")[2]))
    widths = [shapes[name][0] for name in blocks[::_BLOCKS]]
    samplers = [_BLOCKS + level * (_BLOCKS + 1) for level in range(len(widths) - 1)]
    return {
        "_class_name": "AutoencoderKLQwenImage",
        "base_dim": base,
        "z_dim": shapes["conv2.weight"][0],
        "dim_mult": [width // base for width in widths],
        "num_res_blocks": _BLOCKS,
        "attn_scales": [],
        "temperal_downsample": [f"encoder.downsamples.{index}.time_conv.weight" in shapes for index in samplers],
    }


_VAE_NAMES = (
    (r"^conv1\.", "quant_conv."),
    (r"^conv2\.", "post_quant_conv."),
    (r"coder\.conv1\.", "coder.conv_in."),
    (r"coder\.head\.0\.", "coder.norm_out."),
    (r"coder\.head\.2\.", "coder.conv_out."),
    (r"\.middle\.0\.", ".mid_block.resnets.0."),
    (r"\.middle\.1\.", ".mid_block.attentions.0."),
    (r"\.middle\.2\.", ".mid_block.resnets.1."),
    (r"\.downsamples\.", ".down_blocks."),
    (r"\.residual\.0\.", ".norm1."),
    (r"\.residual\.2\.", ".conv1."),
    (r"\.residual\.3\.", ".norm2."),
    (r"\.residual\.6\.", ".conv2."),
    (r"\.shortcut\.", ".conv_shortcut."),
)
_UP = re.compile(r"decoder\.upsamples\.(\d+)\.")


def _vae_place(name: str) -> Parameters:
    """Wan's naming numbers the decoder's blocks consecutively, diffusers' by level."""

    def up(match: re.Match[str]) -> str:
        level, block = divmod(int(match[1]), _BLOCKS + 2)
        inner = f"resnets.{block}" if block <= _BLOCKS else "upsamplers.0"
        return f"decoder.up_blocks.{level}.{inner}."

    return renamed(_UP.sub(up, name), _VAE_NAMES)


QWEN_VAE = OriginalNetwork(
    name="Qwen-Image's autoencoder",
    library="diffusers",
    class_name="AutoencoderKLQwenImage",
    marks=(r"decoder\.middle\.0\.residual\.0\.gamma$", r"encoder\.conv1\.weight$", r"conv2\.weight$"),
    prefixes=VAE_PREFIXES,
    config=_vae_config,
    placed=_vae_place,
)


# ---- components for families

QWEN3_VL_4B = PartNeeded(
    component="text_encoder",
    networks=(QWEN3_VL, _in_gguf(QWEN3_VL, r"blk\.0\.attn_q_norm\.weight$", "qwen3vl")),
    width="text_hidden_dim",
    usual=((2560, "qwen3vl_4b_bf16.safetensors"),),
    where="https://huggingface.co/Comfy-Org/Krea-2, folder text_encoders",
)
QWEN2_5_VL_7B = PartNeeded(
    component="text_encoder",
    networks=(QWEN2_5_VL, _in_gguf(QWEN2_5_VL, r"blk\.0\.attn_k\.bias$", "qwen2vl")),
    width="joint_attention_dim",
    usual=((3584, "qwen_2.5_vl_7b.safetensors"),),
    where="https://huggingface.co/Comfy-Org/Qwen-Image_ComfyUI, folder split_files/text_encoders",
)
QWEN2_5_VL_7B_SEEING = replace(QWEN2_5_VL_7B, networks=(QWEN2_5_VL_SEEING,))
QWEN_AE = PartNeeded(
    component="vae",
    networks=(QWEN_VAE,),
    usual=((None, "qwen_image_vae.safetensors"),),
    where="https://huggingface.co/Comfy-Org/Qwen-Image_ComfyUI, folder split_files/vae",
)
