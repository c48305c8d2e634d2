"""Images that a network is shown: bit for bit what the pipelines of diffusers make beside them."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from flow_parity import NEGATIVE, PROMPT, SIDE, generator, ours, pipeline, same
from PIL import Image
from tiny_flux1 import write_tiny_flux
from tiny_flux2 import write_tiny_klein

from mezzotint.checkpoints.folder import open_folder
from mezzotint.families.autoencoder import decode_latents
from mezzotint.families.detection import detect
from mezzotint.families.family import LoadedModel, PromptInputs
from mezzotint.families.flow.references import references_of, with_references
from mezzotint.families.known import family_of
from mezzotint.families.loading.networks import load_components
from mezzotint.families.samplers import build_scheduler, resolve_scheduler, set_steps
from mezzotint.protocol import Sampling
from mezzotint.stages.images.decode import to_latents

STEPS = 3
CPU = torch.device("cpu")


def picture(width, height, seed):
    noise = np.random.default_rng(seed).integers(0, 255, (height // 8, width // 8, 3), dtype=np.uint8)
    return Image.fromarray(noise).resize((width, height), Image.Resampling.BICUBIC)


def loaded(folder):
    checkpoint = open_folder(folder)
    detected = detect(checkpoint)
    sources = family_of(detected.family).sources(checkpoint, detected)
    model = LoadedModel(sources=sources, device=CPU, dtype=torch.float32, passes="sequential")
    load_components(model, sources.components, on_bytes=lambda *_: None, cancelled=lambda: False)
    return model


def conditioning_of(model, images, guidance):
    """What a stage would do: words, then the likeliest latents of what is shown."""
    family = family_of(model.sources.family)
    asked = PromptInputs(
        prompt=PROMPT,
        negative_prompt=NEGATIVE,
        width=SIDE,
        height=SIDE,
        guidance_scale=guidance,
        clip_skip=0,
        embeddings=(),
    )
    conditioning = replace(family.encode(model, asked), sampling=Sampling(guidance_scale=guidance))
    return with_references(conditioning, [to_latents(model, image, None) for image in images])


def made(model, conditioning):
    """Pixels `(1, 3, h, w)` in 0..1, by the family and the checkpoint's sampler."""
    family, sources = family_of(model.sources.family), model.sources
    flow = family.flow_steps(sources, SIDE, SIDE, STEPS)
    own = {"sampler": None, "schedule": None, "prediction_type": None, "zero_terminal_snr": None}
    scheduler = build_scheduler(resolve_scheduler(sources.scheduler, flow=flow, **own))
    set_steps(scheduler, STEPS, flow=flow)
    side = SIDE // sources.vae_factor
    latents = torch.randn(1, sources.latent_channels, side, side, generator=generator())
    for timestep in scheduler.timesteps:
        velocity = family.predict(model, latents, timestep, conditioning)
        latents = scheduler.step(velocity, timestep, latents, return_dict=False)[0]
    return (decode_latents(model.networks["vae"], latents) * 0.5 + 0.5).clamp(0, 1)


@pytest.fixture(scope="module")
def klein(tmp_path_factory):
    return write_tiny_klein(tmp_path_factory.mktemp("klein") / "model", distilled=False)


@pytest.fixture(scope="module")
def kontext(tmp_path_factory):
    return write_tiny_flux(tmp_path_factory.mktemp("kontext") / "model", variant="kontext")


@torch.no_grad()
@pytest.mark.parametrize("guidance", [1.0, 4.0])
@pytest.mark.parametrize("sizes", [[(64, 64)], [(64, 96), (80, 64)]])
def test_klein_is_shown_one_image_or_several(klein, sizes, guidance):
    images = [picture(width, height, seed) for seed, (width, height) in enumerate(sizes)]
    theirs = pipeline("Flux2KleinPipeline", klein)
    expected = theirs(
        image=images,
        prompt=PROMPT,
        negative_prompt_embeds=theirs.encode_prompt(NEGATIVE)[0],
        height=SIDE,
        width=SIDE,
        num_inference_steps=STEPS,
        guidance_scale=guidance,
        generator=generator(),
        output_type="pt",
    )
    model = loaded(klein)
    shown = conditioning_of(model, images, guidance)
    assert [len(each) for each in references_of(shown)] == [2 if guidance > 1 else 1] * len(images)
    mine = made(model, shown)
    assert torch.equal(mine, expected.images)
    assert not torch.equal(mine, made(model, conditioning_of(model, [], guidance)))


@torch.no_grad()
def test_kontext_is_shown_an_image(kontext):
    image = picture(96, 64, 0)
    expected = pipeline("FluxKontextPipeline", kontext)(
        image=image,
        prompt=PROMPT,
        height=SIDE,
        width=SIDE,
        num_inference_steps=STEPS,
        guidance_scale=2.5,
        generator=generator(),
        output_type="pt",
        max_area=SIDE * SIDE,
        _auto_resize=False,
    )
    model = loaded(kontext)
    mine = made(model, conditioning_of(model, [image], 2.5))
    assert torch.equal(mine, expected.images)
    assert not torch.equal(mine, made(model, conditioning_of(model, [], 2.5)))


def test_kontext_without_an_image(kontext, tmp_path):
    expected = pipeline("FluxKontextPipeline", kontext)(
        prompt=PROMPT,
        height=SIDE,
        width=SIDE,
        num_inference_steps=STEPS,
        guidance_scale=2.5,
        generator=generator(),
        max_area=SIDE * SIDE,
    )
    same(expected.images[0], ours(kontext, tmp_path, steps=STEPS))


@torch.no_grad()
def test_images_that_were_shown_others_are_made_together_as_alone(klein):
    model = loaded(klein)
    family = family_of(model.sources.family)
    alone = [conditioning_of(model, [picture(64, 64, seed)], 4.0) for seed in (1, 2)]
    latents = torch.randn(2, model.sources.latent_channels, 4, 4, generator=generator())
    together = family.predict(model, latents, torch.tensor(500.0), family.join(alone))
    for row in (0, 1):
        single = family.predict(model, latents[row : row + 1], torch.tensor(500.0), alone[row])
        torch.testing.assert_close(together[row : row + 1], single, rtol=0, atol=1e-4)
