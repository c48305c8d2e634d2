"""Original tensor names of Stable Diffusion 3's networks: the transformer, both CLIPs and the autoencoder."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import isqrt, prod

from mezzotint.families.flow.clip_t5_parts import CLIP, T5_XXL
from mezzotint.families.flow.original import DENOISER_PREFIXES, OriginalNetwork, Shapes, count, thirds
from mezzotint.families.flow.parts import FLUX_VAE, KL_VAE_DIFFUSERS, PartNeeded
from mezzotint.families.loading.original_names import Form, Reshaped
from mezzotint.families.loading.original_unet import text_config

_WHERE = "https://huggingface.co/Comfy-Org/stable-diffusion-3.5-fp8, folder text_encoders"

# ---- the transformer

_RENAMES = (
    (r"^pos_embed$", "pos_embed.pos_embed"),
    (r"^x_embedder\.", "pos_embed."),
    (r"^t_embedder\.mlp\.0\.", "time_text_embed.timestep_embedder.linear_1."),
    (r"^t_embedder\.mlp\.2\.", "time_text_embed.timestep_embedder.linear_2."),
    (r"^y_embedder\.mlp\.0\.", "time_text_embed.text_embedder.linear_1."),
    (r"^y_embedder\.mlp\.2\.", "time_text_embed.text_embedder.linear_2."),
    (r"^final_layer\.linear\.", "proj_out."),
    (r"^final_layer\.adaLN_modulation\.1\.", "norm_out.linear."),
    (r"^joint_blocks\.", "transformer_blocks."),
    (r"\.x_block\.(attn2?)\.ln_([qk])\.", r".\1.norm_\2."),
    (r"\.context_block\.attn\.ln_([qk])\.", r".attn.norm_added_\1."),
    (r"\.x_block\.(attn2?)\.proj\.", r".\1.to_out.0."),
    (r"\.context_block\.attn\.proj\.", ".attn.to_add_out."),
    (r"\.x_block\.mlp\.fc1\.", ".ff.net.0.proj."),
    (r"\.x_block\.mlp\.fc2\.", ".ff.net.2."),
    (r"\.context_block\.mlp\.fc1\.", ".ff_context.net.0.proj."),
    (r"\.context_block\.mlp\.fc2\.", ".ff_context.net.2."),
    (r"\.x_block\.adaLN_modulation\.1\.", ".norm1.linear."),
    (r"\.context_block\.adaLN_modulation\.1\.", ".norm1_context.linear."),
)
_JOINED = {
    ".x_block.attn.qkv.": thirds(".attn.to_q.", ".attn.to_k.", ".attn.to_v."),
    ".x_block.attn2.qkv.": thirds(".attn2.to_q.", ".attn2.to_k.", ".attn2.to_v."),
    ".context_block.attn.qkv.": thirds(".attn.add_q_proj.", ".attn.add_k_proj.", ".attn.add_v_proj."),
}
_HEAD = 64  # head dimension, if no tensor shows it
SECOND_ATTENTION = ".x_block.attn2.qkv.weight"  # in the first blocks of 3.5 Medium


def _config(shapes: Shapes) -> Mapping[str, object]:
    """Values that shapes do not show are those of stabilityai/stable-diffusion-3.5-medium's transformer/config.json."""
    width, channels, side, _ = shapes["x_embedder.proj.weight"]
    norm = "joint_blocks.0.x_block.attn.ln_q.weight"
    head = shapes[norm][0] if norm in shapes else _HEAD
    layers = count(shapes, r"joint_blocks\.(\d+)\.")
    return {
        "_class_name": "SD3Transformer2DModel",
        "sample_size": 128,
        "patch_size": side,
        "in_channels": channels,
        "num_layers": layers,
        "attention_head_dim": head,
        "num_attention_heads": width // head,
        "joint_attention_dim": shapes["context_embedder.weight"][1],
        "caption_projection_dim": shapes["context_embedder.weight"][0],
        "pooled_projection_dim": shapes["y_embedder.mlp.0.weight"][1],
        "out_channels": shapes["final_layer.linear.weight"][0] // side**2,
        "pos_embed_max_size": isqrt(prod(shapes["pos_embed"]) // width),
        "dual_attention_layers": [at for at in range(layers) if f"joint_blocks.{at}{SECOND_ATTENTION}" in shapes],
        "qk_norm": "rms_norm" if norm in shapes else None,
    }


def _forms(config: Mapping[str, object]) -> Mapping[str, Form]:
    """The last block's text shift and scale are in the other order, like those of the output norm."""
    layers, width = config.get("num_layers"), config.get("caption_projection_dim")
    if not isinstance(layers, int) or not isinstance(width, int):
        return {}
    return {
        rf"^transformer_blocks\.{layers - 1}\.norm1_context\.linear\.": "swapped",
        r"^pos_embed\.pos_embed$": Reshaped((1, -1, width)),
    }


TRANSFORMER = OriginalNetwork(
    name="Stable Diffusion 3's transformer",
    library="diffusers",
    class_name="SD3Transformer2DModel",
    marks=(
        r"context_embedder\.weight$",
        r"x_embedder\.proj\.weight$",
        r"y_embedder\.mlp\.0\.weight$",
        r"joint_blocks\.\d+\.x_block\.attn\.qkv\.weight$",
    ),
    prefixes=DENOISER_PREFIXES,
    config=_config,
    renames=_RENAMES,
    joined=_JOINED,
    forms={r"^norm_out\.linear\.": "swapped"},
    forms_of=_forms,
)

# ---- text encoders


def _clip_config(shapes: Shapes, activation: str) -> Mapping[str, object]:
    vocabulary, width = shapes["text_model.embeddings.token_embedding.weight"]
    config = text_config(
        "CLIPTextModelWithProjection",
        vocabulary,
        width,
        positions=shapes["text_model.embeddings.position_embedding.weight"][0],
        inner=shapes["text_model.encoder.layers.0.mlp.fc1.weight"][0],
        layers=count(shapes, r"text_model\.encoder\.layers\.(\d+)\."),
        projection=shapes["text_projection.weight"][0],
    )
    return {**config, "hidden_act": activation}


_CLIP_L = OriginalNetwork(
    name="the text encoder CLIP-L",
    library="transformers",
    class_name="CLIPTextModelWithProjection",
    marks=(r"text_model\.encoder\.layers\.0\.self_attn\.q_proj\.weight$", r"text_projection\.weight$"),
    prefixes=(r"text_encoders\.clip_l\.transformer\.", ""),
    config=lambda shapes: _clip_config(shapes, "quick_gelu"),
    dropped=("text_model.embeddings.position_ids", "logit_scale"),
)
_CLIP_G = replace(
    _CLIP_L,
    name="the text encoder CLIP-G",
    prefixes=(r"text_encoders\.clip_g\.transformer\.", ""),
    config=lambda shapes: _clip_config(shapes, "gelu"),
)
CLIP_L = PartNeeded(
    component="text_encoder",
    networks=(_CLIP_L, CLIP),  # without a projection, the pooled last hidden state is used
    width="pooled_projection_dim",
    share=Fraction(768, 2048),
    usual=((None, "clip_l.safetensors"),),
    where=_WHERE,
)
CLIP_G = PartNeeded(
    component="text_encoder_2",
    networks=(_CLIP_G,),
    width="pooled_projection_dim",
    share=Fraction(1280, 2048),
    usual=((None, "clip_g.safetensors"),),
    where=_WHERE,
)
THIRD_T5_XXL = replace(T5_XXL, component="text_encoder_3", optional=True)

# ---- the autoencoder

_SCALES = {"scaling_factor": 1.5305, "shift_factor": 0.0609}  # of vae/config.json; no tensor shows them
_VAE = replace(
    FLUX_VAE,
    name="Stable Diffusion 3's autoencoder",
    config=lambda shapes: {**FLUX_VAE.config(shapes), **_SCALES},
)
_VAE_DIFFUSERS = replace(
    KL_VAE_DIFFUSERS,
    name="Stable Diffusion 3's autoencoder as diffusers names it",
    config=lambda shapes: {**KL_VAE_DIFFUSERS.config(shapes), **_SCALES},
)
SD3_VAE = PartNeeded(
    component="vae",
    networks=(_VAE, _VAE_DIFFUSERS),
    usual=((None, "sd3_vae.safetensors"),),
    unlike=r"^ae\b|flux",  # FLUX.1's, with the same shapes
    where="https://huggingface.co/stabilityai/stable-diffusion-3.5-medium, folder vae",
)
