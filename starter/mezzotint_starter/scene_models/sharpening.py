"""Sharpen the decoder of composed scenes: its latents stay, so that this can come after the transformer."""

from pathlib import Path

from diffusers import AutoencoderKL
from torch import Tensor

from mezzotint_starter.decoder_training import BATCH, PHASE, PerceptualLoss, train_decoder
from mezzotint_starter.perceptual import Perception
from mezzotint_starter.randomness import step_random
from mezzotint_starter.scene_models.crops import crop_batch
from mezzotint_starter.scene_models.scene_judge_training import train_scene_judge
from mezzotint_starter.scene_models.source import SceneSource

SIDE = 128
PERCEPTUAL_WEIGHT = 0.5


def sharpen(
    network: AutoencoderKL,
    source: SceneSource,
    work: Path,
    *,
    perception_steps: int,
    steps: int,
    device: str,
    parts: int,
) -> None:
    """Run both phases: a classifier, not the judge, whose features are compared; and the decoder with its critic."""
    classifier = train_scene_judge(source, work, "perception", steps=perception_steps, device=device, parts=parts)

    def drawn(step: int, shard: slice) -> Tensor:
        rng = step_random(source.seed, PHASE, step)
        return crop_batch(source, rng, side=SIDE, count=BATCH, each=1)[shard]

    perceptual = PerceptualLoss(perception=Perception(classifier.body), weight=PERCEPTUAL_WEIGHT)
    train_decoder(
        network,
        work,
        seed=source.seed,
        steps=steps,
        device=device,
        parts=parts,
        perceptual=perceptual,
        drawn=drawn,
    )
