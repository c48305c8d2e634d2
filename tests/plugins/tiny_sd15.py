"""Small random Stable Diffusion 1.5 models: a diffusers folder, and its weights as one file with original key names.

As in `tiny_sdxl`, what a single file does not contain is as published: eight heads per level, the scheduler.
"""

import json
from pathlib import Path
from typing import Any

from tiny_sdxl import LAYERS, LEVELS, _text_encoder, unet_name, vae_name

from mezzotint.families.tokenizers import END, clip_tokenizer

WIDTH = 32  # of the text embeddings
_SCHEDULER = {
    "num_train_timesteps": 1000,
    "beta_schedule": "scaled_linear",
    "beta_start": 0.00085,
    "beta_end": 0.012,
    "set_alpha_to_one": False,
    "skip_prk_steps": True,
    "steps_offset": 1,
}


def write_tiny_sd15(folder: Path, *, inpaint: bool = False, seed: int = 0, **unet: object) -> Path:
    """Write a folder of about 10 MB; `inpaint`: with nine input channels. `unet` overrides its configuration."""
    import torch
    from diffusers import PNDMScheduler, StableDiffusionInpaintPipeline, StableDiffusionPipeline

    torch.manual_seed(seed)
    pipeline_class = StableDiffusionInpaintPipeline if inpaint else StableDiffusionPipeline
    pipeline_class(
        vae=_vae().eval(),
        text_encoder=_text_encoder(hidden=WIDTH, projected=False).eval(),
        tokenizer=clip_tokenizer(pad_token=END),
        unet=_unet(**{"in_channels": 9 if inpaint else 4, **unet}).eval(),
        scheduler=PNDMScheduler(**_SCHEDULER),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    ).save_pretrained(folder)
    return folder


def name_safety_checker(folder: Path) -> None:
    """Add the safety checker of published folders to the index, with pickled weights that must never be loaded."""
    index = json.loads((folder / "model_index.json").read_text())
    index["safety_checker"] = ["stable_diffusion", "StableDiffusionSafetyChecker"]
    index["feature_extractor"] = ["transformers", "CLIPImageProcessor"]
    (folder / "model_index.json").write_text(json.dumps(index))
    (folder / "safety_checker").mkdir()
    (folder / "safety_checker" / "pytorch_model.bin").write_bytes(b"\x80\x04")


def _vae() -> Any:
    from diffusers import AutoencoderKL

    return AutoencoderKL(
        block_out_channels=(32, 64),
        down_block_types=("DownEncoderBlock2D",) * LEVELS,
        up_block_types=("UpDecoderBlock2D",) * LEVELS,
        layers_per_block=LAYERS,
        latent_channels=4,
        sample_size=64,
        scaling_factor=0.18215,
    )


def _unet(**changes: Any) -> Any:
    from diffusers import UNet2DConditionModel

    settings = {
        "sample_size": 32,
        "block_out_channels": (32, 64),
        "layers_per_block": LAYERS,
        "down_block_types": ("CrossAttnDownBlock2D", "DownBlock2D"),
        "up_block_types": ("UpBlock2D", "CrossAttnUpBlock2D"),
        "attention_head_dim": 8,  # the number of heads, despite its name
        "cross_attention_dim": WIDTH,
    }
    return UNet2DConditionModel(**{**settings, **changes})


def write_sd15_file(folder: Path, path: Path) -> Path:
    """Write the weights of a tiny folder as one file with original key names."""
    from safetensors.torch import load_file, save_file

    weights = {path.parent.name: load_file(path) for path in folder.rglob("*.safetensors")}
    tensors = {f"model.diffusion_model.{unet_name(k, attending=(1,))}": v for k, v in weights["unet"].items()}
    for name, tensor in weights["vae"].items():
        square = tensor.ndim == 2  # the original VAE's attention consists of 1x1 convolutions
        tensors[f"first_stage_model.{vae_name(name)}"] = tensor[:, :, None, None] if square else tensor
    for name, tensor in weights["text_encoder"].items():
        tensors[f"cond_stage_model.transformer.text_model.{name.removeprefix('text_model.')}"] = tensor
    save_file({k: v.contiguous() for k, v in tensors.items()}, path)
    return path
