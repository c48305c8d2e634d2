"""Bit for bit what the diffusers pipelines of the same models make: CPU, float32, one seed, equal threads, SDPA."""

import copy
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from tiny_pixart import write_tiny_pixart

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.families.samplers import build_scheduler, resolve_scheduler
from mezzotint.protocol import (
    Cascade,
    GenerateRequest,
    ImageInput,
    ModelRef,
    Output,
    Sampling,
    Stage,
    Transition,
)

pytestmark = pytest.mark.usefixtures("every_device")

PROMPT, NEGATIVE, SEED, SIDE = "a red house by the sea at dusk", "rain", 7, 64


def ours(folder: Path, tmp_path: Path, *, cascade: Cascade | None = None, **fields) -> np.ndarray:
    sampling = Sampling(steps=fields.pop("steps", 5), sampler=fields.pop("sampler", None))
    if cascade is None:
        cascade = Cascade(stages=(Stage(model=ModelRef(id=str(folder)), width=SIDE, height=SIDE, sampling=sampling),))
    request = GenerateRequest(
        prompt=PROMPT,
        cascade=cascade,
        seed=SEED,
        attention="sdpa",
        dtype="float32",
        output=Output(path=str(tmp_path / "ours.png")),
        **fields,
    )
    result = Engine(Catalog.standard()).generate(request, lambda _: None, lambda: False)
    return np.array(Image.open(result.images[0].path))


def aligned(pipeline):
    """Their networks with weights in memory of their own: those of a mapped file lie unaligned, and round otherwise."""
    for name, part in pipeline.components.items():
        if isinstance(part, torch.nn.Module):
            setattr(pipeline, name, copy.deepcopy(part))
    return pipeline


def generator() -> torch.Generator:
    return torch.Generator("cpu").manual_seed(SEED)


def same(image: Image.Image, mine: np.ndarray, *, apart: int = 0) -> None:
    theirs = np.array(image)
    assert theirs.std() > 1  # two grey images would prove nothing
    np.testing.assert_allclose(theirs.astype(int), mine.astype(int), rtol=0, atol=apart)


@pytest.fixture(scope="module")
def base(tiny_sdxl_folder):
    from diffusers import StableDiffusionXLPipeline

    return aligned(StableDiffusionXLPipeline.from_pretrained(tiny_sdxl_folder, torch_dtype=torch.float32))


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("negative", [NEGATIVE, ""])
def test_sdxl_base(base, tiny_sdxl_folder, tmp_path, negative):
    theirs = base(
        PROMPT,
        negative_prompt=negative or None,
        height=SIDE,
        width=SIDE,
        num_inference_steps=5,
        guidance_scale=5.0,
        generator=generator(),
    ).images[0]
    same(theirs, ours(tiny_sdxl_folder, tmp_path, negative_prompt=negative))


def test_sdxl_base_without_guidance(base, tiny_sdxl_folder, tmp_path):
    theirs = base(
        PROMPT, height=SIDE, width=SIDE, num_inference_steps=5, guidance_scale=1.0, generator=generator()
    ).images[0]
    stage = Stage(
        model=ModelRef(id=str(tiny_sdxl_folder)),
        width=SIDE,
        height=SIDE,
        sampling=Sampling(steps=5, guidance_scale=1.0),
    )
    same(theirs, ours(tiny_sdxl_folder, tmp_path, cascade=Cascade(stages=(stage,))))


def scheduler_of(pipeline, **asked):
    """Ours for these names, for their pipeline: what differs then is not the sampler but how it is walked."""
    config = {**pipeline.scheduler.config, "_class_name": type(pipeline.scheduler).__name__}
    settled = {"sampler": None, "schedule": None, "prediction_type": None, "zero_terminal_snr": None} | asked
    return build_scheduler(resolve_scheduler(config, **settled))


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("sampler", ["euler_a", "heun", "dpmpp_2m", "dpmpp_2m_sde", "ddim", "unipc", "lcm"])
def test_every_sampler_is_walked_alike(tiny_sdxl_folder, tmp_path, sampler, every_device):
    from diffusers import StableDiffusionXLImg2ImgPipeline, StableDiffusionXLPipeline

    for pipeline_class in (StableDiffusionXLPipeline, StableDiffusionXLImg2ImgPipeline):
        pipeline = aligned(pipeline_class.from_pretrained(tiny_sdxl_folder, torch_dtype=torch.float32))
        pipeline.scheduler = scheduler_of(pipeline, sampler=sampler)
        theirs = {"num_inference_steps": 6, "guidance_scale": 5.0, "generator": generator()}
        mine = {"steps": 6, "sampler": sampler}
        if pipeline_class is StableDiffusionXLPipeline:
            theirs |= {"height": SIDE, "width": SIDE}
        else:
            Image.linear_gradient("L").resize((SIDE, SIDE)).convert("RGB").save(tmp_path / "init.png")
            theirs |= {"image": Image.open(tmp_path / "init.png"), "strength": 0.5}
            mine |= {"images": (ImageInput(path=str(tmp_path / "init.png")),), "strength": 0.5}
        # A group norm on a card gives up channels last, which an encoded image has, and rounds in another order.
        apart = every_device != "cpu" and "images" in mine
        same(pipeline(PROMPT, **theirs).images[0], ours(tiny_sdxl_folder, tmp_path, **mine), apart=apart)


@pytest.mark.slow
def test_v_prediction_from_pure_noise_with_rescaled_guidance(tiny_sdxl_folder, tmp_path):
    from diffusers import StableDiffusionXLPipeline

    pipeline = aligned(StableDiffusionXLPipeline.from_pretrained(tiny_sdxl_folder, torch_dtype=torch.float32))
    asked = {"prediction_type": "v_prediction", "zero_terminal_snr": True}
    pipeline.scheduler = scheduler_of(pipeline, **asked)
    theirs = pipeline(
        PROMPT,
        height=SIDE,
        width=SIDE,
        num_inference_steps=5,
        guidance_scale=5.0,
        guidance_rescale=0.7,
        generator=generator(),
    ).images[0]
    sampling = Sampling(steps=5, **asked)
    stage = Stage(model=ModelRef(id=str(tiny_sdxl_folder)), width=SIDE, height=SIDE, sampling=sampling)
    same(theirs, ours(tiny_sdxl_folder, tmp_path, cascade=Cascade(stages=(stage,))))


def test_sdxl_base_and_refiner_split_at_four_fifths(base, tiny_sdxl_folder, tiny_refiner_folder, tmp_path):
    from diffusers import StableDiffusionXLImg2ImgPipeline

    refiner = aligned(StableDiffusionXLImg2ImgPipeline.from_pretrained(tiny_refiner_folder, torch_dtype=torch.float32))
    drawn = generator()
    latents = base(
        PROMPT,
        height=SIDE,
        width=SIDE,
        num_inference_steps=10,
        guidance_scale=5.0,
        denoising_end=0.8,
        output_type="latent",
        generator=drawn,
    ).images
    theirs = refiner(
        PROMPT, image=latents, num_inference_steps=10, guidance_scale=5.0, denoising_start=0.8, generator=drawn
    ).images[0]
    cascade = Cascade(
        stages=(
            Stage(
                model=ModelRef(id=str(tiny_sdxl_folder)),
                width=SIDE,
                height=SIDE,
                until=0.8,
                sampling=Sampling(steps=10),
            ),
            Stage(model=ModelRef(id=str(tiny_refiner_folder)), sampling=Sampling(guidance_scale=5.0)),
        ),
        transitions=(Transition(),),
    )
    same(theirs, ours(tiny_sdxl_folder, tmp_path, cascade=cascade))


@pytest.mark.slow
def test_sdxl_image_to_image(tiny_sdxl_folder, tmp_path):
    from diffusers import StableDiffusionXLImg2ImgPipeline

    rng = np.random.default_rng(0)
    init = Image.fromarray(rng.integers(0, 255, (SIDE, SIDE, 3), dtype=np.uint8))
    init.save(tmp_path / "init.png")
    pipeline = aligned(StableDiffusionXLImg2ImgPipeline.from_pretrained(tiny_sdxl_folder, torch_dtype=torch.float32))
    theirs = pipeline(
        PROMPT, image=init, strength=0.6, num_inference_steps=10, guidance_scale=5.0, generator=generator()
    ).images[0]
    mine = ours(
        tiny_sdxl_folder, tmp_path, steps=10, images=(ImageInput(path=str(tmp_path / "init.png")),), strength=0.6
    )
    same(theirs, mine)


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("variant", ["sigma", "alpha", "alpha told sizes"])
def test_pixart(variant, tmp_path):
    import diffusers

    folder = write_tiny_pixart(tmp_path / "model", sigma=variant == "sigma", told_sizes="told" in variant)
    pipeline_class = diffusers.PixArtSigmaPipeline if variant == "sigma" else diffusers.PixArtAlphaPipeline
    theirs = aligned(pipeline_class.from_pretrained(folder, torch_dtype=torch.float32))(
        PROMPT,
        negative_prompt=NEGATIVE,
        height=SIDE,
        width=SIDE,
        num_inference_steps=5,
        guidance_scale=4.5,
        use_resolution_binning=False,
        clean_caption=False,
        generator=generator(),
    ).images[0]
    same(theirs, ours(folder, tmp_path, negative_prompt=NEGATIVE))


@pytest.mark.slow_after(1)
def test_single_file_sdxl(tiny_sdxl_folder, tiny_single_file, tmp_path):
    from diffusers import StableDiffusionXLPipeline

    pipeline = aligned(
        StableDiffusionXLPipeline.from_single_file(
            str(tiny_single_file), config=str(tiny_sdxl_folder), local_files_only=True, torch_dtype=torch.float32
        )
    )
    theirs = pipeline(
        PROMPT, height=SIDE, width=SIDE, num_inference_steps=5, guidance_scale=5.0, generator=generator()
    ).images[0]
    same(theirs, ours(tiny_single_file, tmp_path))
