"""What the first stage of a cascade made is shown beside the finished image, and changes nothing of it."""

import base64
import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.protocol import (
    Cascade,
    GenerateRequest,
    ModelRef,
    Output,
    Sampling,
    Saved,
    Stage,
    StageShown,
    Transition,
)
from mezzotint.stages.images.decode import to_image


@pytest.fixture(scope="module")
def engine():
    return Engine(Catalog.standard())


@pytest.fixture
def request_for(tmp_path):
    def build(folder, *, steps, **fields):
        stage = Stage(model=ModelRef(id=str(folder)), width=64, height=64, sampling=Sampling(steps=steps))
        output = Output(path=f"{tmp_path}/out/")
        return GenerateRequest(prompt="a house", seed=7, cascade=Cascade(stages=(stage,)), output=output, **fields)

    return build


def run(engine, request, events=None):
    return engine.generate(request, ([] if events is None else events).append, lambda: False)


def pixels(image):
    return np.asarray(Image.open(image.path))


@pytest.mark.slow
def test_what_the_first_stage_made_is_shown_beside_the_finished_image(engine, request_for, tiny_sdxl_folder):
    request = request_for(tiny_sdxl_folder, steps=4, count=2)
    grown = Cascade(
        stages=(*request.cascade.stages, Stage(sampling=Sampling(steps=4))),
        transitions=(Transition(scale=2.0, strength=0.5),),
    )
    events = []
    result = run(engine, replace(request, cascade=grown, previews=True), events)
    shown = [event for event in events if isinstance(event, StageShown)]
    assert [(one.image, one.images, one.stage, one.stages) for one in shown] == [(0, 2, 0, 2), (1, 2, 0, 2)]
    alone = run(engine, replace(request, count=2))
    for one, small, large in zip(shown, alone.images, result.images, strict=True):
        first = Image.open(io.BytesIO(base64.b64decode(one.jpeg)))
        assert first.size == (large.width, large.height)
        wanted = Image.fromarray(pixels(small)).resize(first.size, Image.Resampling.BICUBIC)
        brightness = [np.asarray(each.convert("L")).astype(float) for each in (first, wanted)]
        assert np.abs(brightness[0] - brightness[1]).mean() < 2  # it is a JPEG
    order = [type(event) for event in events if isinstance(event, Saved | StageShown)]
    assert order == [Saved, StageShown, Saved, StageShown]
    unseen = run(engine, replace(request, cascade=grown), events := [])
    assert not any(isinstance(event, StageShown) for event in events)
    assert [image.sha256 for image in unseen.images] == [image.sha256 for image in result.images]


@pytest.mark.slow
def test_where_memory_is_short_the_first_stage_is_not_shown(engine, request_for, tiny_sdxl_folder, monkeypatch):
    decoded = []

    def short(model, latents):
        decoded.append(latents.shape[-1])
        if len(decoded) > 1:
            raise RuntimeError("CUDA out of memory: tried to allocate 2 GiB")
        return to_image(model, latents)

    monkeypatch.setattr("mezzotint.stages.pipeline.to_image", short)
    request = request_for(tiny_sdxl_folder, steps=4, previews=True)
    cascade = Cascade(
        stages=(*request.cascade.stages, Stage(sampling=Sampling(steps=4))),
        transitions=(Transition(scale=2.0, strength=0.5),),
    )
    events = []
    result = run(engine, replace(request, cascade=cascade), events)
    assert len(decoded) == 2
    assert decoded[0] == 2 * decoded[1]  # the finished image comes first
    assert len(result.images) == 1
    assert result.recoveries == ()
    assert not any(isinstance(event, StageShown) for event in events)
