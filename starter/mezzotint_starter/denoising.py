"""Train the transformer by flow matching: x_sigma = (1 - sigma) x0 + sigma noise; it predicts noise - x0."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import torch
from diffusers import PixArtTransformer2DModel
from torch import Tensor
from torch.nn import functional
from transformers import T5EncoderModel, T5Tokenizer

from mezzotint.benchmarks.postcards.captions import random_caption
from mezzotint.benchmarks.postcards.world import training_scene
from mezzotint_starter.precision import autocast
from mezzotint_starter.randomness import step_generator, step_random
from mezzotint_starter.trainer import Trainer, TrainingSchedule, train
from mezzotint_starter.variants.teacher import Teacher
from mezzotint_starter.vocabulary import tokenize

PHASE = "denoising"
RATE = 2e-3
BATCH = 48
EMPTY_SHARE = 0.12
HIGH_SHARE = 0.2
HIGH_FROM = 0.92
SHIFT = 3.0


class Latents(Protocol):
    """Latents (n, c, h, w) of training scenes 0..n-1: a tensor, or what is read from files as it is needed."""

    @property
    def shape(self) -> Sequence[int]:
        """Number, channels, height and width."""
        ...

    def __getitem__(self, chosen: Tensor, /) -> Tensor:
        """Return the latents of the chosen scenes."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptEncoder:
    """Encodes prompts to conditioning; the text encoder is frozen after the reading phase.

    Trained jointly with the transformer, it forgets within a thousand steps what it has learnt (a linear head finds
    the kind of object in 67 of 100 captions instead of 99), and the objects in the images stay blobs.
    """

    tokenizer: T5Tokenizer
    encoder: T5EncoderModel
    device: str

    def __call__(self, prompts: list[str]) -> tuple[Tensor, Tensor]:
        """Return token embeddings (b, n, d) and their mask (b, n)."""
        ids, mask = tokenize(self.tokenizer, prompts, self.device)
        with torch.no_grad():
            return self.encoder(input_ids=ids, attention_mask=mask)[0], mask


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How a transformer is trained; with a teacher, its predictions are matched as well."""

    steps: int
    state: str = PHASE  # name of the state file
    rate: float = RATE
    batch: int = BATCH
    precision: str = "float32"
    teacher: Teacher | None = None
    caption: Callable[[int, random.Random], str] | None = None  # of a scene; None: of the postcards


def train_denoiser(
    denoiser: PixArtTransformer2DModel,
    prompt_encoder: PromptEncoder,
    latents: Latents,
    work: Path,
    course: Course,
    *,
    seed: int,
    after: Callable[[Trainer], None],
    parts: int = 1,
) -> None:
    """Run the phase on latents (n, 4, h, w) of training scenes 0..n-1; leaves the transformer's weights averaged.

    Frozen weights stay as they are.
    """
    schedule = TrainingSchedule(
        phase=course.state,
        steps=course.steps,
        peak_lr=course.rate,
        parts=parts,
        warm_up=min(200, course.steps // 5),
        ema_decay=min(0.998, 1 - 10 / max(20, course.steps)),
    )
    prompt_encoder.encoder.to(prompt_encoder.device).eval()
    trainer = Trainer(denoiser.to(prompt_encoder.device).train(), schedule)

    def loss_at(step: int, shard: slice) -> Tensor:
        with autocast(prompt_encoder.device, course.precision):
            return flow_loss(denoiser, prompt_encoder, latents, course, seed=seed, step=step, shard=shard)

    train(trainer, work / f"{course.state}.safetensors", loss_at, lambda: after(trainer))
    denoiser.eval()


def flow_loss(
    denoiser: PixArtTransformer2DModel,
    prompt_encoder: PromptEncoder,
    latents: Latents,
    course: Course,
    *,
    seed: int,
    step: int,
    shard: slice,
) -> Tensor:
    """Return the mean squared error of a shard of one step's batch, plus the difference from the teacher's."""
    generator = step_generator(seed, PHASE, step)
    chosen = torch.randint(latents.shape[0], (course.batch,), generator=generator)
    clean, noise = latents[chosen].float(), torch.randn(course.batch, *latents.shape[1:], generator=generator)
    sigmas = noise_levels(course.batch, generator)
    prompts = prompts_for(chosen.tolist(), seed=seed, step=step, caption=course.caption)
    mixed, wanted = clean + sigmas.view(-1, 1, 1, 1) * (noise - clean), noise - clean
    predict = partial(velocity, text=prompt_encoder(prompts[shard]), mixed=mixed[shard], sigmas=sigmas[shard])
    predicted = predict(denoiser)
    loss = functional.mse_loss(predicted.float(), wanted[shard].to(predicted.device))
    return loss if course.teacher is None else loss + course.teacher.difference(predicted, predict)


def velocity(
    denoiser: PixArtTransformer2DModel,
    *,
    text: tuple[Tensor, Tensor],
    mixed: Tensor,
    sigmas: Tensor,
    **added: Tensor,
) -> Tensor:
    """Return the transformer's prediction for noisy latents (b, 4, h, w) at sigmas (b,) and encoded prompts.

    `added`: what a conditional refiner is given as well.
    """
    tokens, mask = text
    predicted: Tensor = denoiser(
        mixed.to(tokens.device),
        encoder_hidden_states=tokens,
        encoder_attention_mask=mask,
        timestep=(sigmas * 1000).to(tokens.device),
        added_cond_kwargs={"resolution": None, "aspect_ratio": None}
        | {name: each.to(tokens.device) for name, each in added.items()},
    ).sample
    return predicted


def noise_levels(count: int, generator: torch.Generator) -> Tensor:
    """Draw sigmas (count,): shifted like the sampler's, with an extra share near 1, where the layout is decided."""
    even, lot = torch.rand(2, count, generator=generator)
    shifted = SHIFT * even / (1 + (SHIFT - 1) * even)
    return torch.where(lot < HIGH_SHARE, HIGH_FROM + (1 - HIGH_FROM) * even, shifted)


def prompts_for(
    indices: list[int], *, seed: int, step: int, caption: Callable[[int, random.Random], str] | None = None
) -> list[str]:
    """Return a new random caption for each scene, sometimes empty, to train the unconditional case for CFG."""
    rng = step_random(seed, PHASE, step)

    def postcard(index: int, rng: random.Random) -> str:
        return random_caption(training_scene(seed, index), rng)[0]

    return ["" if rng.random() < EMPTY_SHARE else (caption or postcard)(index, rng) for index in indices]
