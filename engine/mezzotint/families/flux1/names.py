"""Tensor names of FLUX.1's transformer: its original release's, partly shared with Chroma, and Nunchaku's."""

from collections.abc import Mapping

from mezzotint.families.flow.original import DENOISER_PREFIXES, OriginalNetwork, Shapes, config_by, count, thirds
from mezzotint.families.loading.original_names import Rows

BLOCK_RENAMES = (
    (r"^img_in\.", "x_embedder."),
    (r"^txt_in\.", "context_embedder."),
    (r"^final_layer\.linear\.", "proj_out."),
    (r"^double_blocks\.", "transformer_blocks."),
    (r"^single_blocks\.", "single_transformer_blocks."),
    (r"\.img_attn\.norm\.(query|key)_norm\.", r".attn.norm_\1."),
    (r"\.txt_attn\.norm\.(query|key)_norm\.", r".attn.norm_added_\1."),
    (r"\.norm\.(query|key)_norm\.", r".attn.norm_\1."),
    (r"_query\.scale$|_query\.weight$", "_q.weight"),
    (r"_key\.scale$|_key\.weight$", "_k.weight"),
    (r"\.img_attn\.proj\.", ".attn.to_out.0."),
    (r"\.txt_attn\.proj\.", ".attn.to_add_out."),
    (r"\.img_mlp\.0\.", ".ff.net.0.proj."),
    (r"\.img_mlp\.2\.", ".ff.net.2."),
    (r"\.txt_mlp\.0\.", ".ff_context.net.0.proj."),
    (r"\.txt_mlp\.2\.", ".ff_context.net.2."),
    (r"\.linear2\.", ".proj_out."),
)
_RENAMES = (
    *BLOCK_RENAMES,
    (r"^time_in\.in_layer\.", "time_text_embed.timestep_embedder.linear_1."),
    (r"^time_in\.out_layer\.", "time_text_embed.timestep_embedder.linear_2."),
    (r"^vector_in\.in_layer\.", "time_text_embed.text_embedder.linear_1."),
    (r"^vector_in\.out_layer\.", "time_text_embed.text_embedder.linear_2."),
    (r"^guidance_in\.in_layer\.", "time_text_embed.guidance_embedder.linear_1."),
    (r"^guidance_in\.out_layer\.", "time_text_embed.guidance_embedder.linear_2."),
    (r"^final_layer\.adaLN_modulation\.1\.", "norm_out.linear."),
    (r"\.img_mod\.lin\.", ".norm1.linear."),
    (r"\.txt_mod\.lin\.", ".norm1_context.linear."),
    (r"\.modulation\.lin\.", ".norm.linear."),
)
JOINED = {
    ".img_attn.qkv.": thirds(".attn.to_q.", ".attn.to_k.", ".attn.to_v."),
    ".txt_attn.qkv.": thirds(".attn.add_q_proj.", ".attn.add_k_proj.", ".attn.add_v_proj."),
    ".linear1.": (  # the MLP beside attention is four times as wide
        (".attn.to_q.", Rows(0, 1, 7)),
        (".attn.to_k.", Rows(1, 1, 7)),
        (".attn.to_v.", Rows(2, 1, 7)),
        (".proj_mlp.", Rows(3, 4, 7)),
    ),
    ".attn.qkv.": thirds(".attn.to_q.", ".attn.to_k.", ".attn.to_v."),  # of a single block, in XLabs' LoRAs
}
# Ends of names in the original release and of diffusers; the embedder of guidance is absent in schnell.
GUIDANCE = ("guidance_in.in_layer.weight", "guidance_embedder.linear_1.weight")
IMAGE_IN = ("img_in.weight", "x_embedder.weight")


def block_config(shapes: Shapes) -> Mapping[str, object]:
    """The configuration that FLUX.1 and Chroma have in common."""
    width, channels = shapes["img_in.weight"]
    norm = "double_blocks.0.img_attn.norm.query_norm"
    (head,) = shapes[f"{norm}.scale"] if f"{norm}.scale" in shapes else shapes[f"{norm}.weight"]
    side = head * 7 // 32 * 2  # of rotary frequencies for row and column: 56 of 128
    return {
        "patch_size": 1,
        "in_channels": channels,
        "out_channels": shapes["final_layer.linear.weight"][0],
        "num_layers": count(shapes, r"double_blocks\.(\d+)\."),
        "num_single_layers": count(shapes, r"single_blocks\.(\d+)\."),
        "attention_head_dim": head,
        "num_attention_heads": width // head,
        "joint_attention_dim": shapes["txt_in.weight"][1],
        "axes_dims_rope": [head - 2 * side, side, side],
    }


def _config(shapes: Shapes) -> Mapping[str, object]:
    """Values that shapes do not show are those of FLUX.1-dev's transformer/config.json."""
    return {
        "_class_name": "FluxTransformer2DModel",
        **block_config(shapes),
        "pooled_projection_dim": shapes["vector_in.in_layer.weight"][1],
        "guidance_embeds": GUIDANCE[0] in shapes,
    }


TRANSFORMER = OriginalNetwork(
    name="FLUX.1's transformer",
    library="diffusers",
    class_name="FluxTransformer2DModel",
    marks=(r"single_blocks\.0\.modulation\.lin\.weight$", r"vector_in\.in_layer\.weight$", r"img_in\.weight$"),
    prefixes=DENOISER_PREFIXES,
    config=_config,
    renames=_RENAMES,
    joined=JOINED,
    forms={r"^norm_out\.linear\.": "swapped"},  # with shift and scale in the other order
)

_ORIGINAL = (  # what shapes tell, of diffusers' names, which Nunchaku's files have outside of blocks
    (r"^x_embedder\.", "img_in."),
    (r"^context_embedder\.", "txt_in."),
    (r"^proj_out\.", "final_layer.linear."),
    (r"^time_text_embed\.text_embedder\.linear_1\.", "vector_in.in_layer."),
    (r"^time_text_embed\.guidance_embedder\.linear_1\.", "guidance_in.in_layer."),
    (r"^single_transformer_blocks\.", "single_blocks."),
    (r"^transformer_blocks\.", "double_blocks."),
    (r"\.norm_q\.", ".img_attn.norm.query_norm."),
)

NUNCHAKU = OriginalNetwork(
    name="FLUX.1's transformer in Nunchaku's layout",
    library="diffusers",
    class_name="FluxTransformer2DModel",
    marks=(r"single_transformer_blocks\.0\.qkv_proj\.weight$", r"time_text_embed\.text_embedder\.", r"x_embedder\."),
    prefixes=DENOISER_PREFIXES,
    config=config_by(_config, _ORIGINAL),
    renames=(
        (r"\.(norm_(?:added_)?[qk])\.", r".attn.\1."),
        (r"\.out_proj\.", ".attn.to_out.0."),
        (r"\.out_proj_context\.", ".attn.to_add_out."),
        (r"^(single_.*)\.mlp_fc1\.", r"\1.proj_mlp."),
        (r"\.mlp_fc1\.", ".ff.net.0.proj."),
        (r"\.mlp_fc2\.", ".ff.net.2."),
        (r"\.mlp_context_fc1\.", ".ff_context.net.0.proj."),
        (r"\.mlp_context_fc2\.", ".ff_context.net.2."),
    ),
    joined={
        ".qkv_proj.": thirds(".attn.to_q.", ".attn.to_k.", ".attn.to_v."),
        ".qkv_proj_context.": thirds(".attn.add_q_proj.", ".attn.add_k_proj.", ".attn.add_v_proj."),
    },
)
