"""Images and records that several tests build on."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from mezzotint.images.record import ImageRecord
from mezzotint.images.writing import pixels_sha256
from mezzotint.protocol import (
    Cascade,
    FileUsed,
    GeneratedImage,
    GenerateRequest,
    ModelRef,
    ModelUsed,
    ResolvedStage,
    Sampling,
    Stage,
)

SIZE = (48, 32)


@pytest.fixture
def pixels() -> Image.Image:
    return Image.effect_noise(SIZE, 60).convert("RGB")


@pytest.fixture
def make_record(pixels: Image.Image) -> Callable[..., ImageRecord]:
    """Build the record of `image`; keywords replace fields of its request."""
    width, height = SIZE
    file = FileUsed(path="/models/sd_xl_base_1.0.safetensors", sha256="0123456789abcdef" * 4, bytes=3)
    model = ModelUsed(
        id="sd_xl_base_1.0", family="sdxl", variant="base", path="/models/sd_xl_base_1.0.safetensors", files=(file,)
    )
    stage = ResolvedStage(
        model=model,
        width=width,
        height=height,
        prompt="a red house",
        negative_prompt="",
        sampler="dpmpp_2m",
        schedule="karras",
        steps=20,
        guidance_scale=7.5,
        guidance_rescale=0.0,
        prediction_type="epsilon",
        zero_terminal_snr=False,
        clip_skip=0,
        log_snr_start=None,
        log_snr_end=None,
        timesteps=(999.0, 500.0),
        sigmas=(14.6146, 1.25, 0.0),
    )
    sampling = Sampling(sampler="dpmpp_2m", schedule="karras", steps=20, guidance_scale=7.5)
    asked = Stage(model=ModelRef(id="sd_xl_base_1.0"), width=width, height=height, sampling=sampling)
    request = GenerateRequest(prompt="a red house", seed=965400086, cascade=Cascade(stages=(asked,)))

    def build(**changes: object) -> ImageRecord:
        changed = replace(request, **changes)
        return ImageRecord(
            schema_version=1,
            program_version="0.1.0",
            request=changed,
            image=GeneratedImage(
                path="", width=width, height=height, seed=965400086, index=0, sha256=pixels_sha256(pixels)
            ),
            stages=(replace(stage, prompt=changed.prompt, negative_prompt=changed.negative_prompt),),
            transitions=(),
            images_used=(),
            device="cpu",
            device_name="a processor",
            dtype="float32",
            attention="sdpa",
            threads=1,
            versions={"torch": "2.13.0"},
        )

    return build


@pytest.fixture
def png_with(tmp_path: Path, pixels: Image.Image) -> Callable[..., Path]:
    """Save a PNG with these text chunks."""

    def save(**texts: str) -> Path:
        chunks = PngInfo()
        for keyword, text in texts.items():
            chunks.add_text(keyword, text)
        path = tmp_path / "foreign.png"
        pixels.save(path, pnginfo=chunks)
        return path

    return save
