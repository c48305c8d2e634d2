"""Train the U-Nets to predict the velocity v = a e - s x of a noisy image a x + s e (arXiv 2202.00512, appendix D).

The base is trained on all noise levels of 128x128 images and, in every fourth step, on the lower levels of 256x256
ones, for the hires fix. The refiner is trained only on the last fifth of the timesteps, at both sizes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from diffusers import EulerDiscreteScheduler, UNet2DConditionModel
from torch import Tensor
from torch.nn import functional

from mezzotint.benchmarks.postcards.captions import random_caption
from mezzotint.benchmarks.postcards.world import training_scene
from mezzotint.families.sdxl.family import AESTHETIC_SCORE, NEGATIVE_AESTHETIC_SCORE
from mezzotint_starter.precision import autocast
from mezzotint_starter.randomness import step_generator, step_random
from mezzotint_starter.trainer import Trainer, TrainingSchedule, train
from mezzotint_starter.xl.clip_encoder_training import ClipPair

TIMESTEPS = 1000
BETA_START, BETA_END = 0.00085, 0.03
SMALL_BATCH, LARGE_BATCH = 48, 12
LARGE_EVERY = 4
LARGE_BELOW = 650  # a hires pass never starts from more noise
REFINER_BELOW = TIMESTEPS // 5
EMPTY_SHARE = 0.12


@dataclass(frozen=True, slots=True, kw_only=True)
class UNetTask:
    """The training task of one of the two U-Nets."""

    phase: str
    refiner: bool
    empty_share: float = EMPTY_SHARE

    @property
    def below(self) -> dict[bool, int]:
        """The exclusive upper bound of the training timesteps, for small (False) and large (True) images."""
        if self.refiner:
            return {False: REFINER_BELOW, True: REFINER_BELOW}
        return {False: TIMESTEPS, True: LARGE_BELOW}


BASE = UNetTask(phase="base", refiner=False)
REFINER = UNetTask(phase="refiner", refiner=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingLatents:
    """Latents of the training scenes 0..n-1: small (n, 4, 16, 16) and large (m, 4, 32, 32)."""

    small: Tensor
    large: Tensor


def build_scheduler() -> EulerDiscreteScheduler:
    """Return the scheduler with the noise schedule of both U-Nets.

    SDXL's own schedule (up to beta 0.012) leaves a twentieth of the image at the last timestep, enough to leak the sky
    of so small an image; this one leaves a four-hundredth.
    """
    return EulerDiscreteScheduler(
        num_train_timesteps=TIMESTEPS,
        beta_start=BETA_START,
        beta_end=BETA_END,
        beta_schedule="scaled_linear",
        prediction_type="v_prediction",
        timestep_spacing="trailing",
    )


def train_unet(
    unet: UNet2DConditionModel,
    pair: ClipPair,
    images: TrainingLatents,
    work: Path,
    task: UNetTask,
    *,
    seed: int,
    steps: int,
    after: Callable[[Trainer], None],
    parts: int = 1,
    precision: str = "float32",
    rate: float = 1.5e-3,
) -> None:
    """Run the phase; leaves the U-Net with averaged weights."""
    schedule = TrainingSchedule(phase=task.phase, steps=steps, peak_lr=rate, parts=parts, warm_up=200)
    trainer = Trainer(unet.to(pair.device).train(), schedule)
    pair.first.to(pair.device).eval()
    pair.second.to(pair.device).eval()
    alphas_cumprod: Tensor = build_scheduler().alphas_cumprod

    def loss_at(step: int, shard: slice) -> Tensor:
        batch = draw_batch(images, alphas_cumprod, task, seed=seed, step=step)
        with autocast(pair.device, precision):
            return velocity_loss(unet, pair, batch, task, shard)

    train(trainer, work / f"{task.phase}.safetensors", loss_at, lambda: after(trainer))
    unet.eval()


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Noisy latents and velocity targets (b, 4, h, w), timesteps and numbers of the images (b,), and prompts."""

    chosen: Tensor
    noisy: Tensor
    velocity: Tensor
    timesteps: Tensor
    prompts: list[str]  # empty: unconditional


def draw_batch(images: TrainingLatents, alphas_cumprod: Tensor, task: UNetTask, *, seed: int, step: int) -> Batch:
    """Return the batch of a step; `alphas_cumprod` (1000,) is the signal variance at each timestep."""
    generator = step_generator(seed, task.phase, step)
    large = step % LARGE_EVERY == LARGE_EVERY - 1
    latents, count = (images.large, LARGE_BATCH) if large else (images.small, SMALL_BATCH)
    chosen = torch.randint(len(latents), (count,), generator=generator)
    clean, noise = latents[chosen], torch.randn(count, *latents.shape[1:], generator=generator)
    timesteps = torch.randint(task.below[large], (count,), generator=generator)
    alpha_cumprod = alphas_cumprod[timesteps].view(-1, 1, 1, 1)
    signal, noise_scale = alpha_cumprod.sqrt(), (1 - alpha_cumprod).sqrt()
    return Batch(
        chosen=chosen,
        noisy=signal * clean + noise_scale * noise,
        velocity=signal * noise - noise_scale * clean,
        timesteps=timesteps,
        prompts=_prompts(chosen.tolist(), task, seed=seed, step=step),
    )


def _prompts(indices: list[int], task: UNetTask, *, seed: int, step: int) -> list[str]:
    rng = step_random(seed, task.phase, step)
    return [
        "" if rng.random() < task.empty_share else random_caption(training_scene(seed, index), rng)[0]
        for index in indices
    ]


def velocity_loss(
    unet: UNet2DConditionModel, pair: ClipPair, batch: Batch, task: UNetTask, shard: slice = slice(None)
) -> Tensor:
    """Return the mean squared error of the predicted velocity over a shard of the batch."""
    noisy, timesteps = batch.noisy[shard].to(pair.device), batch.timesteps[shard].to(pair.device)
    text, added = conditions(pair, batch.prompts[shard], noisy.shape[-1] * 8, task)
    predicted = unet(noisy, timesteps, encoder_hidden_states=text, added_cond_kwargs=added).sample
    return functional.mse_loss(predicted.float(), batch.velocity[shard].to(pair.device))


@torch.no_grad()
def conditions(pair: ClipPair, prompts: list[str], side: int, task: UNetTask) -> tuple[Tensor, dict[str, Tensor]]:
    """Return a U-Net's conditioning as in the engine: an empty prompt is zeros for the base, "" for the refiner."""
    embeddings = pair.encode(prompts)
    prompted = torch.tensor([bool(prompt) for prompt in prompts], device=embeddings.pooled.device)
    if task.refiner:
        score = torch.where(prompted, AESTHETIC_SCORE, NEGATIVE_AESTHETIC_SCORE).unsqueeze(-1)
        sizes = torch.tensor([[side, side, 0.0, 0.0]], device=score.device).expand(len(prompts), -1)
        return embeddings.second, {"text_embeds": embeddings.pooled, "time_ids": torch.cat([sizes, score], dim=-1)}
    kept = prompted.to(embeddings.pooled.dtype)
    text = torch.cat([embeddings.first, embeddings.second], dim=-1) * kept.view(-1, 1, 1)
    sizes = torch.tensor([[side, side, 0.0, 0.0, side, side]], device=kept.device).expand(len(prompts), -1)
    return text, {"text_embeds": embeddings.pooled * kept.unsqueeze(-1), "time_ids": sizes}
