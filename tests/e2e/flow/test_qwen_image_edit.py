"""Qwen-Image-Edit-Plus: the family's conditioning and velocity, step by step, beside diffusers' pipeline."""

from dataclasses import replace

import pytest
import torch
from flow_parity import NEGATIVE, PROMPT, SEED
from PIL import Image
from tiny_qwen_image import scheduler, tiny_edit_pipeline

from mezzotint.families.family import LoadedModel, PromptInputs
from mezzotint.families.flow.packing import packed
from mezzotint.families.qwen_image import edit
from mezzotint.families.qwen_image.edit import QwenImageEdit
from mezzotint.families.samplers import FlowSteps, set_steps
from mezzotint.protocol import Sampling

SIDE, STEPS, SCALE = 64, 3, 4.0


@pytest.fixture
def images(monkeypatch):
    """Two, of which few pixels are seen and kept."""
    from diffusers.pipelines.qwenimage import pipeline_qwenimage_edit_plus as theirs

    for module, names in ((theirs, ("CONDITION_IMAGE_SIZE", "VAE_IMAGE_SIZE")), (edit, ("SEEN_AREA", "KEPT_AREA"))):
        for name, side in zip(names, (64, 96), strict=True):
            monkeypatch.setattr(module, name, side * side)
    wide = Image.linear_gradient("L").resize((120, 60)).convert("RGB")
    return [Image.radial_gradient("L").resize((80, 80)).convert("RGB"), wide]


@pytest.mark.parametrize("zero_cond_t", [False, True], ids=["2509", "2511"])
def test_latents_are_those_of_the_pipeline(images, zero_cond_t):
    pipeline = tiny_edit_pipeline(zero_cond_t=zero_cond_t)
    generator = torch.Generator().manual_seed(SEED)
    expected = pipeline(
        images, PROMPT, negative_prompt=NEGATIVE, true_cfg_scale=SCALE, height=SIDE, width=SIDE,
        num_inference_steps=STEPS, generator=generator, output_type="latent",
    ).images  # fmt: skip
    model = model_of(pipeline)
    conditioning = conditioned(model, images)
    sample = torch.randn(1, 16, SIDE // 8, SIDE // 8, generator=torch.Generator().manual_seed(SEED))
    steps = laid_out()
    for timestep in steps.timesteps:
        with torch.no_grad():
            velocity = QwenImageEdit().predict(model, sample, timestep, conditioning)
        sample = steps.step(velocity, timestep, sample, return_dict=False)[0]
    assert packed(sample).equal(expected)


def laid_out():
    """A scheduler with the family's steps for the image's tokens."""
    made = scheduler()
    sigmas = tuple(torch.linspace(1, 1 / STEPS, STEPS, dtype=torch.float64).tolist())
    mu = QwenImageEdit().mu(made.config, (SIDE // 16) ** 2, STEPS)
    set_steps(made, STEPS, flow=FlowSteps(sigmas=sigmas, mu=mu))
    return made


def conditioned(model, images):
    inputs = PromptInputs(
        prompt=PROMPT,
        negative_prompt=NEGATIVE,
        width=SIDE,
        height=SIDE,
        guidance_scale=SCALE,
        clip_skip=0,
        embeddings=(),
    )
    found = QwenImageEdit().encode_beside(model, inputs, images)
    return replace(found, sampling=Sampling(guidance_scale=SCALE))


def model_of(pipeline):
    """The pipeline's networks as the family gets them; of the encoder no next word is wanted."""
    return LoadedModel(
        sources=None,
        device=torch.device("cpu"),
        dtype=torch.float32,
        passes="sequential",
        networks={
            "transformer": pipeline.transformer,
            "vae": pipeline.vae,
            "text_encoder": pipeline.text_encoder.model,
        },
        tokenizers={"tokenizer": pipeline.tokenizer, "processor": pipeline.processor.image_processor},
    )
