"""Tensor names of Krea 2's transformer in its original release and ComfyUI's files."""

from collections.abc import Mapping

from mezzotint.families.flow.original import DENOISER_PREFIXES, OriginalNetwork, Shapes, count
from mezzotint.families.loading.original_names import Reshaped

_RENAMES = (
    (r"^first\.", "img_in."),
    (r"^tmlp\.0\.", "time_embed.linear_1."),
    (r"^tmlp\.2\.", "time_embed.linear_2."),
    (r"^tproj\.1\.", "time_mod_proj."),
    (r"^txtmlp\.0\.scale$", "txt_in.norm.weight"),
    (r"^txtmlp\.1\.", "txt_in.linear_1."),
    (r"^txtmlp\.3\.", "txt_in.linear_2."),
    (r"^txtfusion\.", "text_fusion."),
    (r"^blocks\.", "transformer_blocks."),
    (r"^last\.linear\.", "final_layer.linear."),
    (r"^last\.norm\.scale$", "final_layer.norm.weight"),
    (r"^last\.modulation\.lin$", "final_layer.scale_shift_table"),
    (r"\.attn\.w([qkv])\.", r".attn.to_\1."),
    (r"\.attn\.wo\.", ".attn.to_out.0."),
    (r"\.attn\.gate\.", ".attn.to_gate."),
    (r"\.attn\.qknorm\.([qk])norm\.scale$", r".attn.norm_\1.weight"),
    (r"\.mlp\.", ".ff."),
    (r"\.prenorm\.scale$", ".norm1.weight"),
    (r"\.postnorm\.scale$", ".norm2.weight"),
    (r"\.mod\.lin$", ".scale_shift_table"),
)
_BLOCK = (
    *(f"attn.{part}" for part in ("wq", "wk", "wv", "wo", "gate")),
    *(f"mlp.{part}" for part in ("gate", "up", "down")),
)
_LAYERS = (
    "first",
    "tmlp.0",
    "tmlp.2",
    "tproj.1",
    "txtmlp.1",
    "txtmlp.3",
    "txtfusion.projector",
    "last.linear",
    *(
        f"{block}.*.{part}"
        for block in ("blocks", "txtfusion.layerwise_blocks", "txtfusion.refiner_blocks")
        for part in _BLOCK
    ),
)


def _config(shapes: Shapes) -> Mapping[str, object]:
    """Values that shapes do not show are those of Krea-2-Turbo's transformer/config.json."""
    width, channels = shapes["first.weight"]
    (head,) = shapes["blocks.0.attn.qknorm.qnorm.scale"]
    fusion = "txtfusion.layerwise_blocks.0."
    (text_head,) = shapes[f"{fusion}attn.qknorm.qnorm.scale"]
    return {
        "_class_name": "Krea2Transformer2DModel",
        "in_channels": channels,
        "num_layers": count(shapes, r"blocks\.(\d+)\."),
        "attention_head_dim": head,
        "num_attention_heads": width // head,
        "num_key_value_heads": shapes["blocks.0.attn.wk.weight"][0] // head,
        "intermediate_size": shapes["blocks.0.mlp.gate.weight"][0],
        "timestep_embed_dim": shapes["tmlp.0.weight"][1],
        "text_hidden_dim": shapes["txtmlp.1.weight"][1],
        "num_text_layers": shapes["txtfusion.projector.weight"][-1],
        "text_num_attention_heads": shapes[f"{fusion}attn.wq.weight"][0] // text_head,
        "text_num_key_value_heads": shapes[f"{fusion}attn.wk.weight"][0] // text_head,
        "text_intermediate_size": shapes[f"{fusion}mlp.gate.weight"][0],
        "num_layerwise_text_blocks": count(shapes, r"txtfusion\.layerwise_blocks\.(\d+)\."),
        "num_refiner_text_blocks": count(shapes, r"txtfusion\.refiner_blocks\.(\d+)\."),
        "axes_dims_rope": [head - 12 * (head // 16), 6 * (head // 16), 6 * (head // 16)],
        "rope_theta": 1000.0,
        "norm_eps": 1e-5,
    }


TRANSFORMER = OriginalNetwork(
    name="Krea 2's transformer",
    library="diffusers",
    class_name="Krea2Transformer2DModel",
    marks=(r"txtfusion\.projector\.weight$", r"first\.weight$", r"last\.modulation\.lin$"),
    prefixes=DENOISER_PREFIXES,
    config=_config,
    renames=_RENAMES,
    forms={r"^transformer_blocks\.\d+\.scale_shift_table$": Reshaped((6, -1))},
    layers=_LAYERS,
)
