"""Augment drawn images with small defects, so that the judge attends to their content rather than their cleanness."""

import io
import random

import numpy as np
from PIL import Image, ImageFilter

SHIFT = 3
SHARE = 0.4


def augment(image: Image.Image, rng: random.Random) -> Image.Image:
    """Shift the image by up to three pixels; randomly change levels, blur, JPEG-compress, and add noise."""
    faulty = _shifted(image, rng.randint(-SHIFT, SHIFT), rng.randint(-SHIFT, SHIFT))
    if rng.random() < SHARE:
        faulty = faulty.point(_levels(rng.uniform(0.94, 1.06), rng.uniform(-8, 8)))
    if rng.random() < SHARE:
        faulty = faulty.filter(ImageFilter.GaussianBlur(rng.uniform(0.3, 1.2)))
    if rng.random() < SHARE:
        faulty = _compressed(faulty, rng.randint(30, 95))
    if rng.random() < SHARE:
        faulty = _noisy(faulty, rng.uniform(1, 12), rng.getrandbits(64))
    return faulty


def _shifted(image: Image.Image, right: int, down: int) -> Image.Image:
    """Shift by whole pixels with edge padding."""
    wide = np.pad(np.asarray(image), ((SHIFT, SHIFT), (SHIFT, SHIFT), (0, 0)), mode="edge")
    top, left = SHIFT - down, SHIFT - right
    return Image.fromarray(wide[top : top + image.height, left : left + image.width])


def _levels(contrast: float, brightness: float) -> list[int]:
    """Return the lookup table of `Image.point`, for all three channels."""
    return [min(255, max(0, round((value - 128) * contrast + 128 + brightness))) for value in range(256)] * 3


def _compressed(image: Image.Image, quality: int) -> Image.Image:
    file = io.BytesIO()
    image.save(file, "JPEG", quality=quality)
    return Image.open(file).convert("RGB")


def _noisy(image: Image.Image, deviation: float, seed: int) -> Image.Image:
    pixels = np.asarray(image, dtype=np.float32)
    noise = np.random.default_rng(seed).normal(0, deviation, pixels.shape)
    return Image.fromarray((pixels + noise).round().clip(0, 255).astype(np.uint8))
