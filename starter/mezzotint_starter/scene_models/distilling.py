"""Distil the transformer to eight steps without guidance: each learns where two guided steps of its teacher lead.

Progressive distillation (arXiv 2202.00512, section 3) with guidance included (arXiv 2210.03142), for velocities: a
step from sigma to the next is a straight line, and so is what the student learns to predict.
"""

import copy
from functools import partial
from pathlib import Path

import torch
from diffusers import DPMSolverMultistepScheduler, PixArtTransformer2DModel
from torch import Tensor
from torch.nn import functional

from mezzotint_starter.denoising import Latents, PromptEncoder, prompts_for, velocity
from mezzotint_starter.export import Parts, build_scheduler
from mezzotint_starter.randomness import step_generator
from mezzotint_starter.scene_models.denoising import caption_of
from mezzotint_starter.scene_models.source import SceneSource
from mezzotint_starter.trainer import Trainer, TrainingSchedule, train

PHASE = "distilling"
STEPS = 8
BATCH = 16
RATE = 2e-4
GUIDANCE = 3.0


def distilled(
    parts: Parts, latents: Latents, source: SceneSource, work: Path, *, steps: int, device: str, shards: int
) -> Parts:
    """Run the phase; returns the parts with the student in place of the transformer, which stays as it is."""
    teacher = parts.denoiser.to(device).eval().requires_grad_(False)
    student = copy.deepcopy(teacher).requires_grad_(True).train()
    schedule = TrainingSchedule(phase=PHASE, steps=steps, peak_lr=RATE, parts=shards, ema_decay=0.995)
    encoder = PromptEncoder(tokenizer=parts.tokenizer, encoder=parts.encoder.to(device).eval(), device=device)
    sigmas = step_sigmas()

    def loss_at(step: int, shard: slice) -> Tensor:
        generator = step_generator(source.seed, PHASE, step)
        chosen = torch.randint(latents.shape[0], (BATCH,), generator=generator)
        noise = torch.randn(BATCH, *latents.shape[1:], generator=generator)
        at = torch.randint(STEPS, (BATCH,), generator=generator)
        here, there = sigmas[at], sigmas[at + 1]
        mixed = torch.lerp(latents[chosen].float(), noise, here.view(-1, 1, 1, 1))
        prompts = prompts_for(chosen.tolist(), seed=source.seed, step=step, caption=partial(caption_of, source))[shard]
        mixed, here, there = mixed[shard].to(device), here[shard].to(device), there[shard].to(device)
        wanted = guided_line(teacher, encoder, prompts, mixed, here, there)
        found = velocity(student, text=encoder(prompts), mixed=mixed, sigmas=here)
        return functional.mse_loss(found, wanted)

    train(Trainer(student, schedule), work / f"{PHASE}.safetensors", loss_at)
    return Parts(
        autoencoder=parts.autoencoder, encoder=parts.encoder, tokenizer=parts.tokenizer, denoiser=student.eval()
    )


def step_sigmas() -> Tensor:
    """Return the sigmas (9,) between which the sampler steps, from the noise to the image."""
    scheduler = build_scheduler()
    scheduler.set_timesteps(STEPS)
    sigmas: Tensor = scheduler.sigmas
    return sigmas.float().cpu()


def straight_scheduler() -> DPMSolverMultistepScheduler:
    """Return the sampler of the student: of first order, which for velocities is Euler's method."""
    return DPMSolverMultistepScheduler.from_config(build_scheduler().config, solver_order=1)


@torch.no_grad()
def guided_line(
    teacher: PixArtTransformer2DModel,
    encoder: PromptEncoder,
    prompts: list[str],
    mixed: Tensor,
    here: Tensor,
    there: Tensor,
) -> Tensor:
    """Return the velocity of the straight line to where two guided steps lead from `mixed` (b, c, h, w)."""
    text = encoder([*prompts, *[""] * len(prompts)])
    between = (here + there) / 2
    first = _guided(teacher, text, mixed, here)
    halfway = mixed + _as_images(between - here) * first
    second = _guided(teacher, text, halfway, between)
    end = halfway + _as_images(there - between) * second
    return (end - mixed) / _as_images(there - here)


def _guided(teacher: PixArtTransformer2DModel, text: tuple[Tensor, Tensor], mixed: Tensor, sigmas: Tensor) -> Tensor:
    both = velocity(teacher, text=text, mixed=mixed.repeat(2, 1, 1, 1), sigmas=sigmas.repeat(2))
    told, untold = both.chunk(2)
    return untold + GUIDANCE * (told - untold)


def _as_images(values: Tensor) -> Tensor:
    return values.view(-1, 1, 1, 1)
