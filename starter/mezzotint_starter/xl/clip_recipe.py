"""Train starter-xl and its refiner, by phase: tokenizers, latents of two sizes, text encoders, U-Nets, export."""

import json
import logging
from collections.abc import Sequence
from functools import partial

import torch
from diffusers import AutoencoderKL
from PIL import Image

from mezzotint.training.distributed import Processes
from mezzotint_starter.latents import training_latents
from mezzotint_starter.networks import IMAGE_SIDE
from mezzotint_starter.plan import Plan
from mezzotint_starter.sheets import SampleLogger, save_sheet
from mezzotint_starter.state import write_json
from mezzotint_starter.xl.clip_encoder_training import ClipPair, train_clip_encoders
from mezzotint_starter.xl.clip_export import GUIDANCE_SCALE, STEPS, XlParts, build_base, build_refiner, export_xl
from mezzotint_starter.xl.clip_networks import build_clip_encoders, build_unet
from mezzotint_starter.xl.clip_vocabulary import build_clip_tokenizers, learn_merges
from mezzotint_starter.xl.unet_training import BASE, REFINER, TrainingLatents, UNetTask, train_unet

LOG = logging.getLogger("mezzotint_starter")
REFINER_AT = 0.8


def make_xl(plan: Plan, autoencoder: AutoencoderKL, trained: dict[str, float]) -> None:
    """Run every unfinished phase, and write the models to `plan.out`/xl and `plan.out`/xl-refiner."""
    parts = _new_parts(plan, autoencoder)
    images = _images(plan, autoencoder)
    accuracy = train_clip_encoders(parts.pair, plan.work, seed=plan.seed, steps=plan.reading_steps, parts=plan.parts)
    LOG.info("the text encoders predict %.4f of the attributes correctly", accuracy)
    _train_unet(plan, parts, images, BASE)
    _train_unet(plan, parts, images, REFINER)
    save_sheet(partial(draw_refined, parts), plan.work / "sheets" / "xl.png")
    facts = {
        "base_steps": plan.base_steps,
        "refiner_steps": plan.refiner_steps,
        "large_images": plan.large_images,
        "reading_accuracy": round(accuracy, 4),
    }
    export_xl(parts, plan.out, trained | facts)


def _new_parts(plan: Plan, autoencoder: AutoencoderKL) -> XlParts:
    tokenizers = build_clip_tokenizers(_merges(plan))
    first, second = build_clip_encoders(plan.seed, len(tokenizers[0]))
    return XlParts(
        autoencoder=autoencoder,
        pair=ClipPair(tokenizers=tokenizers, first=first, second=second, device=plan.device),
        base=build_unet(plan.seed, refiner=False),
        refiner=build_unet(plan.seed, refiner=True),
    )


def _merges(plan: Plan) -> list[tuple[str, str]]:
    # The first result is kept, since another version of tokenizers may break ties differently.
    file = plan.work / "merges.json"
    with Processes.of_environment().after_the_first():
        if not file.exists():
            write_json(file, learn_merges(plan.seed))
    return [(first, second) for first, second in json.loads(file.read_text("utf-8"))]


def _images(plan: Plan, autoencoder: AutoencoderKL) -> TrainingLatents:
    made = partial(training_latents, autoencoder, seed=plan.seed, device=plan.device, parts=plan.parts)
    return TrainingLatents(
        small=made(plan.work / "latents.safetensors", count=plan.images, side=IMAGE_SIDE),
        large=made(plan.work / "latents-large.safetensors", count=plan.large_images, side=2 * IMAGE_SIDE),
    )


def _train_unet(plan: Plan, parts: XlParts, images: TrainingLatents, task: UNetTask) -> None:
    samples = SampleLogger(
        folder=plan.work / "sheets",
        name=task.phase,
        minutes=plan.sheet_minutes,
        draw=partial(draw_refined if task.refiner else draw_base, parts),
    )
    train_unet(
        parts.refiner if task.refiner else parts.base,
        parts.pair,
        images,
        plan.work,
        task,
        seed=plan.seed,
        steps=plan.refiner_steps if task.refiner else plan.base_steps,
        after=samples.after,
        parts=plan.parts,
        precision=plan.precision,
    )


def draw_base(parts: XlParts, prompts: Sequence[str], *, seed: int = 7) -> list[Image.Image]:
    """Generate one image per prompt with the base alone, each from its own seed."""
    images: list[Image.Image] = build_base(parts)(
        list(prompts),
        height=IMAGE_SIDE,
        width=IMAGE_SIDE,
        num_inference_steps=STEPS,
        guidance_scale=GUIDANCE_SCALE,
        generator=_generators(prompts, seed),
    ).images
    return images


def draw_refined(parts: XlParts, prompts: Sequence[str], *, seed: int = 7) -> list[Image.Image]:
    """Generate one image per prompt with base and refiner, each from its own seed."""
    begun = build_base(parts)(
        list(prompts),
        height=IMAGE_SIDE,
        width=IMAGE_SIDE,
        num_inference_steps=STEPS,
        guidance_scale=GUIDANCE_SCALE,
        denoising_end=REFINER_AT,
        output_type="latent",
        generator=_generators(prompts, seed),
    ).images
    images: list[Image.Image] = build_refiner(parts)(
        list(prompts),
        image=begun,
        num_inference_steps=STEPS,
        guidance_scale=GUIDANCE_SCALE,
        denoising_start=REFINER_AT,
        generator=_generators(prompts, seed),
    ).images
    return images


def _generators(prompts: Sequence[str], seed: int) -> list[torch.Generator]:
    return [torch.Generator().manual_seed(seed + number) for number in range(len(prompts))]
