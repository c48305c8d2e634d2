"""Recipes of tiny models that replace those of full size."""

import json

from kernel_build import full_size_models

_TEXT = {"intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 1, "max_position_embeddings": 77,
         "vocab_size": 49408}  # fmt: skip
_UNET = {
    "sample_size": 32,
    "in_channels": 4,
    "out_channels": 4,
    "block_out_channels": [32, 64],
    "layers_per_block": 1,
    "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D"],
    "up_block_types": ["CrossAttnUpBlock2D", "UpBlock2D"],
    "attention_head_dim": [1, 1],
    "use_linear_projection": True,
    "transformer_layers_per_block": [1, 2],
    "addition_embed_type": "text_time",
    "addition_time_embed_dim": 8,
}
_VAE = {
    "block_out_channels": [32, 32, 32, 32],
    "down_block_types": ["DownEncoderBlock2D"] * 4,
    "up_block_types": ["UpDecoderBlock2D"] * 4,
    "layers_per_block": 1,
    "latent_channels": 4,
    "scaling_factor": 0.13025,
}


def recipes():
    """Return recipes with SDXL's names and tiny weights."""
    first = _TEXT | {"hidden_size": 32, "projection_dim": 32, "hidden_act": "quick_gelu"}
    second = _TEXT | {"hidden_size": 64, "projection_dim": 64, "hidden_act": "gelu"}
    base = {"cross_attention_dim": 96, "projection_class_embeddings_input_dim": 6 * 8 + 64}
    refiner = {"cross_attention_dim": 64, "projection_class_embeddings_input_dim": 5 * 8 + 64}
    parts = {
        "one": {"class": "CLIPTextModel", "config": first},
        "two": {"class": "CLIPTextModelWithProjection", "config": second},
        "vae": {"class": "AutoencoderKL", "config": _VAE},
        "base": {"class": "UNet2DConditionModel", "config": _UNET | base},
        "refiner": {"class": "UNet2DConditionModel", "config": _UNET | refiner},
    }
    models = {
        "sdxl": {"components": {"text_encoder": "one", "text_encoder_2": "two", "unet": "base", "vae": "vae"}},
        "sdxl-refiner": {"components": {"text_encoder_2": "two", "unet": "refiner", "vae": "vae"}},
    }
    return {"parts": parts, "models": models}


def write_small_sdxl(folder):
    """Write the tiny base model; changes the recipes for this whole process."""
    path = folder / "recipes.json"
    path.write_text(json.dumps(recipes()), "utf-8")
    full_size_models.RECIPES = path
    full_size_models.write_sdxl(folder / "sdxl", "sdxl")
