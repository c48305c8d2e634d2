"""Train the decoder alone with fixed latents, so that this can continue after the denoisers are trained.

Regression predicts the mean of all images a latent may stand for: edges soften, stars fade. So after CRITIC_FROM
steps, an adversarial critic learns to tell decoded images from drawn ones, which forces the decoder to commit.
A perceptual loss can be added, which asks for the right features where it cannot have the right pixels.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from diffusers import AutoencoderKL
from torch import Tensor, nn

from mezzotint.benchmarks.postcards.world import training_scene
from mezzotint_starter.autoencoder import image_error, image_tensor
from mezzotint_starter.critic import Critic, adaptive_weight, build_critic, critic_loss, generator_loss
from mezzotint_starter.networks import IMAGE_SIDE
from mezzotint_starter.perceptual import Perception
from mezzotint_starter.randomness import step_generator, step_random
from mezzotint_starter.trainer import Trainer, TrainingSchedule, shard_losses, train_together

PHASE = "sharpening"
BATCH = 4
EDGE_WEIGHT = 1.0
# Denoised latents are never exact; a little noise makes the decoder robust to small errors.
NOISE = 0.05
CRITIC_FROM = 600
CRITIC_WEIGHT = 0.4
CRITIC_RATE = 4e-4


@dataclass(frozen=True, slots=True, kw_only=True)
class PerceptualLoss:
    """A distance between decoded and drawn images, and the weight of its gradient relative to that of the error."""

    perception: Perception
    weight: float


def train_decoder(
    network: AutoencoderKL,
    work: Path,
    *,
    seed: int,
    steps: int,
    device: str,
    parts: int = 1,
    rate: float = 6e-4,
    perceptual: PerceptualLoss | None = None,
    drawn: Callable[[int, slice], Tensor] | None = None,
) -> None:
    """Run the phase; only the decoder's weights change.

    `drawn` returns a part of the BATCH images (b, 3, h, w) of a step: by default postcards and crops of larger ones.
    """
    decoder = nn.ModuleDict({"decoder": network.decoder, "post_quant_conv": network.post_quant_conv}).to(device)
    critic = build_critic(seed).to(device)
    schedule = TrainingSchedule(phase=PHASE, steps=steps, peak_lr=rate, parts=parts, warm_up=20, decay_share=0.5)
    critic_schedule = TrainingSchedule(
        phase=PHASE, steps=steps, peak_lr=CRITIC_RATE, parts=parts, betas=(0.5, 0.9), decay_share=0.5
    )
    trainers = {"decoder/": Trainer(decoder.train(), schedule), "critic/": Trainer(critic.train(), critic_schedule)}
    task = _DecoderTask(
        network,
        critic,
        perceptual,
        drawn or partial(drawn_batch, seed),
        seed=seed,
        device=device,
        critic_from=min(CRITIC_FROM, steps // 2),
    )

    def advance(step: int) -> float:
        loss = trainers["decoder/"].train_step(shard_losses(task.decoder_loss, step, parts))
        if step >= task.critic_from:
            trainers["critic/"].train_step(shard_losses(task.critic_loss_at, step, parts))
        trainers["critic/"].step = step + 1
        return loss

    train_together(trainers, work / "sharpening.safetensors", advance)
    trainers["decoder/"].take_averages()
    decoder.eval()


class _DecoderTask:
    """Both losses of a step; the critic scores the images that the decoder loss has just decoded."""

    def __init__(
        self,
        network: AutoencoderKL,
        critic: Critic,
        perceptual: PerceptualLoss | None,
        drawn: Callable[[int, slice], Tensor],
        *,
        seed: int,
        device: str,
        critic_from: int,
    ) -> None:
        self._network, self._critic, self._seed, self._device = network, critic, seed, device
        self._perceptual, self._drawn, self.critic_from = perceptual, drawn, critic_from
        self._pairs: dict[int, tuple[Tensor, Tensor]] = {}

    def decoder_loss(self, step: int, shard: slice) -> Tensor:
        """Return the reconstruction error, plus the perceptual and, from `critic_from` on, the adversarial loss."""
        images = self._drawn(step, shard).to(self._device)
        again = self._network.decode(self._noisy_latents(images, step, shard)).sample
        self._pairs[shard.start or 0] = images, again.detach()
        error = image_error(again, images, edge_weight=EDGE_WEIGHT)
        loss, last = error, self._network.decoder.conv_out.weight
        if self._perceptual is not None:
            distance = self._perceptual.perception(again, images)
            loss = loss + self._perceptual.weight * adaptive_weight(error, distance, last) * distance
        if step >= self.critic_from:
            adversarial = generator_loss(self._critic, again)
            loss = loss + CRITIC_WEIGHT * adaptive_weight(error, adversarial, last) * adversarial
        return loss

    def critic_loss_at(self, _: int, shard: slice) -> Tensor:
        """Return the critic's loss."""
        return critic_loss(self._critic, *self._pairs.pop(shard.start or 0))

    @torch.no_grad()
    def _noisy_latents(self, images: Tensor, step: int, shard: slice) -> Tensor:
        latents: Tensor = self._network.encode(images).latent_dist.mean
        noise = torch.randn(BATCH, *latents.shape[1:], generator=step_generator(self._seed, PHASE, step))
        return latents + NOISE * noise[shard].to(self._device)


def drawn_batch(seed: int, step: int, shard: slice = slice(None)) -> Tensor:
    """Return the images (b, 3, 128, 128) of a step: whole ones, or in odd steps crops of images twice the size."""
    rng = step_random(seed, PHASE, step)
    scenes = [(training_scene(seed, rng.getrandbits(40)), rng.getrandbits(32)) for _ in range(BATCH)][shard]
    if step % 2 == 0:
        return torch.stack([image_tensor(scene) for scene, _ in scenes])
    return torch.stack([_part(image_tensor(scene, 2 * IMAGE_SIDE), random.Random(lot)) for scene, lot in scenes])


def _part(image: Tensor, rng: random.Random) -> Tensor:
    top, left = rng.randrange(IMAGE_SIDE + 1), rng.randrange(IMAGE_SIDE + 1)
    return image[:, top : top + IMAGE_SIDE, left : left + IMAGE_SIDE]
