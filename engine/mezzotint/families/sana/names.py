"""Tensor names of Sana's transformer in its original release."""

from collections.abc import Mapping
from dataclasses import replace
from math import isqrt, prod

from mezzotint.families.flow.original import DENOISER_PREFIXES, OriginalNetwork, Shapes, count, thirds
from mezzotint.families.loading.original_names import Rows

_GUIDANCE = r"cfg_embedder\.mlp\.0\.weight$"  # in Sprint alone
_HEAD = 32  # dimension of self-attention's heads in all sizes, which no shape shows
_CROSS_HEADS = (112, 72)  # dimension of cross-attention's heads: 1.6B and 4.8B, 0.6B
_INTERPOLATION = {64: 1.0, 128: 2.0}  # of position embeddings by side in latents; smaller models have none

_RENAMES = (
    (r"^x_embedder\.", "patch_embed."),
    (r"^t_embedder\.mlp\.0\.", "time_embed.emb.timestep_embedder.linear_1."),
    (r"^t_embedder\.mlp\.2\.", "time_embed.emb.timestep_embedder.linear_2."),
    (r"^t_block\.1\.", "time_embed.linear."),
    (r"^y_embedder\.y_proj\.fc([12])\.", r"caption_projection.linear_\1."),
    (r"^attention_y_norm\.", "caption_norm."),
    (r"^final_layer\.linear\.", "proj_out."),
    (r"^final_layer\.scale_shift_table", "scale_shift_table"),
    (r"^blocks\.", "transformer_blocks."),
    (r"\.attn\.([qk])_norm\.", r".attn1.norm_\1."),
    (r"\.attn\.proj\.", ".attn1.to_out.0."),
    (r"\.cross_attn\.q_linear\.", ".attn2.to_q."),
    (r"\.cross_attn\.([qk])_norm\.", r".attn2.norm_\1."),
    (r"\.cross_attn\.proj\.", ".attn2.to_out.0."),
    (r"\.mlp\.(inverted|depth|point)_conv\.conv\.", r".ff.conv_\1."),
)
_JOINED = {
    ".attn.qkv.": thirds(".attn1.to_q.", ".attn1.to_k.", ".attn1.to_v."),
    ".cross_attn.kv_linear.": ((".attn2.to_k.", Rows(0, 1, 2)), (".attn2.to_v.", Rows(1, 1, 2))),
}


def _config(shapes: Shapes) -> Mapping[str, object]:
    """Values that shapes do not show are those of scripts/convert_sana_to_diffusers.py in diffusers."""
    width, channels, patch, _ = shapes["x_embedder.proj.weight"]
    cross = next((head for head in _CROSS_HEADS if width % head == 0), 0)
    if not cross or width % _HEAD:
        raise ValueError(f"its width is {width}")
    side = isqrt(prod(shapes["pos_embed"]) // width)
    return {
        "_class_name": "SanaTransformer2DModel",
        "in_channels": channels,
        "out_channels": shapes["final_layer.linear.weight"][0] // patch**2,
        "num_attention_heads": width // _HEAD,
        "attention_head_dim": _HEAD,
        "num_layers": count(shapes, r"blocks\.(\d+)\."),
        "num_cross_attention_heads": width // cross,
        "cross_attention_head_dim": cross,
        "cross_attention_dim": width,
        "caption_channels": shapes["y_embedder.y_proj.fc1.weight"][1],
        "mlp_ratio": shapes["blocks.0.mlp.point_conv.conv.weight"][1] / width,
        "attention_bias": "blocks.0.attn.qkv.bias" in shapes,
        "sample_size": side * patch,
        "patch_size": patch,
        "interpolation_scale": _INTERPOLATION.get(side * patch),
        "qk_norm": "rms_norm_across_heads" if "blocks.0.attn.q_norm.weight" in shapes else None,
    }


def _sprint_config(shapes: Shapes) -> Mapping[str, object]:
    return {**_config(shapes), "guidance_embeds": True}


TRANSFORMER = OriginalNetwork(
    name="Sana's transformer",
    library="diffusers",
    class_name="SanaTransformer2DModel",
    marks=(
        r"attention_y_norm\.weight$",
        r"y_embedder\.y_proj\.fc1\.weight$",
        r"x_embedder\.proj\.weight$",
        r"blocks\.\d+\.cross_attn\.kv_linear\.weight$",
    ),
    absent=(_GUIDANCE,),
    prefixes=DENOISER_PREFIXES,
    config=_config,
    renames=_RENAMES,
    joined=_JOINED,
    dropped=("pos_embed", "y_embedder.y_embedding", "logvar_linear."),
)
SPRINT = replace(
    TRANSFORMER,
    name="Sana Sprint's transformer",
    marks=(*TRANSFORMER.marks, _GUIDANCE),
    absent=(),
    config=_sprint_config,
    renames=(
        (r"^cfg_embedder\.mlp\.0\.", "time_embed.guidance_embedder.linear_1."),
        (r"^cfg_embedder\.mlp\.2\.", "time_embed.guidance_embedder.linear_2."),
        *((pattern, new.replace("time_embed.emb.", "time_embed.")) for pattern, new in _RENAMES),
    ),
)
