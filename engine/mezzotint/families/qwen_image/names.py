"""Qwen-Image's transformer in a single file: its original tensor names are those of diffusers, Nunchaku's nearly so."""

from collections.abc import Mapping

from mezzotint.families.flow.original import DENOISER_PREFIXES, OriginalNetwork, Shapes, count, thirds

_PATCH = 2
INDEX_TIMESTEP_ZERO = "__index_timestep_zero__"  # a tensor that ComfyUI's files of Qwen-Image-Edit-2511 have


def _config(shapes: Shapes) -> Mapping[str, object]:
    """Values that shapes do not show are those of Qwen-Image's transformer/config.json."""
    width, channels = shapes["img_in.weight"]
    (head,) = shapes["transformer_blocks.0.attn.norm_q.weight"]
    return {
        "_class_name": "QwenImageTransformer2DModel",
        "patch_size": _PATCH,
        "in_channels": channels,
        "out_channels": shapes["proj_out.weight"][0] // _PATCH**2,
        "num_layers": count(shapes, r"transformer_blocks\.(\d+)\."),
        "attention_head_dim": head,
        "num_attention_heads": width // head,
        "joint_attention_dim": shapes["txt_norm.weight"][0],
        "guidance_embeds": False,
        "zero_cond_t": INDEX_TIMESTEP_ZERO in shapes,
        "axes_dims_rope": [head // 8, head * 7 // 16, head * 7 // 16],
    }


TRANSFORMER = OriginalNetwork(
    name="Qwen-Image's transformer",
    library="diffusers",
    class_name="QwenImageTransformer2DModel",
    marks=(r"txt_norm\.weight$", r"txt_in\.weight$", r"time_text_embed\.timestep_embedder\.linear_1\.weight$"),
    prefixes=DENOISER_PREFIXES,
    config=_config,
    joined={  # in Nunchaku's files
        ".attn.to_qkv.": thirds(".attn.to_q.", ".attn.to_k.", ".attn.to_v."),
        ".attn.add_qkv_proj.": thirds(".attn.add_q_proj.", ".attn.add_k_proj.", ".attn.add_v_proj."),
    },
)
