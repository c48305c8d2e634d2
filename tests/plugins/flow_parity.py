"""Compare images by the engine and by diffusers' pipelines, for a small flow model."""

import copy
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

from mezzotint.catalog.catalog import Catalog
from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.engine import Engine
from mezzotint.families.detection import detect
from mezzotint.families.family import LoadedModel
from mezzotint.families.known import family_of
from mezzotint.families.loading.networks import load_components
from mezzotint.protocol import Cascade, GenerateRequest, ImageInput, ModelRef, Output, Sampling, Stage

PROMPT, NEGATIVE, SEED, SIDE = "a red house by the sea at dusk", "rain", 7, 64


def request_of(
    model: Path,
    folder: Path,
    *,
    init: Path | None = None,
    references: Sequence[Path] = (),
    side: int | None = SIDE,
    **fields: Any,
) -> GenerateRequest:
    """Return a request for one image with a model's folder or file; `fields` belong to `Sampling` or the request."""
    images = () if init is None else (ImageInput(path=str(init)),)
    images += tuple(ImageInput(path=str(path), role="reference") for path in references)
    of_sampling = {one.name for one in dataclasses.fields(Sampling)}
    sampling = Sampling(**{name: value for name, value in fields.items() if name in of_sampling})
    given = {name: value for name, value in fields.items() if name not in of_sampling}
    stage = Stage(model=ModelRef(id=str(model)), width=side, height=side, sampling=sampling)
    usual: dict[str, Any] = {
        "prompt": PROMPT,
        "seed": SEED,
        "attention": "sdpa",
        "dtype": "float32",
        "images": images,
        "output": Output(path=str(folder / "ours.png"), overwrite=True),
    }
    return GenerateRequest(cascade=Cascade(stages=(stage,)), **usual | given)


def ours(model: Path, folder: Path, **fields: Any) -> np.ndarray:
    """Return the engine's image of such a request."""
    result = Engine(Catalog.standard()).generate(request_of(model, folder, **fields), lambda _: None, lambda: False)
    return np.array(Image.open(result.images[0].path))


def words_matter(model: Path, folder: Path) -> None:
    """Check that prompt and negative prompt affect the image; otherwise comparing images proves nothing."""
    plain = ours(model, folder, steps=2).astype(int)
    others = {"prompt": "two green hills under a dark blue sky"}, {"guidance_scale": 4.0, "negative_prompt": NEGATIVE}
    for fields in others:
        assert np.abs(ours(model, folder, steps=2, **fields) - plain).mean() > 1


def pipeline(name: str, folder: Path, **parts: Any) -> Any:
    """Return a diffusers pipeline whose weights are copied to memory: mapped files are unaligned."""
    import diffusers

    made = getattr(diffusers, name).from_pretrained(folder, torch_dtype=torch.float32, **parts)
    for part, network in made.components.items():
        if isinstance(network, torch.nn.Module):
            setattr(made, part, copy.deepcopy(network))
    made.set_progress_bar_config(disable=True)
    return made


def loaded(folder: Path, *components: str) -> LoadedModel:
    """Load a model with some of its components, or all, in float32 on the CPU."""
    checkpoint = open_checkpoint(folder)
    detected = detect(checkpoint)
    sources = family_of(detected.family).sources(checkpoint, detected)
    model = LoadedModel(sources=sources, device=torch.device("cpu"), dtype=torch.float32)
    load_components(
        model,
        components or sources.components,
        on_bytes=lambda *_: None,
        cancelled=lambda: False,
        notify=lambda _: None,
    )
    return model


def generator() -> torch.Generator:
    """Return a generator with the common seed."""
    return torch.Generator("cpu").manual_seed(SEED)


def same(theirs: Image.Image, mine: np.ndarray, *, apart: int = 0) -> None:
    """Check that images are equal, or at most `apart` levels different, and not uniform."""
    expected = np.array(theirs.convert("RGB"))
    assert expected.std() > 1
    np.testing.assert_allclose(expected.astype(int), mine.astype(int), rtol=0, atol=apart)
