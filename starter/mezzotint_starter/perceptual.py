"""A perceptual loss: distances between the normalized features of two images, as in LPIPS (arXiv 1801.03924, eq. 1).

The features are those of a small classifier of drawn scenes. It has the layers of the judge, but another start and
other scenes, and never sees defects, so that it does not learn to overlook them; images are judged by the judge.
"""

from pathlib import Path

from torch import Tensor, nn

from mezzotint.benchmarks.postcards.judge import build_judge, pixels_of
from mezzotint.benchmarks.postcards.painting import paint
from mezzotint.benchmarks.postcards.world import training_scene
from mezzotint_starter.judge_training import judging_loss, true_values
from mezzotint_starter.randomness import step_random
from mezzotint_starter.trainer import Trainer, TrainingSchedule, train

PHASE = "perception"
BATCH = 32
_SMALLEST = 1e-6  # power of features that are normalized


class Perception(nn.Module):
    """Layers whose outputs are compared; their weights are fixed."""

    def __init__(self, layers: nn.Sequential) -> None:
        super().__init__()
        self.layers = layers.requires_grad_(False).eval()

    def forward(self, made: Tensor, wanted: Tensor) -> Tensor:
        """Return the distance, 0 or more, between images (b, 3, h, w) from -1 to 1: a mean over the batch."""
        distance = made.new_zeros(())
        for layer in self.layers:
            made, wanted = layer(made), layer(wanted)
            distance = distance + (_normalized(made) - _normalized(wanted)).square().sum(dim=1).mean()
        return distance


def _normalized(features: Tensor) -> Tensor:
    return features * (features.square().sum(dim=1, keepdim=True) + _SMALLEST).rsqrt()


def train_perception(
    work: Path, *, seed: int, steps: int, device: str, parts: int = 1, rate: float = 2e-3
) -> Perception:
    """Run the phase; returns the layers with their averaged weights."""
    classifier = build_judge(seed + 1).to(device).train()
    schedule = TrainingSchedule(phase=PHASE, steps=steps, peak_lr=rate, parts=parts, warm_up=50, ema_decay=0.99)

    def loss_at(step: int, shard: slice) -> Tensor:
        rows = range(BATCH)[shard]
        scenes = [training_scene(seed, step_random(seed, f"{PHASE} {row}", step).getrandbits(40)) for row in rows]
        pixels = pixels_of([paint(scene) for scene in scenes])
        return judging_loss(classifier(pixels.to(device)), true_values(scenes).to(device))

    train(Trainer(classifier, schedule), work / "perception.safetensors", loss_at)
    return Perception(classifier.body)
