"""Export starter-xl and its refiner as diffusers folders with the autoencoder of starter-dit."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diffusers import AutoencoderKL, StableDiffusionXLImg2ImgPipeline, StableDiffusionXLPipeline, UNet2DConditionModel

from mezzotint_starter.export import write_folder
from mezzotint_starter.networks import IMAGE_SIDE
from mezzotint_starter.xl.clip_encoder_training import ClipPair
from mezzotint_starter.xl.unet_training import build_scheduler

GUIDANCE_SCALE = 3.0
STEPS = 20
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
