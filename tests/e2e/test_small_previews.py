"""The starters' preview decoder: previews show what becomes of the latents, for each of their models."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.protocol import Cascade, GenerateRequest, ModelRef, Output, Sampling, Stage, Step


@pytest.fixture(scope="module")
def engine():
    return Engine(Catalog.standard())


@pytest.fixture
def error_of(engine, tmp_path):
    """Mean absolute difference, in levels of 8 bits, between the last step's preview and the image."""

    def generate(model: str, decoder: str, **fields: object) -> float:
        stage = Stage(model=ModelRef(id=model), width=128, height=128, sampling=Sampling(steps=4))
        output = Output(
            path=f"{tmp_path}/{decoder}.png", preview_folder=str(tmp_path / decoder), preview_decoder=decoder
        )
        request = GenerateRequest(prompt="a red house", seed=3, cascade=Cascade(stages=(stage,)), output=output)
        result = engine.generate(replace(request, **fields), lambda _: None, lambda: False)
        image = np.array(Image.open(result.images[0].path).convert("RGB")).astype(float)
        last = Image.open(sorted((tmp_path / decoder).iterdir())[-1])
        shown = np.array(last.resize((128, 128), Image.Resampling.BOX)).astype(float)
        for path in (Path(result.images[0].path), *(tmp_path / decoder).iterdir()):
            path.unlink()
        return float(np.abs(image - shown).mean())

    return generate


@pytest.mark.parametrize("model", ["starter-dit", "starter-xl", "starter-flow"])
def test_the_last_preview_is_nearer_to_the_image_than_a_linear_one(error_of, model):
    assert error_of(model, "small") < 0.75 * error_of(model, "linear")


@pytest.mark.slow
def test_so_it_is_in_16_bits_on_a_small_card(error_of):
    limited = {"dtype": "bfloat16", "vram_limit_bytes": 16 << 20, "memory": "lowest"}
    assert error_of("starter-dit", "auto", **limited) < 0.75 * error_of("starter-dit", "linear", **limited)


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("model", ["starter-dit", "starter-xl", "starter-flow"])
def test_previews_take_no_more_memory_than_is_planned_for_steps(engine, tmp_path, model):
    stage = Stage(model=ModelRef(id=model), width=384, height=256, sampling=Sampling(steps=2))
    request = GenerateRequest(
        prompt="a red house",
        cascade=Cascade(stages=(stage,)),
        previews=True,
        vram_limit_bytes=200 << 20,
        output=Output(path=f"{tmp_path}/a.png", preview_decoder="small"),
    )
    events = []
    result = engine.generate(request, events.append, lambda: False)
    (phase,) = (each for each in result.memory.phases if each.name == "stage 1")
    assert phase.measured_bytes <= phase.predicted_bytes
    assert len([event for event in events if isinstance(event, Step) and event.preview]) == 2
