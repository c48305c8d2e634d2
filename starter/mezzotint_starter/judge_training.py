"""Train the judge on drawn images with small defects, and evaluate it on held-out attribute combinations."""

import logging
from pathlib import Path

import torch
from PIL import Image
from torch import Tensor
from torch.nn import functional

from mezzotint.benchmarks.postcards.captions import VALUES, all_attributes, chance
from mezzotint.benchmarks.postcards.judge import Judge, build_judge, pixels_of, save_judge
from mezzotint.benchmarks.postcards.painting import paint
from mezzotint.benchmarks.postcards.world import Scene, judging_scene, training_scene
from mezzotint.training.distributed import Processes
from mezzotint_starter.augmentation import augment
from mezzotint_starter.randomness import step_random
from mezzotint_starter.trainer import Trainer, TrainingSchedule, train

LOG = logging.getLogger("mezzotint_starter")
PHASE = "judge"
BATCH = 64
EXAMINED = 2048
CHUNK = 64


def make_judge(
    work: Path, out: Path, *, seed: int, steps: int, device: str, parts: int = 1, examined: int = EXAMINED
) -> dict[str, float]:
    """Train a judge or resume it, write it to `out`, and return its accuracy per attribute on held-out drawings."""
    judge = train_judge(work, seed=seed, steps=steps, device=device, parts=parts)
    right = drawn_accuracy(judge, seed=seed, device=device, count=examined)
    augmented = drawn_accuracy(judge, seed=seed, device=device, count=examined, faulty=True)
    for name, share in right.items():
        LOG.info(
            "judge of %s: accuracy %.4f, %.4f on augmented images (chance %.3f)",
            name,
            share,
            augmented[name],
            chance(name),
        )
    accuracy = {name: round(share, 4) for name, share in right.items()}
    if Processes.of_environment().is_first:
        save_judge(
            judge, out, {"steps": steps, "batch": BATCH, "seed": seed, "examined": examined, "accuracy": accuracy}
        )
    return right


def train_judge(work: Path, *, seed: int, steps: int, device: str, parts: int = 1, rate: float = 2e-3) -> Judge:
    """Run the phase; returns the judge with its averaged weights."""
    judge = build_judge(seed).to(device).train()
    schedule = TrainingSchedule(phase=PHASE, steps=steps, peak_lr=rate, parts=parts, warm_up=50, ema_decay=0.99)

    def loss_at(step: int, shard: slice) -> Tensor:
        pixels, answers = judge_batch(seed, step, range(BATCH)[shard])
        return judging_loss(judge(pixels.to(device)), answers.to(device))

    train(Trainer(judge, schedule), work / "judge.safetensors", loss_at)
    return judge.eval()


def judge_batch(seed: int, step: int, rows: range) -> tuple[Tensor, Tensor]:
    """Return rows of a step's batch: pixels (b, 3, 128, 128) of new scenes, and their labels (b, attributes)."""
    scenes, images = [], []
    for row in rows:  # seeded per row, so that rows do not depend on how many threads share the batch
        rng = step_random(seed, f"{PHASE} {row}", step)
        scene = training_scene(seed, rng.getrandbits(40))
        scenes.append(scene)
        images.append(augment(paint(scene), rng))
    return pixels_of(images), true_values(scenes)


def true_values(scenes: list[Scene]) -> Tensor:
    """Return the labels of the scenes, (b, attributes): value indices in the order of VALUES."""
    stated = [all_attributes(scene).indices() for scene in scenes]
    return torch.tensor([[each[name] for name in VALUES] for each in stated])


def judging_loss(scores: dict[str, Tensor], answers: Tensor) -> Tensor:
    """Return the mean cross-entropy over the attributes."""
    losses = [functional.cross_entropy(scores[name], answers[:, place]) for place, name in enumerate(VALUES)]
    return torch.stack(losses).mean()


@torch.no_grad()
def drawn_accuracy(judge: Judge, *, seed: int, device: str, count: int, faulty: bool = False) -> dict[str, float]:
    """Return the accuracy for each attribute on drawings of combinations held out from training."""
    right = torch.zeros(len(VALUES))
    for start in range(0, count, CHUNK):
        numbers = range(start, min(start + CHUNK, count))
        scores = judge(pixels_of([_drawing(seed, number, faulty) for number in numbers]).to(device))
        predicted = torch.stack([scores[name].argmax(dim=-1).cpu() for name in VALUES], dim=1)
        right += (predicted == true_values([judging_scene(seed, number) for number in numbers])).sum(dim=0)
    return dict(zip(VALUES, (right / count).tolist(), strict=True))


def _drawing(seed: int, number: int, faulty: bool) -> Image.Image:
    image = paint(judging_scene(seed, number))
    return augment(image, step_random(seed, f"{PHASE} faults", number)) if faulty else image
