"""Stable Diffusion 1.5: bit for bit what the diffusers pipelines make, from a folder and from one file."""

import shutil
from functools import partial

import numpy as np
import pytest
import torch
from flow_parity import NEGATIVE, PROMPT, SIDE, generator, ours, pipeline, same
from PIL import Image
from safetensors.torch import load_file, save_file
from tiny_sd15 import WIDTH, name_safety_checker, write_sd15_file, write_tiny_sd15

pytestmark = pytest.mark.usefixtures("every_device")

STEPS, GUIDANCE = 4, 7.5


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_tiny_sd15(tmp_path_factory.mktemp("sd15") / "tiny-sd15")


@pytest.fixture(scope="module")
def file(folder):
    return write_sd15_file(folder, folder.parent / "tiny-sd15.safetensors")


@pytest.fixture(scope="module")
def theirs(folder):
    asked = {"num_inference_steps": STEPS, "guidance_scale": GUIDANCE, "height": SIDE, "width": SIDE}
    return partial(pipeline("StableDiffusionPipeline", folder), PROMPT, **asked)


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("negative", [NEGATIVE, ""])
def test_words_alone(theirs, folder, file, tmp_path, negative):
    made = theirs(negative_prompt=negative or None, generator=generator()).images[0]
    mine = ours(folder, tmp_path, steps=STEPS, negative_prompt=negative)
    same(made, mine)
    np.testing.assert_array_equal(mine, ours(file, tmp_path, steps=STEPS, negative_prompt=negative))


@pytest.mark.parametrize("every_device", ["cpu"], indirect=True)
def test_without_guidance(theirs, folder, tmp_path):
    made = theirs(guidance_scale=1.0, generator=generator()).images[0]
    same(made, ours(folder, tmp_path, steps=STEPS, guidance_scale=1.0))


@pytest.mark.slow
def test_of_an_image(folder, tmp_path, every_device):
    Image.linear_gradient("L").resize((SIDE, SIDE)).convert("RGB").save(tmp_path / "init.png")
    made = pipeline("StableDiffusionImg2ImgPipeline", folder)(
        PROMPT,
        image=Image.open(tmp_path / "init.png"),
        strength=0.5,
        num_inference_steps=6,
        guidance_scale=GUIDANCE,
        generator=generator(),
    )
    mine = ours(folder, tmp_path, init=tmp_path / "init.png", strength=0.5, steps=6)
    # A group norm on a card gives up channels last, which an encoded image has, and rounds in another order.
    same(made.images[0], mine, apart=every_device != "cpu")


@pytest.mark.slow
@pytest.mark.parametrize("every_device", ["cpu"], indirect=True)
@pytest.mark.parametrize("clip_skip", [1, 2])
def test_clip_skip(theirs, folder, tmp_path, clip_skip):
    """Theirs looks for the norm where transformers has none today, and skips nothing of the negative prompt."""
    used = theirs.func
    encoder, rows = used.text_encoder, []
    for words in (PROMPT, NEGATIVE):
        ids = used.tokenizer(words, padding="max_length", max_length=77, return_tensors="pt").input_ids
        with torch.no_grad():
            hidden = encoder(ids, output_hidden_states=True).hidden_states[-1 - clip_skip]
            rows.append(encoder.final_layer_norm(hidden))
    made = used(prompt_embeds=rows[0], negative_prompt_embeds=rows[1], generator=generator(), **theirs.keywords)
    mine = ours(folder, tmp_path, steps=STEPS, negative_prompt=NEGATIVE, clip_skip=clip_skip)
    same(made.images[0], mine)


@pytest.mark.slow
@pytest.mark.parametrize("every_device", ["cpu"], indirect=True)
def test_learned_words(folder, tmp_path):
    path = tmp_path / "glowcat.safetensors"
    save_file({"emb_params": torch.randn(2, WIDTH, generator=generator())}, path)
    used = pipeline("StableDiffusionPipeline", folder)
    used.load_textual_inversion(load_file(path)["emb_params"], token="glowcat")
    words = "a glowcat by the sea"
    made = used(words, height=SIDE, width=SIDE, num_inference_steps=2, guidance_scale=GUIDANCE, generator=generator())
    mine = ours(folder, tmp_path, steps=2, prompt=words, embeddings=(str(path),))
    same(made.images[0], mine)
    assert not np.array_equal(mine, ours(folder, tmp_path, steps=2, prompt=words))


@pytest.mark.slow
@pytest.mark.parametrize("every_device", ["cpu"], indirect=True)
def test_a_network_that_was_distilled_from_guidance(tmp_path):
    from diffusers import LCMScheduler, StableDiffusionPipeline

    folder = write_tiny_sd15(tmp_path / "plain", time_cond_proj_dim=32)
    found = StableDiffusionPipeline.from_pretrained(folder)
    found.scheduler = LCMScheduler.from_config(found.scheduler.config)
    found.save_pretrained(tmp_path / "LCM")
    made = pipeline("StableDiffusionPipeline", tmp_path / "LCM")(
        PROMPT, height=SIDE, width=SIDE, num_inference_steps=4, guidance_scale=8.0, generator=generator()
    )
    same(made.images[0], ours(tmp_path / "LCM", tmp_path))


@pytest.mark.parametrize("every_device", ["cpu"], indirect=True)
def test_a_safety_checker_is_not_opened(folder, tmp_path):
    named = shutil.copytree(folder, tmp_path / "named")
    name_safety_checker(named)
    np.testing.assert_array_equal(ours(named, tmp_path, steps=1), ours(folder, tmp_path, steps=1))
