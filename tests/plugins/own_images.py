"""Images with our metadata, as an engine would have written them."""

import zlib
from pathlib import Path

from PIL import Image

from mezzotint.images.record import ImageRecord
from mezzotint.images.writing import pixels_sha256, write_image
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


def write_own(path: Path, *, prompt: str = "a red barn", model: str = "starter-dit", seed: int = 7) -> Path:
    """Write an image with distinct pixels for each prompt, model and seed; return its path."""
    drawn = zlib.crc32(f"{prompt}|{model}|{seed}".encode())
    image = Image.new("RGB", SIZE, (drawn & 255, drawn >> 8 & 255, drawn >> 16 & 255))
    return write_image(image, path, record_of(image, prompt, model, seed), overwrite=True)


def record_of(image: Image.Image, prompt: str, model: str, seed: int) -> ImageRecord:
    """Return the metadata."""
    width, height = image.size
    file = FileUsed(path=f"/models/{model}.safetensors", sha256="0123456789abcdef" * 4, bytes=3)
    used = ModelUsed(id=model, family="pixart", variant="sigma", path=f"/models/{model}", files=(file,))
    stage = ResolvedStage(
        model=used,
        width=width,
        height=height,
        prompt=prompt,
        negative_prompt="",
        sampler="dpmpp_2m",
        schedule="karras",
        steps=20,
        guidance_scale=4.5,
        guidance_rescale=0.0,
        prediction_type="epsilon",
        zero_terminal_snr=False,
        clip_skip=0,
        log_snr_start=None,
        log_snr_end=None,
        timesteps=(999.0,),
        sigmas=(14.6146, 0.0),
    )
    asked = Stage(model=ModelRef(id=model), width=width, height=height, sampling=Sampling(steps=20))
    return ImageRecord(
        schema_version=1,
        program_version="0.1.0",
        request=GenerateRequest(prompt=prompt, seed=seed, cascade=Cascade(stages=(asked,))),
        image=GeneratedImage(path="", width=width, height=height, seed=seed, index=0, sha256=pixels_sha256(image)),
        stages=(stage,),
        transitions=(),
        images_used=(),
        device="cpu",
        device_name="a processor",
        dtype="float32",
        attention="sdpa",
        threads=1,
        versions={"mezzotint": "0.1.0"},
    )
