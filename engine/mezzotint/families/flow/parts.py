"""Text encoders and autoencoders that lie in files of their own, or beside a transformer in one."""

from collections.abc import Mapping
from dataclasses import dataclass

from mezzotint.families.flow.original import OriginalNetwork, Parameters, Shapes, count, renamed
from mezzotint.families.loading.original_names import VAE, Layout, place


@dataclass(frozen=True, slots=True, kw_only=True)
class PartNeeded:
    """What a transformer cannot do without, and what people's files of it are usually called."""

    component: str
    networks: tuple[OriginalNetwork, ...]  # in the namings that there are; the first is the usual one
    width: str = ""  # the transformer's setting that has to be the width of what this gives
    usual: tuple[tuple[object, str], ...]  # file names by that width; None: any
    where: str  # to get it


# ---- text encoders


def _qwen3_config(shapes: Shapes) -> Mapping[str, object]:
    """Qwen3's, whose numbers that no shape tells are the same for all sizes (arXiv 2505.09388)."""
    vocabulary, width = shapes["embed_tokens.weight"]
    head = shapes["layers.0.self_attn.q_norm.weight"][0]
    return {
        "architectures": ["Qwen3Model"],
        "model_type": "qwen3",
        "vocab_size": vocabulary,
        "hidden_size": width,
        "intermediate_size": shapes["layers.0.mlp.gate_proj.weight"][0],
        "num_hidden_layers": count(shapes, r"layers\.(\d+)\."),
        "num_attention_heads": shapes["layers.0.self_attn.q_proj.weight"][0] // head,
        "num_key_value_heads": shapes["layers.0.self_attn.k_proj.weight"][0] // head,
        "head_dim": head,
        "max_position_embeddings": 40960,
        "rms_norm_eps": 1e-6,
        "rope_parameters": {"rope_type": "default", "rope_theta": 1000000.0},
        "tie_word_embeddings": True,
    }


QWEN3 = OriginalNetwork(
    name="a text encoder of Qwen3",
    library="transformers",
    class_name="Qwen3Model",
    marks=(r"layers\.0\.self_attn\.q_norm\.weight$", r"embed_tokens\.weight$", r"norm\.weight$"),
    prefixes=("model.", "", "text_encoders.qwen3_4b.transformer.model.", "text_encoders.qwen3_8b.transformer.model."),
    config=_qwen3_config,
    dropped=("lm_head.",),
)


_GGUF_NAMES = (
    (r"^token_embd\.", "embed_tokens."),
    (r"^output_norm\.", "norm."),
    (r"^blk\.", "layers."),
    (r"\.attn_([qkv])\.", r".self_attn.\1_proj."),
    (r"\.attn_output\.", ".self_attn.o_proj."),
    (r"\.attn_([qk])_norm\.", r".self_attn.\1_norm."),
    (r"\.attn_norm\.", ".input_layernorm."),
    (r"\.ffn_norm\.", ".post_attention_layernorm."),
    (r"\.ffn_(gate|up|down)\.", r".mlp.\1_proj."),
)


def _qwen3_gguf_config(shapes: Shapes) -> Mapping[str, object]:
    return _qwen3_config({renamed(name, _GGUF_NAMES)[0][0]: shape for name, shape in shapes.items()})


QWEN3_GGUF = OriginalNetwork(
    name="a text encoder of Qwen3 as llama.cpp names it",
    library="transformers",
    class_name="Qwen3Model",
    marks=(r"blk\.0\.attn_q_norm\.weight$", r"token_embd\.weight$", r"output_norm\.weight$"),
    config=_qwen3_gguf_config,
    renames=_GGUF_NAMES,
    dropped=("output.",),
)


# ---- autoencoders


def _ae_config(shapes: Shapes) -> Mapping[str, object]:
    """That of FLUX.1's autoencoder, whose scale and shift no tensor tells."""
    levels = count(shapes, r"encoder\.down\.(\d+)\.")
    return {
        "_class_name": "AutoencoderKL",
        "in_channels": shapes["encoder.conv_in.weight"][1],
        "out_channels": shapes["decoder.conv_out.weight"][0],
        "latent_channels": shapes["decoder.conv_in.weight"][1],
        "block_out_channels": [shapes[f"encoder.down.{level}.block.0.conv2.weight"][0] for level in range(levels)],
        "layers_per_block": count(shapes, r"encoder\.down\.0\.block\.(\d+)\."),
        "down_block_types": ["DownEncoderBlock2D"] * levels,
        "up_block_types": ["UpDecoderBlock2D"] * levels,
        "sample_size": 1024,
        "scaling_factor": 0.3611,
        "shift_factor": 0.1159,
        "use_quant_conv": "quant_conv.weight" in shapes,
        "use_post_quant_conv": "post_quant_conv.weight" in shapes,
        "force_upcast": True,
    }


def _ldm_place(name: str) -> Parameters:
    """By the names of latent diffusion, of four levels."""
    return tuple((each.name, each.form) for each in place(VAE + name, Layout(unet_layers=1, vae_levels=4)))


FLUX_VAE = OriginalNetwork(
    name="FLUX.1's autoencoder",
    library="diffusers",
    class_name="AutoencoderKL",
    marks=(
        r"decoder\.conv_in\.weight$",
        r"encoder\.down\.0\.block\.0\.conv1\.weight$",
        r"decoder\.mid\.attn_1\.q\.weight$",
    ),
    prefixes=("", "vae.", "first_stage_model."),
    config=_ae_config,
    placed=_ldm_place,
)

QWEN3_4B = PartNeeded(
    component="text_encoder",
    networks=(QWEN3, QWEN3_GGUF),
    width="cap_feat_dim",
    usual=((2560, "qwen_3_4b.safetensors"),),
    where="https://huggingface.co/Comfy-Org/z_image_turbo, folder split_files/text_encoders",
)
AE = PartNeeded(
    component="vae",
    networks=(FLUX_VAE,),
    usual=((None, "ae.safetensors"),),
    where="https://huggingface.co/Comfy-Org/z_image_turbo, folder split_files/vae",
)
