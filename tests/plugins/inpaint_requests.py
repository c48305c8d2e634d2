"""Inpainting requests with random images and masks, and their results."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from recorded_again import read_metadata

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.protocol import Cascade, GenerateRequest, GenerateResult, ImageInput, ModelRef, Output, Sampling, Stage

PROMPT, SEED, SIDE = "a red house by the sea at dusk", 7, 64
HOLE = (16, 8, 48, 40)


@pytest.fixture(scope="module")
def engine(every_device):
    return Engine(Catalog.standard())


@pytest.fixture
def image(tmp_path):
    """Saves noise that no network would generate."""
    return partial(save_noise, tmp_path)


@pytest.fixture
def mask(tmp_path):
    """Saves masks of boxes."""
    return partial(save_mask, tmp_path)


@pytest.fixture
def request_for(tmp_path):
    """Builds requests."""
    return partial(build_request, tmp_path)


def save_noise(folder, name="init.png", size=(SIDE, SIDE), seed=0):
    pixels = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    Image.fromarray(pixels).save(folder / name)
    return ImageInput(path=str(folder / name))


def save_mask(folder, *boxes, size=(SIDE, SIDE), name="mask.png"):
    image = Image.new("L", size)
    for box in boxes or (HOLE,):
        image.paste(255, box)
    image.save(folder / name)
    return ImageInput(path=str(folder / name), role="mask")


def build_request(folder, model, *images, size=(SIDE, SIDE), stages=(), transitions=(), **fields):
    sampling = Sampling(steps=fields.pop("steps", 4), sampler=fields.pop("sampler", None))
    width, height = size or (None, None)
    first = Stage(model=ModelRef(id=str(model)), width=width, height=height, sampling=sampling)
    first = replace(first, until=fields.pop("until", None))
    return GenerateRequest(
        prompt=PROMPT,
        seed=SEED,
        images=images,
        cascade=Cascade(stages=(first, *stages), transitions=tuple(transitions)),
        output=Output(path=f"{folder}/out/"),
        attention="sdpa",
        dtype="float32",
        **fields,
    )


def run(engine, request, events=None, cancelled=lambda: False) -> GenerateResult:
    return engine.generate(request, (events if events is not None else []).append, cancelled)


def pixels(image) -> np.ndarray:
    return np.array(Image.open(image.path if hasattr(image, "path") else image).convert("RGB"))


def outside(shape, *boxes) -> np.ndarray:
    free = np.ones(shape[:2], bool)
    for left, top, right, bottom in boxes:
        free[top:bottom, left:right] = False
    return free


def again(engine, result, request):
    recorded = read_metadata(Path(result.images[0].path)).request
    return run(engine, replace(recorded, output=request.output)).images[0].sha256
