"""Train conditional refiners: starter-dit at twice the size, given the latents of the smaller image (arXiv 2106.15282).

They begin as the variants' trunk, and learn from scenes painted at 256 pixels; the smaller image is the same one
reduced, with a little noise.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from diffusers import PixArtSigmaPipeline
from PIL.Image import Image
from torch import Tensor
from torch.nn import functional

from mezzotint.families.architectures.network import PixArtVariantTransformer2DModel
from mezzotint.families.architectures.table import Architecture
from mezzotint_starter.denoising import PromptEncoder, noise_levels, prompts_for, velocity
from mezzotint_starter.export import GUIDANCE_SCALE, Parts, build_scheduler, note
from mezzotint_starter.networks import LATENT
from mezzotint_starter.plan import Plan
from mezzotint_starter.precision import autocast
from mezzotint_starter.randomness import step_generator
from mezzotint_starter.sheets import Draw, SampleLogger, draw_samples, save_sheet
from mezzotint_starter.trainer import Trainer, TrainingSchedule, train
from mezzotint_starter.variants.delta import write_variant
from mezzotint_starter.variants.recipe import (
    BATCH,
    RATE,
    SCALE,
    SIDE,
    TRUNK,
    WHOLE,
    Student,
    base_folder,
    base_pipeline,
    large_latents,
    weights_of,
)

REFINERS: Mapping[str, Architecture] = {
    "refine-2x": Architecture(condition="concat"),
    "refine-2x-cross": Architecture(condition="cross"),
}
LESSON = replace(WHOLE, steps=3000, rank=16)
STEPS = 10
MOST_NOISE = 0.3  # of the smaller image, as a part of the timesteps
SHOWN_NOISE = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Latents of the same scenes: `large` (n, 4, 32, 32), `small` (n, 4, 16, 16)."""

    large: Tensor
    small: Tensor


def make_refiner(plan: Plan, name: str) -> None:
    """Run every unfinished phase of a conditional refiner, and write it to `plan.out`/NAME."""
    base, weights = base_pipeline(plan), weights_of(base_folder(plan, TRUNK))
    student = Student.on(weights, base, REFINERS[name], LESSON, seed=plan.seed)
    parts = student.parts
    _train(plan, parts, training_pairs(plan, base), name, partial(draw_refined, base, parts))
    facts = {"images": plan.large_images, "variant_steps": _steps(plan), "seed": plan.seed}
    write_variant(plan, parts, weights, name, TRUNK, refiner_note(facts, f"starter-{name}"))


def training_pairs(plan: Plan, base: PixArtSigmaPipeline) -> Pairs:
    """The latents of training scenes, encoded once."""
    return Pairs(
        large=large_latents(plan, base.vae), small=large_latents(plan, base.vae, "reduced-of-base", reduced=SCALE)
    )


def _steps(plan: Plan) -> int:
    return LESSON.steps if plan.variant_steps is None else plan.variant_steps


def _train(plan: Plan, parts: Parts, pairs: Pairs, name: str, draw: Draw) -> None:
    prompt_encoder = PromptEncoder(tokenizer=parts.tokenizer, encoder=parts.encoder, device=plan.device)
    parts.encoder.to(plan.device).eval()
    steps = _steps(plan)
    schedule = TrainingSchedule(phase=name, steps=steps, peak_lr=RATE, parts=plan.parts, warm_up=min(200, steps // 5))
    trainer = Trainer(parts.denoiser.to(plan.device).train(), schedule)
    samples = SampleLogger(folder=plan.work / "sheets", name=name, minutes=plan.sheet_minutes, draw=draw)

    def loss_at(step: int, shard: slice) -> Tensor:
        with autocast(plan.device, plan.precision):
            return refining_loss(
                parts.denoiser, prompt_encoder, pairs, seed=plan.seed, phase=name, step=step, shard=shard
            )

    train(trainer, plan.work / f"{name}.safetensors", loss_at, lambda: samples.after(trainer))
    parts.denoiser.eval()
    save_sheet(draw, plan.work / "sheets" / f"{name}.png")


def refining_loss(
    denoiser: PixArtVariantTransformer2DModel,
    prompt_encoder: PromptEncoder,
    pairs: Pairs,
    *,
    seed: int,
    phase: str,
    step: int,
    shard: slice,
) -> Tensor:
    """The mean squared error of a shard of one step's batch."""
    generator = step_generator(seed, phase, step)
    chosen = torch.randint(len(pairs.large), (BATCH,), generator=generator)
    clean = pairs.large[chosen]
    noise, sigmas = torch.randn(clean.shape, generator=generator), noise_levels(BATCH, generator)
    levels = MOST_NOISE * torch.rand(BATCH, generator=generator)
    given = condition(pairs.small[chosen], levels, generator)
    mixed, wanted = clean + sigmas.view(-1, 1, 1, 1) * (noise - clean), noise - clean
    prompts = prompts_for(chosen.tolist(), seed=seed, step=step)
    added = {key: each[shard] for key, each in given.items()}
    text = prompt_encoder(prompts[shard])
    predicted = velocity(denoiser, text=text, mixed=mixed[shard], sigmas=sigmas[shard], **added)
    return functional.mse_loss(predicted.float(), wanted[shard].to(predicted.device))


def condition(small: Tensor, levels: Tensor, generator: torch.Generator) -> dict[str, Tensor]:
    """What a refiner is given of smaller latents (b, 4, h, w), with noise at levels (b,) from 0 to 1."""
    noise = torch.randn(small.shape, generator=generator).to(small.device)
    share = levels.view(-1, 1, 1, 1).to(small.device)
    return {"low_resolution": (1 - share) * small + share * noise, "low_resolution_noise": 1000 * levels}


# ---- what it makes


@torch.no_grad()
def draw_refined(base: PixArtSigmaPipeline, parts: Parts, prompts: Sequence[str]) -> list[Image]:
    """Generate one image per prompt with the base, and refine each; while training, with the weights so far."""
    device = parts.denoiser.device
    base.to(device)
    prompt_encoder = PromptEncoder(tokenizer=parts.tokenizer, encoder=parts.encoder, device=str(device))
    return [_draw(base, parts.denoiser, prompt_encoder, prompt, 7 + number) for number, prompt in enumerate(prompts)]


def _draw(
    base: PixArtSigmaPipeline,
    denoiser: PixArtVariantTransformer2DModel,
    prompt_encoder: PromptEncoder,
    prompt: str,
    seed: int,
) -> Image:
    generator, processor = torch.Generator().manual_seed(seed), base.image_processor
    pixels = processor.preprocess(draw_samples(base, [prompt], seed=seed)[0]).to(denoiser.device)
    small = base.vae.encode(pixels).latent_dist.mean
    given = condition(small.repeat(2, 1, 1, 1), torch.full((2,), SHOWN_NOISE), generator)
    latents = torch.randn(1, 4, SCALE * LATENT, SCALE * LATENT, generator=generator).to(denoiser.device)
    scheduler, text = build_scheduler(), prompt_encoder(["", prompt])
    scheduler.set_timesteps(STEPS)
    for timestep in scheduler.timesteps:
        sigmas = torch.full((2,), float(timestep) / 1000)
        both = velocity(denoiser, text=text, mixed=latents.repeat(2, 1, 1, 1), sigmas=sigmas, **given)
        unconditional, conditional = both.chunk(2)
        guided = unconditional + GUIDANCE_SCALE * (conditional - unconditional)
        latents = scheduler.step(guided, timestep, latents).prev_sample
    image: Image = processor.postprocess(base.vae.decode(latents).sample)[0]
    return image


def refiner_note(trained: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The content of the model's mezzotint.json."""
    defaults = {"width": SIDE, "height": SIDE, "steps": STEPS, "guidance_scale": GUIDANCE_SCALE}
    description = "A conditional refiner: makes small postcards anew at twice the size. Use it with --refine-with."
    listed = name == "starter-refine-2x"  # the better one
    return note(trained, name) | {"defaults": defaults, "description": description, "listed": listed}
