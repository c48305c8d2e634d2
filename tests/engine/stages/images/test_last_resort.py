"""When the VAE fits in no tiles, a small decoder makes the image, which is told and recorded."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.errors import OutOfMemory
from mezzotint.images.metadata import read_metadata
from mezzotint.memory.accounting import DeviceOutOfMemory
from mezzotint.protocol import Cascade, GenerateRequest, ModelRef, Notice, Output, Sampling, Stage
from mezzotint.stages.images import decode

DONE = "the image is decoded by the small decoder preview_decoder/model.safetensors, which is less exact than the VAE"


@pytest.fixture
def generate(tmp_path):
    """Generates two images of a model; returns the result and the messages of notices."""

    def build(model, **fields):
        stage = Stage(model=ModelRef(id=str(model)), width=128, height=128, sampling=Sampling(steps=3))
        request = GenerateRequest(
            prompt="a red house",
            seed=3,
            count=2,
            cascade=Cascade(stages=(stage,)),
            output=Output(path=f"{tmp_path}/out/"),
            **fields,
        )
        events = []
        result = Engine(Catalog.standard()).generate(request, events.append, lambda: False)
        return result, [event.message for event in events if isinstance(event, Notice)]

    return build


@pytest.fixture
def short(monkeypatch):
    """Memory for decoding by a VAE is always too short; returns the tiles that were tried."""
    tried = []

    def refuse(_vae, _latents, tile):
        tried.append(tile)
        raise DeviceOutOfMemory(requested=1, in_use=1, cap=1)

    monkeypatch.setattr(decode, "decode_latents", refuse)
    return tried


def pixels(result):
    return [np.array(Image.open(image.path).convert("RGB")).astype(float) for image in result.images]


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("fields", [{}, {"vram_limit_bytes": 64 << 20}], ids=["cpu", "a simulated card"])
def test_the_small_decoder_makes_the_images(generate, request, fields):
    exact, _ = generate("starter-dit", **fields)
    tried = request.getfixturevalue("short")
    result, notices = generate("starter-dit", **fields)
    assert DONE in result.recoveries
    assert any(DONE in message for message in notices)
    for wanted, made in zip(pixels(exact), pixels(result), strict=True):
        assert 0 < np.abs(wanted - made).mean() < 12
    assert len(tried) < 12  # the second image is not tried again
    record = Image.open(result.images[0].path).info
    assert any(DONE in str(text) for text in record.values())
    assert read_metadata(Path(result.images[0].path)).request is not None


def test_strict_jobs_fail_rather(generate, short):
    with pytest.raises(OutOfMemory, match="strict"):
        generate("starter-dit", strict=True)


def test_without_a_decoder_there_is_no_last_resort(generate, short, tiny_sdxl_folder):
    with pytest.raises(OutOfMemory, match="nothing more can be freed"):
        generate(tiny_sdxl_folder)


def test_previews_in_16_bits_do_not_change_its_images(generate, short):
    result, _ = generate("starter-dit", dtype="bfloat16")
    again, _ = generate("starter-dit", dtype="bfloat16", previews=True)
    assert result.dtype == "bfloat16" and DONE in again.recoveries
    assert all(map(np.array_equal, pixels(result), pixels(again)))
