"""Tensor names of FLUX.2's transformer in its original release and ComfyUI's files."""

from collections.abc import Mapping

from mezzotint.families.flow.original import DENOISER_PREFIXES, OriginalNetwork, Shapes, count, thirds

_RENAMES = (
    (r"^img_in\.", "x_embedder."),
    (r"^txt_in\.", "context_embedder."),
    (r"^time_in\.in_layer\.", "time_guidance_embed.timestep_embedder.linear_1."),
    (r"^time_in\.out_layer\.", "time_guidance_embed.timestep_embedder.linear_2."),
    (r"^guidance_in\.in_layer\.", "time_guidance_embed.guidance_embedder.linear_1."),
    (r"^guidance_in\.out_layer\.", "time_guidance_embed.guidance_embedder.linear_2."),
    (r"_modulation_(img|txt)\.lin\.", r"_modulation_\1.linear."),
    (r"^single_stream_modulation\.lin\.", "single_stream_modulation.linear."),
    (r"^final_layer\.linear\.", "proj_out."),
    (r"^final_layer\.adaLN_modulation\.1\.", "norm_out.linear."),
    (r"^double_blocks\.", "transformer_blocks."),
    (r"^single_blocks\.", "single_transformer_blocks."),
    (r"\.img_attn\.norm\.(query|key)_norm\.", r".attn.norm_\1."),
    (r"\.txt_attn\.norm\.(query|key)_norm\.", r".attn.norm_added_\1."),
    (r"\.norm\.(query|key)_norm\.", r".attn.norm_\1."),
    (r"_query\.scale$|_query\.weight$", "_q.weight"),
    (r"_key\.scale$|_key\.weight$", "_k.weight"),
    (r"\.img_attn\.proj\.", ".attn.to_out.0."),
    (r"\.txt_attn\.proj\.", ".attn.to_add_out."),
    (r"\.img_mlp\.0\.", ".ff.linear_in."),
    (r"\.img_mlp\.2\.", ".ff.linear_out."),
    (r"\.txt_mlp\.0\.", ".ff_context.linear_in."),
    (r"\.txt_mlp\.2\.", ".ff_context.linear_out."),
    (r"\.linear1\.", ".attn.to_qkv_mlp_proj."),
    (r"\.linear2\.", ".attn.to_out."),
)
_JOINED = {
    ".img_attn.qkv.": thirds(".attn.to_q.", ".attn.to_k.", ".attn.to_v."),
    ".txt_attn.qkv.": thirds(".attn.add_q_proj.", ".attn.add_k_proj.", ".attn.add_v_proj."),
}
_LAYERS = (
    "img_in",
    "txt_in",
    "time_in.in_layer",
    "time_in.out_layer",
    "guidance_in.in_layer",
    "guidance_in.out_layer",
    "double_stream_modulation_img.lin",
    "double_stream_modulation_txt.lin",
    "single_stream_modulation.lin",
    "final_layer.linear",
    "final_layer.adaLN_modulation.1",
    *(
        f"double_blocks.*.{stream}_{part}"
        for stream in ("img", "txt")
        for part in ("attn.qkv", "attn.proj", "mlp.0", "mlp.2")
    ),
    "single_blocks.*.linear1",
    "single_blocks.*.linear2",
)
GUIDANCE = "guidance_embeds"


def _config(shapes: Shapes) -> Mapping[str, object]:
    """Values that shapes do not show are those of FLUX.2-klein-4B's transformer/config.json."""
    width, channels = shapes["img_in.weight"]
    norm = "double_blocks.0.img_attn.norm.query_norm"
    (head,) = shapes[f"{norm}.scale"] if f"{norm}.scale" in shapes else shapes[f"{norm}.weight"]
    return {
        "_class_name": "Flux2Transformer2DModel",
        "patch_size": 1,
        "in_channels": channels,
        "num_layers": count(shapes, r"double_blocks\.(\d+)\."),
        "num_single_layers": count(shapes, r"single_blocks\.(\d+)\."),
        "attention_head_dim": head,
        "num_attention_heads": width // head,
        "joint_attention_dim": shapes["txt_in.weight"][1],
        "timestep_guidance_channels": shapes["time_in.in_layer.weight"][1],
        "mlp_ratio": shapes["double_blocks.0.img_mlp.2.weight"][1] / width,
        "axes_dims_rope": [head // 4] * 4,
        "rope_theta": 2000,
        "eps": 1e-6,
        GUIDANCE: "guidance_in.in_layer.weight" in shapes,
    }


TRANSFORMER = OriginalNetwork(
    name="FLUX.2's transformer",
    library="diffusers",
    class_name="Flux2Transformer2DModel",
    marks=(r"double_stream_modulation_img\.lin\.weight$", r"img_in\.weight$", r"single_blocks\.0\.linear1\.weight$"),
    prefixes=DENOISER_PREFIXES,
    config=_config,
    renames=_RENAMES,
    joined=_JOINED,
    forms={r"^norm_out\.linear\.": "swapped"},  # with shift and scale in the other order
    layers=_LAYERS,
)
