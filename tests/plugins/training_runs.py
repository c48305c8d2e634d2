"""A small dataset, and settings of a short training on a CPU."""

from pathlib import Path

import numpy as np
from PIL import Image

from mezzotint.training_protocol import TrainingSettings

SETTINGS = TrainingSettings(
    steps=6, rank=2, batch=2, rate=1e-2, resolution=64, epochs=2, regularization=0, device="cpu", dtype="float32"
)


def write_dataset(folder: Path, count: int = 4) -> Path:
    """Write images with captions."""
    folder.mkdir(parents=True)
    for number in range(count):
        pixels = np.random.default_rng(number).integers(0, 255, (64, 64, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{number}.png")
        (folder / f"{number}.txt").write_text(f"a house and {number} trees")
    return folder
