"""Export starter-xl and its refiner as diffusers folders with the autoencoder of starter-dit, and U-Nets in 8 bits."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diffusers import AutoencoderKL, StableDiffusionXLImg2ImgPipeline, StableDiffusionXLPipeline, UNet2DConditionModel
from safetensors.torch import load_file

from mezzotint.checkpoints.delta.writing import write_delta
from mezzotint.quantization.policy import is_kept
from mezzotint.training.distributed import Processes
from mezzotint_starter.export import write_folder
from mezzotint_starter.networks import IMAGE_SIDE
from mezzotint_starter.xl.clip_encoder_training import ClipPair
from mezzotint_starter.xl.unet_training import build_scheduler

GUIDANCE_SCALE = 3.0
STEPS = 20
UNET = "unet/diffusion_pytorch_model.safetensors"
BASE_FOLDER, REFINER_FOLDER, AUTOENCODER_FOLDER = "xl", "xl-refiner", "dit"
_DESCRIPTIONS = {
    "starter-xl": "Small postcards by a U-Net; takes starter-xl-refiner, and a second pass at twice the size.",
    "starter-xl-refiner": "Does the last fifth of an image of starter-xl; makes none alone.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class XlParts:
    """The components of both models."""

    autoencoder: AutoencoderKL
    pair: ClipPair
    base: UNet2DConditionModel
    refiner: UNet2DConditionModel


def build_base(parts: XlParts) -> StableDiffusionXLPipeline:
    """Assemble the base as a diffusers pipeline."""
    pipeline = StableDiffusionXLPipeline(
        vae=parts.autoencoder,
        text_encoder=parts.pair.first,
        text_encoder_2=parts.pair.second,
        tokenizer=parts.pair.tokenizers[0],
        tokenizer_2=parts.pair.tokenizers[1],
        unet=parts.base,
        scheduler=build_scheduler(),
        force_zeros_for_empty_prompt=True,
        add_watermarker=False,
    )
    pipeline.set_progress_bar_config(disable=True)
    return pipeline


def build_refiner(parts: XlParts) -> StableDiffusionXLImg2ImgPipeline:
    """Assemble the refiner as a diffusers pipeline."""
    pipeline = StableDiffusionXLImg2ImgPipeline(
        vae=parts.autoencoder,
        text_encoder=None,
        text_encoder_2=parts.pair.second,
        tokenizer=None,
        tokenizer_2=parts.pair.tokenizers[1],
        unet=parts.refiner,
        scheduler=build_scheduler(),
        requires_aesthetics_score=True,
        force_zeros_for_empty_prompt=False,
        add_watermarker=False,
    )
    pipeline.set_progress_bar_config(disable=True)
    return pipeline


def export_xl(parts: XlParts, out: Path, trained: Mapping[str, Any]) -> None:
    """Write both model folders beside that of starter-dit, replacing old ones."""
    autoencoder = {"vae": f"{AUTOENCODER_FOLDER}/vae"}
    second = {name: f"{BASE_FOLDER}/{name}" for name in ("text_encoder_2", "tokenizer_2")}
    write_folder(build_base(parts), out / BASE_FOLDER, _note("starter-xl", "base", trained, autoencoder))
    write_folder(
        build_refiner(parts),
        out / REFINER_FOLDER,
        _note("starter-xl-refiner", "refiner", trained, autoencoder | second),
    )
    if Processes.of_environment().is_first:
        for folder in (BASE_FOLDER, REFINER_FOLDER):
            shrink_unet(out / folder / UNET)


def shrink_unet(file: Path) -> None:
    """Store a U-Net's weights in 8 bits, except those that quantization keeps; they are read as float16.

    Layers that stay in 8 bits, as `mezzotint quantize` makes them, take a third longer on a CPU at this size.
    """
    tensors = load_file(file)
    exact = {name for name in tensors if is_kept("UNet2DConditionModel", name.removesuffix(".weight"))}
    write_delta(file, own=tensors, exact=exact)


def _note(name: str, variant: str, trained: Mapping[str, Any], shared: Mapping[str, str]) -> dict[str, Any]:
    return {
        "name": name,
        "family": "sdxl",
        "variant": variant,
        "shared": dict(shared),
        "defaults": {"width": IMAGE_SIDE, "height": IMAGE_SIDE, "steps": STEPS, "guidance_scale": GUIDANCE_SCALE},
        "description": _DESCRIPTIONS[name],
        "licence": "Apache-2.0",
        "trained": dict(trained),
    }
