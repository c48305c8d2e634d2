"""Text encoders and autoencoders in separate files, or in the transformer's file."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from mezzotint.families.flow.original import OriginalNetwork, Parameters, Shapes, count, renamed
from mezzotint.families.loading.original_names import VAE, Layout, place


@dataclass(frozen=True, slots=True, kw_only=True)
class PartNeeded:
    """A component that a transformer needs, and its usual file names."""

    component: str
    networks: tuple[OriginalNetwork, ...]  # one per naming, the usual one first
    width: str = ""  # the transformer's setting that this component's width must equal
    share: Fraction = Fraction(1)  # fraction of that setting
    optional: bool = False
    unlike: str = ""  # pattern of file names that have the same shapes but belong to another model
    usual: tuple[tuple[object, str], ...]  # file names by that setting; None: any
    where: str  # where to download it


# ---- text encoders

LANGUAGE_PREFIXES = (r"model\.", "", r"text_encoders\.\w+\.transformer\.(?:model\.)?")


def _qwen3_config(shapes: Shapes) -> Mapping[str, object]:
    """Qwen3's configuration; values that shapes do not show are the same for all sizes (arXiv 2505.09388)."""
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
    absent=(r"visual\.",),  # Qwen3-VL's
    prefixes=LANGUAGE_PREFIXES,
    config=_qwen3_config,
    dropped=("lm_head.",),
)


GGUF_LANGUAGE_NAMES = (  # of every language model; norms after the attention differ
    (r"^token_embd\.", "embed_tokens."),
    (r"^output_norm\.", "norm."),
    (r"^blk\.", "layers."),
    (r"\.attn_([qkv])\.", r".self_attn.\1_proj."),
    (r"\.attn_output\.", ".self_attn.o_proj."),
    (r"\.attn_norm\.", ".input_layernorm."),
    (r"\.ffn_(gate|up|down)\.", r".mlp.\1_proj."),
)
GGUF_NAMES = (
    *GGUF_LANGUAGE_NAMES,
    (r"\.attn_([qk])_norm\.", r".self_attn.\1_norm."),
    (r"\.ffn_norm\.", ".post_attention_layernorm."),
)


def _qwen3_gguf_config(shapes: Shapes) -> Mapping[str, object]:
    return _qwen3_config({renamed(name, GGUF_NAMES)[0][0]: shape for name, shape in shapes.items()})


QWEN3_GGUF = OriginalNetwork(
    name="a text encoder of Qwen3 as llama.cpp names it",
    library="transformers",
    class_name="Qwen3Model",
    marks=(r"blk\.0\.attn_q_norm\.weight$", r"token_embd\.weight$", r"output_norm\.weight$"),
    architectures=("qwen3",),
    config=_qwen3_gguf_config,
    renames=GGUF_NAMES,
    dropped=("output.",),
)


# ---- autoencoders

VAE_PREFIXES = ("", r"vae\.", r"first_stage_model\.")


def _ae_config(shapes: Shapes) -> Mapping[str, object]:
    levels = count(shapes, r"encoder\.down\.(\d+)\.")
    widths = [shapes[f"encoder.down.{level}.block.0.conv2.weight"][0] for level in range(levels)]
    return _kl_vae(shapes, widths, count(shapes, r"encoder\.down\.0\.block\.(\d+)\."))


def _ae_diffusers_config(shapes: Shapes) -> Mapping[str, object]:
    levels = count(shapes, r"encoder\.down_blocks\.(\d+)\.")
    widths = [shapes[f"encoder.down_blocks.{level}.resnets.0.conv2.weight"][0] for level in range(levels)]
    return _kl_vae(shapes, widths, count(shapes, r"encoder\.down_blocks\.0\.resnets\.(\d+)\."))


def _kl_vae(shapes: Shapes, widths: list[int], layers: int) -> Mapping[str, object]:
    """FLUX.1's autoencoder configuration; scale and shift, which no tensor shows, are those of its config.json."""
    return {
        "_class_name": "AutoencoderKL",
        "in_channels": shapes["encoder.conv_in.weight"][1],
        "out_channels": shapes["decoder.conv_out.weight"][0],
        "latent_channels": shapes["decoder.conv_in.weight"][1],
        "block_out_channels": widths,
        "layers_per_block": layers,
        "down_block_types": ["DownEncoderBlock2D"] * len(widths),
        "up_block_types": ["UpDecoderBlock2D"] * len(widths),
        "sample_size": 1024,
        "scaling_factor": 0.3611,
        "shift_factor": 0.1159,
        "use_quant_conv": "quant_conv.weight" in shapes,
        "use_post_quant_conv": "post_quant_conv.weight" in shapes,
        "force_upcast": True,
    }


def _ldm_place(name: str) -> Parameters:
    """Latent diffusion naming, with four levels."""
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
    absent=(r"bn\.running_mean$",),  # FLUX.2's
    prefixes=VAE_PREFIXES,
    config=_ae_config,
    placed=_ldm_place,
)


KL_VAE_DIFFUSERS = OriginalNetwork(
    name="FLUX.1's autoencoder as diffusers names it",
    library="diffusers",
    class_name="AutoencoderKL",
    marks=(r"decoder\.conv_in\.weight$", r"decoder\.up_blocks\.0\.resnets\.0\.conv1\.weight$"),
    absent=(r"bn\.running_mean$",),  # FLUX.2's
    prefixes=VAE_PREFIXES,
    config=_ae_diffusers_config,
)


def _flux2_vae_config(shapes: Shapes) -> Mapping[str, object]:
    """FLUX.2's autoencoder configuration; decoder and encoder widths may differ (FLUX.2-small-decoder)."""
    levels = count(shapes, r"encoder\.down\.(\d+)\.")
    widths = [shapes[f"encoder.down.{level}.block.0.conv2.weight"][0] for level in range(levels)]
    decoder = [shapes[f"decoder.up.{level}.block.0.conv2.weight"][0] for level in range(levels)]
    return _flux2_vae(shapes, widths, decoder, count(shapes, r"encoder\.down\.0\.block\.(\d+)\."))


def _flux2_vae_diffusers_config(shapes: Shapes) -> Mapping[str, object]:
    levels = count(shapes, r"encoder\.down_blocks\.(\d+)\.")
    widths = [shapes[f"encoder.down_blocks.{level}.resnets.0.conv2.weight"][0] for level in range(levels)]
    decoder = [shapes[f"decoder.up_blocks.{level}.resnets.0.conv2.weight"][0] for level in reversed(range(levels))]
    return _flux2_vae(shapes, widths, decoder, count(shapes, r"encoder\.down_blocks\.0\.resnets\.(\d+)\."))


def _flux2_vae(shapes: Shapes, widths: list[int], decoder: list[int], layers: int) -> Mapping[str, object]:
    """Values that shapes do not show are those of FLUX.2-klein-4B's vae/config.json."""
    return {
        "_class_name": "AutoencoderKLFlux2",
        "in_channels": shapes["encoder.conv_in.weight"][1],
        "out_channels": shapes["decoder.conv_out.weight"][0],
        "latent_channels": shapes["decoder.conv_in.weight"][1],
        "block_out_channels": widths,
        "decoder_block_out_channels": decoder,
        "layers_per_block": layers,
        "down_block_types": ["DownEncoderBlock2D"] * len(widths),
        "up_block_types": ["UpDecoderBlock2D"] * len(widths),
        "norm_num_groups": 32,
        "sample_size": 1024,
        "batch_norm_eps": 1e-4,
        "force_upcast": True,
    }


def _flux2_vae_place(name: str) -> Parameters:
    if name.startswith("bn."):
        return ((name, "whole"),)
    return _ldm_place(re.sub(r"^(?:encoder|decoder)\.((?:post_)?quant_conv\.)", r"\1", name))


_FLUX2_STATISTICS = r"bn\.running_mean$"
FLUX2_VAE = OriginalNetwork(
    name="FLUX.2's autoencoder",
    library="diffusers",
    class_name="AutoencoderKLFlux2",
    marks=(_FLUX2_STATISTICS, r"decoder\.conv_in\.weight$", r"decoder\.mid\.attn_1\.q\.weight$"),
    prefixes=VAE_PREFIXES,
    config=_flux2_vae_config,
    placed=_flux2_vae_place,
)
FLUX2_VAE_DIFFUSERS = OriginalNetwork(
    name="FLUX.2's autoencoder as diffusers names it",
    library="diffusers",
    class_name="AutoencoderKLFlux2",
    marks=(_FLUX2_STATISTICS, r"decoder\.conv_in\.weight$", r"decoder\.up_blocks\.0\.resnets\.0\.conv1\.weight$"),
    prefixes=VAE_PREFIXES,
    config=_flux2_vae_diffusers_config,
)

# ---- components for families

QWEN3_4B = PartNeeded(
    component="text_encoder",
    networks=(QWEN3, QWEN3_GGUF),
    width="cap_feat_dim",
    usual=((2560, "qwen_3_4b.safetensors"),),
    where="https://huggingface.co/Comfy-Org/z_image_turbo, folder split_files/text_encoders",
)
AE = PartNeeded(
    component="vae",
    networks=(FLUX_VAE, KL_VAE_DIFFUSERS),
    unlike=r"sd3|sd_3",  # Stable Diffusion 3's, with the same shapes
    usual=((None, "ae.safetensors"),),
    where="https://huggingface.co/Comfy-Org/z_image_turbo, folder split_files/vae",
)
QWEN3_THREE_STATES = PartNeeded(
    component="text_encoder",
    networks=(QWEN3, QWEN3_GGUF),
    width="joint_attention_dim",
    share=Fraction(1, 3),  # three hidden states are concatenated
    usual=((7680, "qwen_3_4b.safetensors"), (12288, "qwen_3_8b.safetensors")),
    where=(
        "https://huggingface.co/Comfy-Org/z_image_turbo (4B) or https://huggingface.co/Comfy-Org/flux2-klein-9B (8B), "
        "folder split_files/text_encoders"
    ),
)
FLUX2_AE = PartNeeded(
    component="vae",
    networks=(FLUX2_VAE, FLUX2_VAE_DIFFUSERS),
    usual=((None, "flux2-vae.safetensors"),),
    where="https://huggingface.co/Comfy-Org/flux2-dev, folder split_files/vae",
)
