"""Tensor names of Z-Image's transformer: those of its original release and ComfyUI's files, and Nunchaku's."""

from collections.abc import Mapping

from mezzotint.families.flow.original import DENOISER_PREFIXES, OriginalNetwork, Shapes, config_by, count, thirds
from mezzotint.families.loading.original_names import Rows

_RENAMES = (
    (r"^x_embedder\.", "all_x_embedder.2-1."),
    (r"^final_layer\.", "all_final_layer.2-1."),
    (r"\.attention\.out\.", ".attention.to_out.0."),
    (r"\.attention\.([qk])_norm\.", r".attention.norm_\1."),
)
_JOINED = {".attention.qkv.": thirds(".attention.to_q.", ".attention.to_k.", ".attention.to_v.")}
_PATCH = 2


def _config(shapes: Shapes) -> Mapping[str, object]:
    """Values that shapes do not show are those of Z-Image-Turbo's transformer/config.json."""
    width, patch = shapes["x_embedder.weight"]
    head = shapes["layers.0.attention.q_norm.weight"][0]
    return {
        "_class_name": "ZImageTransformer2DModel",
        "all_patch_size": [_PATCH],
        "all_f_patch_size": [1],
        "in_channels": patch // _PATCH**2,
        "dim": width,
        "n_layers": count(shapes, r"layers\.(\d+)\."),
        "n_refiner_layers": count(shapes, r"noise_refiner\.(\d+)\."),
        "n_heads": width // head,
        "n_kv_heads": width // head,
        "norm_eps": 1e-5,
        "qk_norm": True,
        "cap_feat_dim": shapes["cap_embedder.1.weight"][1],
        "rope_theta": 256.0,
        "t_scale": 1000.0,
        "axes_dims": [head // 4, head * 3 // 8, head * 3 // 8],
        "axes_lens": [1536, 512, 512],
    }


TRANSFORMER = OriginalNetwork(
    name="Z-Image's transformer",
    library="diffusers",
    class_name="ZImageTransformer2DModel",
    marks=(r"cap_embedder\.1\.weight$", r"noise_refiner\.0\.attention\.qkv\.weight$", r"x_embedder\.weight$"),
    prefixes=DENOISER_PREFIXES,
    config=_config,
    renames=_RENAMES,
    joined=_JOINED,
    dropped=("norm_final.",),
)

_ORIGINAL = (  # what shapes tell, of diffusers' names
    (r"^all_x_embedder\.2-1\.", "x_embedder."),
    (r"\.attention\.norm_q\.", ".attention.q_norm."),
)

NUNCHAKU = OriginalNetwork(
    name="Z-Image's transformer in Nunchaku's layout",
    library="diffusers",
    class_name="ZImageTransformer2DModel",
    marks=(r"cap_embedder\.1\.weight$", r"layers\.0\.attention\.to_qkv\.weight$", r"all_x_embedder\.2-1\.weight$"),
    prefixes=DENOISER_PREFIXES,
    config=config_by(_config, _ORIGINAL),
    renames=((r"\.feed_forward\.net\.2\.", ".feed_forward.w2."),),
    joined={
        ".attention.to_qkv.": thirds(".attention.to_q.", ".attention.to_k.", ".attention.to_v."),
        ".feed_forward.net.0.proj.": ((".feed_forward.w3.", Rows(0, 1, 2)), (".feed_forward.w1.", Rows(1, 1, 2))),
    },
)
