"""Small random Z-Image models for tests."""

from pathlib import Path
from typing import Any

from original_files import joined, language_model, ldm_vae, weights
from tiny_flow import kl_autoencoder, lively, qwen3, qwen_tokenizer


def write_tiny_z_image(folder: Path, *, seed: int = 0, shift: float = 3.0, **sides: object) -> Path:
    """Write a diffusers folder; `sides` are settings of its transformer."""
    import torch
    from diffusers import FlowMatchEulerDiscreteScheduler, ZImagePipeline

    torch.manual_seed(seed)
    pipeline = ZImagePipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(shift=shift),
        vae=kl_autoencoder(),
        text_encoder=qwen3(),
        tokenizer=qwen_tokenizer(),
        transformer=transformer(**sides),
    )
    pipeline.save_pretrained(folder)
    return folder


def transformer(**others: object) -> Any:
    """Return a Z-Image transformer."""
    from diffusers import ZImageTransformer2DModel

    settings: dict[str, Any] = {
        "in_channels": 16,
        "dim": 48,
        "n_layers": 2,
        "n_refiner_layers": 1,
        "n_heads": 3,
        "n_kv_heads": 3,
        "cap_feat_dim": 32,
        "axes_dims": [4, 6, 6],
        "axes_lens": [512, 64, 64],
    }
    return lively(ZImageTransformer2DModel(**settings | others))


def write_tiny_z_image_control(folder: Path, *, seed: int = 1, kind: str | None = None, **others: object) -> Path:
    """Write a ControlNet for such a model; `kind`: what refines its image, as in 2.x; None: as in 1.0."""
    import torch
    from diffusers import ZImageControlNetModel

    torch.manual_seed(seed)
    settings: dict[str, Any] = {
        "control_layers_places": [0, 1],
        "control_refiner_layers_places": [0],
        "control_in_dim": 16 if kind is None else 33,
        "add_control_noise_refiner": kind,
        "dim": 48,
        "n_refiner_layers": 1,
        "n_heads": 3,
        "n_kv_heads": 3,
    }
    network = lively(ZImageControlNetModel(**settings | others))
    with torch.no_grad():
        for parameter in network.parameters():
            if not parameter.any():  # what begins at zero, so that it has an effect
                parameter.normal_(std=0.2)
    network.save_pretrained(folder)
    return folder


def original_transformer(folder: Path) -> dict[str, Any]:
    """Return a folder's transformer with its original key names."""
    parts = (".attention.to_q.", ".attention.to_k.", ".attention.to_v.")
    whole = joined(weights(folder, "transformer"), parts, ".attention.qkv.")
    renames = {
        "all_x_embedder.2-1.": "x_embedder.",
        "all_final_layer.2-1.": "final_layer.",
        ".attention.to_out.0.": ".attention.out.",
        ".attention.norm_q.": ".attention.q_norm.",
        ".attention.norm_k.": ".attention.k_norm.",
    }
    for new, old in renames.items():
        whole = {name.replace(new, old): each for name, each in whole.items()}
    return whole


def split_files(folder: Path) -> dict[str, dict[str, Any]]:
    """Return tensors by their file names in ComfyUI's folders."""
    return {
        "diffusion_models/z_image_turbo_bf16.safetensors": original_transformer(folder),
        "text_encoders/qwen_3_4b.safetensors": language_model(folder),
        "vae/ae.safetensors": ldm_vae(folder),
    }
